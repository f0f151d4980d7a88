package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"world/broker/law"
	"world/canon"
	"world/coordinator"
	"world/coordinator/capsule/starlark"
	"world/coordinator/plan"
	"world/coordinator/registry"
	"world/store"
	"world/store/record"
	"world/tools/policy"
)

func builtin(t testing.TB, id store.TransitionID) registry.Builtin {
	t.Helper()
	for _, b := range Builtins() {
		if b.ID == id {
			return b
		}
	}
	t.Fatalf("no transition %s", id)
	return registry.Builtin{}
}

// planned runs a transition's plan phase and holds its answer to the plan laws.
func planned(t testing.TB, id store.TransitionID, input string) plan.Plan {
	t.Helper()
	b := builtin(t, id)
	answer, err := starlark.Eval(b.Source, input, starlark.MaxSteps)
	if err != nil {
		t.Fatalf("%s %s: %v", id, input, err)
	}
	var declared []law.Triple
	for _, d := range b.Declared {
		declared = append(declared, d.Law())
	}
	p, err := plan.Parse([]byte(answer), declared)
	if err != nil {
		t.Fatalf("%s %s: %v", id, input, err)
	}
	return p
}

func phase(args string) string { return `{"phase":"plan","args":` + args + `}` }

func TestPlans(t *testing.T) {
	tests := []struct {
		id      store.TransitionID
		args    string
		effect  law.Effect
		payload string
	}{
		{"ailang-read", `{"path":"src/ü.txt"}`, WorkspaceRead, `{"op":"read","path":"src/ü.txt"}`},
		{"ailang-write", `{"path":"a","content":""}`, WorkspaceWrite, `{"content":"","op":"write","path":"a"}`},
		{"ailang-write", `{"path":"a","content":"<\"&\n\u0000😀"}`, WorkspaceWrite, `{"content":"<\"&\n\u0000😀","op":"write","path":"a"}`},
		{"ailang-edit", `{"path":"a..b","old_text":"x","new_text":""}`, WorkspaceWrite, `{"new_text":"","old_text":"x","op":"edit","path":"a..b"}`},
	}
	for _, test := range tests {
		p := planned(t, test.id, phase(test.args))
		if len(p.Effects) != 1 || p.Finish || p.Result.Kind() != canon.Null {
			t.Errorf("%s %s: %s", test.id, test.args, p.Bytes)
			continue
		}
		e := p.Effects[0]
		if e.Triple != (law.Triple{Effect: test.effect, Scope: Worktree, Cost: 1}) || string(e.Payload) != test.payload || e.ID != "e1" {
			t.Errorf("%s: %+v %s", test.id, e, e.Payload)
		}
	}
}

