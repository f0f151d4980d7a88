package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"world/broker/law"
	"world/canon"
	"world/coordinator"
	"world/coordinator/capsule/starlark"
	"world/coordinator/plan"
	"world/coordinator/registry"
	"world/store"
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
		{"ailang-read", `{"path":"a","offset":0,"limit":20}`, WorkspaceRead, `{"flags":{"limit":"20","offset":"0"},"op":"read","path":"a"}`},
		{"ailang-write", `{"path":"a","content":""}`, WorkspaceWrite, `{"content":"","op":"write","path":"a"}`},
		{"ailang-write", `{"path":"a","content":"<\"&\n\u0000😀"}`, WorkspaceWrite, `{"content":"<\"&\n\u0000😀","op":"write","path":"a"}`},
		{"ailang-edit", `{"path":"a..b","old_text":"x","new_text":""}`, WorkspaceWrite, `{"new_text":"","old_text":"x","op":"edit","path":"a..b"}`},
		{"ailang-check", `{"path":"a.py"}`, AilangCheck, `{"op":"ai_check","path":"a.py"}`},
		{"workspace-list", `{}`, WorkspaceRead, `{"op":"list","path":"."}`},
		{"workspace-list", `{"path":"src/","glob":"*.py","limit":3}`, WorkspaceRead, `{"flags":{"glob":"*.py","limit":"3"},"op":"list","path":"src/"}`},
		{"workspace-search", `{"query":"x"}`, WorkspaceRead, `{"op":"search","path":".","query":"x"}`},
		{"workspace-search", `{"query":"x","path":"src","glob":"*.py","literal":true,"ignore_case":false,"limit":9}`, WorkspaceRead,
			`{"flags":{"glob":"*.py","limit":"9","literal":"true"},"op":"search","path":"src","query":"x"}`},
		{"workspace-search", `{"query":"x","ignore_case":true}`, WorkspaceRead, `{"flags":{"ignore-case":"true"},"op":"search","path":".","query":"x"}`},
		{"builtins-search", `{}`, AilangDiscover, `{"op":"builtins_list"}`},
		{"builtins-search", `{"query":"x"}`, AilangDiscover, `{"op":"builtins_list"}`},
		{"builtins-search", `{"query":"x","module":"json"}`, AilangDiscover, `{"flags":{"module":"json"},"op":"builtins_list"}`},
		{"examples-search", `{"query":"read json"}`, AilangDiscover, `{"op":"examples_search","query":"read json"}`},
		{"examples-search", `{"query":" --read\n\tjson "}`, AilangDiscover, `{"op":"examples_search","query":"read json"}`},
		{"ailang-cli", `{"op":"prompt"}`, AilangCLI, `{"op":"prompt"}`},
		{"ailang-cli", `{"op":"fmt","path":"a","flags":{"check":"true","b":""}}`, AilangCLI, `{"flags":{"b":"","check":"true"},"op":"fmt","path":"a"}`},
		{"ailang-run", `{"path":"a.py"}`, AilangRun, `{"path":"a.py"}`},
		{"ailang-run", `{"path":"a.py","stdin":"in","argv":["b","a"],"args_json":"null","caps":["IO","FS"]}`, AilangRun,
			`{"args_json":"null","argv":["b","a"],"caps":["FS","IO"],"path":"a.py","stdin":"in"}`},
		{"ailang-run", `{"path":"a.py","caps":[]}`, AilangRun, `{"caps":[],"path":"a.py"}`},
		{"ailang-run", `{"path":"a.py","caps":["IO","Env"]}`, AilangRunEnv, `{"caps":["Env","IO"],"path":"a.py"}`},
		{"ailang-run", `{"path":"a.py","caps":["Net"]}`, AilangRunNet, `{"caps":["Net"],"path":"a.py"}`},
	}
	for _, test := range tests {
		p := planned(t, test.id, phase(test.args))
		if finishes := test.id == "ailang-check" || test.id == "builtins-search"; len(p.Effects) != 1 || p.Finish != finishes || p.Result.Kind() != canon.Null {
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
		{"ailang-read", phase(`{"path":"a","mode":"x"}`), `unknown argument "mode"; ailang-read admits only: limit, offset, path`},
		{"ailang-read", phase(`{"path":"a","offset":-1}`), `argument "offset" must be a whole number of 0 or more`},
		{"ailang-read", phase(`{"path":"a","limit":"3"}`), `argument "limit" must be a whole number of 0 or more`},
		{"ailang-read", phase(`{"path":"a","limit":1.5}`), `argument "limit" must be a whole number of 0 or more`},
		{"workspace-list", phase(`{"path":""}`), path("")},
		{"workspace-search", phase(`{}`), `missing required argument "query"`},
		{"workspace-search", phase(`{"query":"x","literal":"true"}`), `argument "literal" must be true or false`},
		{"builtins-search", phase(`{"query":["x"]}`), `argument "query" must be a string`},
		{"builtins-search", phase(`{"path":"x"}`), `unknown argument "path"; builtins-search admits only: module, query`},
		{"examples-search", phase(`{"query":" -- "}`), `argument "query" names nothing to search for`},
		{"ailang-check", phase(`{"path":"../a"}`), path("../a")},
		{"ailang-cli", phase(`{"op":"run"}`), `op "run" is not an ailang-cli op; reads, writes and edits have their own tools, and run is ailang-run`},
		{"ailang-cli", phase(`{"op":"read","path":"a"}`), `op "read" is not an ailang-cli op; reads, writes and edits have their own tools, and run is ailang-run`},
		{"ailang-cli", phase(`{"op":"fmt","path":"a","flags":{"write":""}}`), `op "fmt" flag "write" writes the worktree; ailang-cli never writes (format with flag "check", then edit)`},
		{"ailang-cli", phase(`{"op":"check","flags":{"json":true}}`), `argument "flags" must be an object of string values`},
		{"ailang-cli", phase(`{"op":"check","flags":["json"]}`), `argument "flags" must be an object of string values`},
		{"ailang-run", phase(`{"path":"a","stdin":"` + strings.Repeat("x", 65537) + `"}`), `argument "stdin" is 65537 bytes; the limit is 65536`},
		{"ailang-run", phase(`{"path":"a","argv":[` + strings.Repeat(`"",`, 32) + `""]}`), `argument "argv" has 33 items; the limit is 32`},
		{"ailang-run", phase(`{"path":"a","argv":["","` + strings.Repeat("x", 1025) + `"]}`), `an argv item is 1025 bytes; the limit is 1024`},
		{"ailang-run", phase(`{"path":"a","argv":["a\u0000"]}`), `an argv item contains a NUL byte`},
		{"ailang-run", phase(`{"path":"a","argv":[1]}`), `argument "argv" must be a list of strings`},
		{"ailang-run", phase(`{"path":"a","caps":["IO","Root"]}`), `unknown capability "Root"; caps admits only: Declassify, Env, FS, IO, Net`},
		{"ailang-run", phase(`{"path":"a","caps":["IO","IO"]}`), `capability "IO" is listed twice`},
		{"ailang-run", phase(`{"path":"a","caps":["Net","Env"]}`), `caps names both Env and Net; one run takes at most one of them`},
		{"ailang-run", phase(`{"path":"a","args_json":"{"}`), `argument "args_json" must be a string holding JSON`},
		{"ailang-run", phase(`{"path":"a","args_json":1}`), `argument "args_json" must be a string holding JSON`},
		{"ailang-run", phase(`{"path":"-a"}`), path("-a")},
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
		"ailang-read":  {"What is read: at most 4000000 bytes as JSON text", "Binary files and a .git cannot be read"},
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
	if err != nil || len(sources) != len(Builtins()) || len(sources) != 10 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for _, d := range revision.Entries {
		declared := 1
		if d.ID == "ailang-run" {
			declared = 3
		}
		if len(d.DeclaredEffects) != declared || d.Access.Cost != 0 || d.Access.Scope != Worktree || d.Access.Effect != d.DeclaredEffects[0].Effect {
			t.Errorf("%s: access %+v, declared %+v", d.ID, d.Access, d.DeclaredEffects)
		}
		for _, triple := range d.DeclaredEffects {
			if triple.Scope != Worktree || triple.Cost != 1 || !slices.Contains((&Handler{}).Effects(), triple.Effect) {
				t.Errorf("%s declares %+v", d.ID, triple)
			}
		}
		if !strings.Contains(string(d.OutputSchema), `"required":["world"]`) || d.Title == "" || len(d.Description) < 40 {
			t.Errorf("%s: %s %q %q", d.ID, d.OutputSchema, d.Title, d.Description)
		}
	}
}

// TestSchemasAndSourcesAgree on which arguments there are, of what kind, and which
// are required.
func TestSchemasAndSourcesAgree(t *testing.T) {
	values := map[string]string{"string": `"null"`, "integer": `1`, "boolean": `true`, "array": `["IO"]`, "object": `{"json":"true"}`}
	for _, b := range Builtins() {
		var input struct {
			Type                 string
			Properties           map[string]struct{ Type, Description string }
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(b.InputSchema, &input); err != nil {
			t.Fatal(err)
		}
		if input.Type != "object" || input.AdditionalProperties == nil || *input.AdditionalProperties {
			t.Errorf("%s: input schema %s", b.ID, b.InputSchema)
		}
		args := func(without string, wrong string) string {
			members := map[string]json.RawMessage{}
			for name, p := range input.Properties {
				value := values[p.Type]
				if name == "op" {
					value = `"prompt"`
				}
				if name == wrong {
					value = `null`
				}
				if name != without {
					members[name] = json.RawMessage(value)
				}
			}
			raw, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			return phase(string(raw))
		}
		if p := planned(t, b.ID, args("", "")); len(p.Effects) != 1 {
			t.Errorf("%s: with every argument: %s", b.ID, p.Bytes)
		}
		for name, p := range input.Properties {
			if p.Description == "" || values[p.Type] == "" {
				t.Errorf("%s: property %s is not described", b.ID, name)
			}
			required := slices.Contains(input.Required, name)
			if p := planned(t, b.ID, args(name, "")); (len(p.Effects) == 1) == required {
				t.Errorf("%s without %s: %s", b.ID, name, p.Bytes)
			}
			if p := planned(t, b.ID, args("", name)); len(p.Effects) != 0 {
				t.Errorf("%s with a wrong %s: %s", b.ID, name, p.Bytes)
			}
		}
	}
}

func FuzzPlan(f *testing.F) {
	for _, args := range []string{`{"path":"a"}`, `{"path":"../a"}`, `{"path":["a"]}`, `[]`, `{"path":"a","content":"b"}`,
		`{"op":"check","flags":{"a":"b"}}`, `{"path":"a.py","caps":["Net"],"argv":["x"],"stdin":"","args_json":"1"}`, `{"query":"x","limit":3,"literal":true}`} {
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
				h := &Handler{allow: operatorCaps}
				_, problem := h.admit(e.Triple.Effect, e.Payload)
				if served[e.Triple.Effect].runs {
					_, problem = h.admitRun(e.Triple.Effect, e.Payload)
				}
				if problem != "" && b.ID != "ailang-cli" { // world-tool has fewer commands than the contract
					t.Fatalf("%s planned what the handler refuses: %s", b.ID, problem)
				}
			}
		}
	})
}
