package tools

import (
	"strings"
	"testing"

	"world/broker/law"
	"world/canon"
	"world/coordinator"
	"world/coordinator/capsule/starlark"
	"world/coordinator/plan"
	"world/coordinator/registry"
	"world/store"
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
		{"ailang-read", `{"path":"a","bytes":true,"offset":9007199254740992}`, WorkspaceRead, `{"flags":{"bytes":"true","offset":"9007199254740992"},"op":"read","path":"a"}`},
		{"ailang-write", `{"path":"a","content":""}`, WorkspaceWrite, `{"content":"","op":"write","path":"a"}`},
		{"ailang-write", `{"path":"a","content":"<\"&\n\u0000😀"}`, WorkspaceWrite, `{"content":"<\"&\n\u0000😀","op":"write","path":"a"}`},
		{"ailang-edit", `{"path":"a..b","old_text":"x","new_text":""}`, WorkspaceWrite, `{"new_text":"","old_text":"x","op":"edit","path":"a..b"}`},
		{"ailang-check", `{"path":"a.py"}`, AilangCheck, `{"op":"ai_check","path":"a.py"}`},
		{"workspace-list", `{}`, WorkspaceRead, `{"op":"list","path":"."}`},
		{"workspace-list", `{"path":"src/","glob":"*.py","limit":5000}`, WorkspaceRead, `{"flags":{"glob":"*.py","limit":"5000"},"op":"list","path":"src/"}`},
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