// TestRefusalTexts holds the exact texts of reference/world.md §7.2.
func TestRefusalTexts(t *testing.T) {
	path := func(p string) string {
		return `path "` + p + `" refused: it must be relative and non-empty, with no ".." segment and no leading "-"`
	}
	tests := []struct {
		id          store.TransitionID
		input, want string
	}{
		{"ailang-read", phase(`{"path":"a","mode":"x"}`), `unknown argument "mode"; ailang-read admits only: path`},
		{"ailang-write", phase(`{"x":1}`), `unknown argument "x"; ailang-write admits only: content, path`},
		{"ailang-edit", phase(`{"Path":"a"}`), `unknown argument "Path"; ailang-edit admits only: new_text, old_text, path`},
		{"ailang-read", phase(`{}`), `missing required argument "path"`},
		{"ailang-write", phase(`{"path":"a"}`), `missing required argument "content"`},
		{"ailang-edit", phase(`{"path":"a","new_text":"b"}`), `missing required argument "old_text"`},
		{"ailang-read", phase(`{"path":1}`), `argument "path" must be a string`},
		{"ailang-read", phase(`{"path":null}`), `argument "path" must be a string`},
		{"ailang-write", phase(`{"path":"a","content":["x"]}`), `argument "content" must be a string`},
		{"ailang-read", phase(`[]`), "arguments must be a JSON object"},
		{"ailang-read", phase(`null`), "arguments must be a JSON object"},
		{"ailang-read", `{"phase":"plan"}`, "the input carries no args"},
		{"ailang-read", `{"phase":"plan","args":{},"extra":1}`, `input key "extra" is not part of calling convention v2`},
		{"ailang-read", `{"phase":"other","args":{}}`, `phase must be "plan" or "finish"`},
		{"ailang-read", `{"args":{}}`, `phase must be "plan" or "finish"`},
	}
	for _, p := range []string{"", "/etc/passwd", "-x", "..", "../x", "a/..", "a/../b", "../..", "/"} {
		tests = append(tests, struct {
			id          store.TransitionID
			input, want string
		}{"ailang-read", phase(`{"path":` + string(canon.NewString(p).Bytes()) + `}`), path(p)})
	}
	for _, test := range tests {
		p := planned(t, test.id, test.input)
		refused, _ := p.Result.Get("refused")
		text, _ := refused.Text()
		ok, _ := p.Result.Get("ok")
		if value, isBool := ok.Bool(); len(p.Effects) != 0 || text != test.want || value || !isBool {
			t.Errorf("%s %s: %s", test.id, test.input, p.Bytes)
		}
	}
	for _, p := range []string{"x/", "a/b//", "./"} {
		tests = append(tests, struct {
			id          store.TransitionID
			input, want string
		}{"ailang-read", phase(`{"path":"` + p + `"}`), `path "` + p + `" refused: it must name a file, with no "/" at its end`})
	}
	for _, p := range []string{"..a", "a..", "a/..b", "a/b..", ".hidden", "a-b", "a/-b", "...", "."} {
		if got := planned(t, "ailang-read", phase(`{"path":"`+p+`"}`)); len(got.Effects) != 1 {
			t.Errorf("path %q is refused: %s", p, got.Bytes)
		}
	}
}

// TestLimitsHold: what a description admits is planned whatever its characters,
// within the plan laws' 1 MiB; one byte more is refused by the plan, so unspent.
func TestLimitsHold(t *testing.T) {
	longest := strings.Repeat("\x01", maxPath)
	for unit, size := range map[string]int{"a": 1, "<": 1, "\n": 2, `"`: 2, "\\": 2, "\x01": 6, "\x00": 6, "\u2028": 3, "ü": 2, "😀": 4} {
		fits := strings.Repeat(unit, maxText/size) + strings.Repeat("b", maxText%size)
		write := func(path, content string) plan.Plan {
			args := object("path", path, "content", content)
			if len(args) > coordinator.MaxInput {
				t.Errorf("%q: admission refuses arguments that the description admits: %d bytes", unit, len(args))
			}
			return planned(t, "ailang-write", phase(args))
		}
		edit := func(more string) plan.Plan {
			half := len(fits) / len(unit) / 2 * len(unit)
			return planned(t, "ailang-edit", phase(object("path", longest, "old_text", fits[:half], "new_text", fits[half:]+more)))
		}
		for name, p := range map[string]plan.Plan{"write": write(longest, fits), "edit": edit("")} {
			if len(p.Effects) != 1 || len(p.Effects[0].Payload) > plan.MaxPayload {
				t.Fatalf("%s %q: %.200s", name, unit, p.Bytes)
			}
			if content, ok := payloadText(t, p, "content"); ok && content != fits {
				t.Errorf("%s %q: the payload holds something else", name, unit)
			}
		}
		for want, p := range map[string]plan.Plan{
			`argument "content" is 1000001 bytes as JSON text; the limit is 1000000`:                  write("a", fits+"b"),
			`argument "old_text" with "new_text" is 1000001 bytes as JSON text; the limit is 1000000`: edit("b"),
			`argument "path" is 4097 bytes; the limit is 4096`:                                        write(longest+"b", ""),
		} {
			refused, _ := p.Result.Get("refused")
			if text, _ := refused.Text(); text != want || len(p.Effects) != 0 {
				t.Errorf("%q: %q, want %q", unit, text, want)
			}
		}
	}
}

// object is the canonical arguments object of these names and texts.
func object(pairs ...string) string {
	var members []canon.Member
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, canon.Member{Name: pairs[i], Value: canon.NewString(pairs[i+1])})
	}
	return string(canon.NewObject(members).Bytes())
}

