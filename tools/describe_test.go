package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"world/broker"
	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/registry"
	"world/store"
	"world/tools/lang"
	"world/tools/policy"
)

// TestDescriptionsNameTheirLimits: the numbers and names that hold, and no others.
func TestDescriptionsNameTheirLimits(t *testing.T) {
	for id, wants := range map[store.TransitionID][]string{
		"ailang-read":  {"What is read: at most 4000000 bytes as JSON text", "Binary files and a .git cannot be read", "A file above 8 MiB is read in part alone, one above 256 MiB and a line above what is read by bytes alone"},
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

// TestAListTakesADirectory, and says so; a search takes either.
func TestAListTakesADirectory(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("a.txt", "x")
	if r := d.handle(WorkspaceRead, `{"op":"list","path":"a.txt"}`); member(r, "refused") != `"list a.txt: not a directory"` {
		t.Errorf("%s", r.Output)
	}
	if r := d.handle(WorkspaceRead, `{"op":"search","path":"a.txt","query":"x"}`); member(r, "ok") != "true" {
		t.Errorf("%s", r.Output)
	}
	for id, either := range map[store.TransitionID]bool{"workspace-list": false, "workspace-search": true} {
		if schema := string(builtin(t, id).InputSchema); strings.Contains(schema, "Directory or file") != either || !strings.Contains(schema, "Directory") {
			t.Errorf("%s: %s", id, schema)
		}
	}
}

// TestTheBoundsOfARunAreTold: each number that a run is held to, and each name of a
// bound, stands in the tool's description, and the numbers in the guide too.
func TestTheBoundsOfARunAreTold(t *testing.T) {
	p := policy.ForRun("/ws", nil, nil)
	l := (&Handler{jail: confinetest.Jail(t, confine.Namespaces)}).runSpec(broker.Job{}, "/ws", order{path: "a.py"}, p, nil)
	told := builtin(t, "ailang-run").Description
	for _, want := range []string{
		fmt.Sprintf("%g seconds (timeout", l.Limits.Wall.Seconds()), fmt.Sprintf("cpu_limit: %g of", l.Limits.CPU.Seconds()),
		fmt.Sprintf("%d MiB of private, writable memory", l.Limits.Memory>>20), fmt.Sprintf("%d MiB for all together", l.Limits.Together>>20), fmt.Sprintf("%d processes and threads", l.Limits.Processes),
		fmt.Sprintf("%d open files", l.Limits.Files), fmt.Sprintf("%d MiB of output", (l.Limits.Output-ownLines)>>20), fmt.Sprintf("%d KiB each of stdout", l.Limits.Keep>>10),
		fmt.Sprintf("%d MiB of changes", l.Overlay.Bytes>>20), fmt.Sprintf("in %d files", l.Overlay.Files), fmt.Sprintf("%d MiB of scratch", l.Limits.Scratch>>20),
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the description does not say %q: %s", want, told)
		}
	}
	for bound, name := range reasons {
		if bound != confine.Died && !strings.Contains(told, name) {
			t.Errorf("the description does not name %s", name)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("%g seconds", l.Limits.Wall.Seconds()), fmt.Sprintf("%d MiB of private, writable memory", l.Limits.Memory>>20), fmt.Sprintf("%d MiB for all together", l.Limits.Together>>20), fmt.Sprintf("%d MiB of output", (l.Limits.Output-ownLines)>>20),
		fmt.Sprintf("%d processes", l.Limits.Processes), fmt.Sprintf("%d open files", l.Limits.Files), fmt.Sprintf("%d MiB of the worktree in %d files", l.Overlay.Bytes>>20, l.Overlay.Files),
	} {
		if !strings.Contains(lang.Guide, want) {
			t.Errorf("the guide does not say %q", want)
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
		if !strings.Contains(string(d.OutputSchema), `"required":["world"`) || d.Title == "" || len(d.Description) < 40 {
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