func payloadText(t *testing.T, p plan.Plan, name string) (string, bool) {
	t.Helper()
	v, err := canon.Parse(p.Effects[0].Payload, canon.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return textOf(v, name)
}

// TestDescriptionsNameTheirLimits: the numbers and names that hold, and no others.
func TestDescriptionsNameTheirLimits(t *testing.T) {
	for id, wants := range map[store.TransitionID][]string{
		"ailang-read":  {"The file: at most 4000000 bytes as JSON text", "A .git cannot be read"},
		"ailang-write": {"The content: at most 1000000 bytes as JSON text"},
		"ailang-edit":  {"old_text and new_text together: at most 1000000 bytes as JSON text"},
	} {
		b := builtin(t, id)
		for _, want := range wants {
			if !strings.Contains(b.Description, want) {
				t.Errorf("%s does not say %q", id, want)
			}
		}
		if strings.Contains(b.Description+string(b.InputSchema), "1 MiB") || !strings.Contains(string(b.InputSchema), "at most 4096 bytes") {
			t.Errorf("%s: %s %s", id, b.Description, b.InputSchema)
		}
		if id == "ailang-read" {
			continue
		}
		_, list, _ := strings.Cut(b.Description, "Read-only, at any depth and in any case: ")
		list, _, _ = strings.Cut(list, "Answers")
		if want := ".git, .github, .pi, .claude, .ailang and all below them, and files named .gitmodules, .gitattributes. "; list != want {
			t.Errorf("%s protects %q", id, list)
		}
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
			if name = strings.TrimSuffix(name, "."); strings.HasPrefix(name, ".") && policy.For("/ws").Protection("sub/"+strings.ToUpper(name)) == "" {
				t.Errorf("%s claims to protect %s", id, name)
			}
		}
	}
}

func TestBuiltinsAreWellFormed(t *testing.T) {
	revision, sources, err := registry.First(Builtins(), store.RefOf([]byte("interpreter")))
	if err != nil || len(sources) != len(Builtins()) {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for _, d := range revision.Entries {
		if len(d.DeclaredEffects) != 1 || d.Access.Cost != 0 || d.DeclaredEffects[0].Cost != 1 ||
			d.Access.Effect != d.DeclaredEffects[0].Effect || d.Access.Scope != Worktree || d.DeclaredEffects[0].Scope != Worktree {
			t.Errorf("%s: access %+v, declared %+v", d.ID, d.Access, d.DeclaredEffects)
		}
		var input struct {
			Type                 string
			Properties           map[string]struct{ Type, Description string }
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(d.InputSchema, &input); err != nil {
			t.Fatal(err)
		}
		if input.Type != "object" || input.AdditionalProperties == nil || *input.AdditionalProperties || len(input.Required) != len(input.Properties) {
			t.Errorf("%s: input schema %s", d.ID, d.InputSchema)
		}
		for name, p := range input.Properties {
			if p.Type != "string" || p.Description == "" {
				t.Errorf("%s: property %s is not described", d.ID, name)
			}
			// The schema and the code agree on what is required.
			if p := planned(t, d.ID, phase(`{"path":"a"}`)); name != "path" && len(p.Effects) != 0 {
				t.Errorf("%s does not demand %s", d.ID, name)
			}
		}
		if !strings.Contains(string(d.OutputSchema), `"required":["world"]`) || d.Title == "" || len(d.Description) < 40 {
			t.Errorf("%s: %s %q %q", d.ID, d.OutputSchema, d.Title, d.Description)
		}
	}
	if r := (record.Triple{}); r == revision.Entries[0].Access {
		t.Error("access is empty")
	}
}

func FuzzPlan(f *testing.F) {
	for _, args := range []string{`{"path":"a"}`, `{"path":"../a"}`, `{"path":["a"]}`, `[]`, `{"path":"a","content":"b"}`} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		value, err := canon.Parse([]byte(args), canon.Limits{})
		if err != nil {
			return // the coordinator hands over nothing else
		}
		for _, b := range Builtins() {
			p := planned(t, b.ID, phase(string(value.Bytes())))
			for _, e := range p.Effects {
				if _, problem := admit(e.Triple.Effect, e.Payload); problem != "" {
					t.Fatalf("%s planned what the handler refuses: %s", b.ID, problem)
				}
			}
		}
	})
}
