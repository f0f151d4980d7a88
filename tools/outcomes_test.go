package tools

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/plan"
	"world/store"
)

// TestOutcomes plays what a tool can answer to an operation: every shape of the
// contract, every omission and every lie.
func TestOutcomes(t *testing.T) {
	const ok, bad, unknown = store.StatusSucceeded, store.StatusFailed, store.StatusIndeterminate
	tests := []struct {
		name        string
		step        step
		read, write store.Status
	}{
		{"done", step{Stdout: `{"ok":true,"content":"x"}`}, ok, ok},
		{"done, pretty and escaped", step{Stdout: "{\n  \"ok\": true, \"content\": \"\\u003c\\ud83d\\ude00\"\n}\n"}, ok, ok},
		{"done, and says more", step{Stdout: `{"ok":true,"content":"x","later":{"a":[1]}}`}, ok, ok},
		{"done, and talks", step{Stdout: `{"ok":true}`, Stderr: "policy: {\"ok\":true}\nwarning\n"}, ok, ok},
		{"refused", step{Stdout: `{"ok":false,"refused":"no"}`}, ok, ok},
		{"policy refused", step{Stdout: `{"ok":false,"refused":"policy: unknown fields: [x]"}`}, ok, ok},
		{"ran and failed", step{Stdout: `{"ok":false,"argv":["check"],"exit_code":1}`}, ok, ok},
		{"ran and was killed", step{Stdout: `{"ok":false,"argv":["check"],"exit_code":-1,"stderr":"x"}`}, ok, ok},
		{"refused and ran", step{Stdout: `{"ok":false,"refused":"no","argv":["check"],"exit_code":1}`}, ok, ok},
		{"no response could be formed", step{Stderr: "policy-tool: request is not JSON", Exit: 1}, bad, bad},
		{"decoding refused by exit code", step{Stderr: `policy-tool: unknown request key "x"`, Exit: 1}, bad, bad},
		{"exit 1 with a response", step{Stdout: `{"ok":true}`, Exit: 1}, bad, unknown},
		{"exit 2 with a response", step{Stdout: `{"ok":true}`, Exit: 2}, bad, unknown},
		{"exit 2", step{Exit: 2}, bad, unknown},
		{"silence", step{}, bad, unknown},
		{"no JSON", step{Stdout: "hello"}, bad, unknown},
		{"two responses", step{Stdout: `{"ok":true}`, Repeat: 1}, bad, unknown},
		{"half a response", step{Stdout: `{"ok":true,"content":"`}, bad, unknown},
		{"no object", step{Stdout: `[true]`}, bad, unknown},
		{"null", step{Stdout: `null`}, bad, unknown},
		{"ok is missing", step{Stdout: `{"content":"x"}`}, bad, unknown},
		{"ok is no boolean", step{Stdout: `{"ok":"true"}`}, bad, unknown},
		{"ok is a number", step{Stdout: `{"ok":1}`}, bad, unknown},
		{"OK in another case", step{Stdout: `{"OK":true}`}, bad, unknown},
		{"ok twice", step{Stdout: `{"ok":false,"ok":true}`}, bad, unknown},
		{"not ok without a reason", step{Stdout: `{"ok":false}`}, bad, unknown},
		{"refused is no text", step{Stdout: `{"ok":false,"refused":true}`}, bad, unknown},
		{"content is a number", step{Stdout: `{"ok":true,"content":5}`}, bad, unknown},
		{"argv is a text", step{Stdout: `{"ok":true,"argv":"check"}`}, bad, unknown},
		{"argv is of numbers", step{Stdout: `{"ok":true,"argv":[1]}`}, bad, unknown},
		{"exit code is a text", step{Stdout: `{"ok":false,"argv":["check"],"exit_code":"1"}`}, bad, unknown},
		{"exit code is a fraction", step{Stdout: `{"ok":false,"argv":["check"],"exit_code":1.5}`}, bad, unknown},
		{"stdout is a list", step{Stdout: `{"ok":true,"argv":["check"],"stdout":[]}`}, bad, unknown},
		{"cut is a text", step{Stdout: `{"ok":true,"cut":"true"}`}, bad, unknown},
		{"empty members are null", step{Stdout: `{"ok":true,"content":null,"refused":null,"argv":null}`}, ok, ok},
		{"ok and refused", step{Stdout: `{"ok":true,"refused":"no"}`}, bad, unknown},
		{"ok and failed", step{Stdout: `{"ok":true,"argv":["check"],"exit_code":1}`}, bad, unknown},
		{"failed with code 0", step{Stdout: `{"ok":false,"argv":["check"],"exit_code":0}`}, bad, unknown},
		{"refused for nothing", step{Stdout: `{"ok":false,"refused":""}`}, bad, unknown},
		{"claims the world", step{Stdout: `{"ok":true,"world":{}}`}, bad, unknown},
		{"claims the tool", step{Stdout: `{"ok":true,"tool":"x"}`}, bad, unknown},
		{"claims the policy", step{Stdout: `{"ok":true,"policy_digest":"x"}`}, bad, unknown},
		{"escaped half a character", step{Stdout: `{"ok":true,"content":"\ud800"}`}, bad, unknown},
		{"too large", step{Stdout: `{"ok":true,"content":"` + strings.Repeat("x", 5_000_000) + `"}`}, bad, unknown},
		{"flood", step{Stdout: strings.Repeat("x", 1<<20), Repeat: 20}, bad, unknown},
		{"killed", step{Stdout: `{"ok":true}`, Signal: 9}, bad, unknown},
		{"killed before", step{Signal: 9}, bad, unknown},
		{"late", step{Stdout: `{"ok":true}`, Sleep: time.Minute}, bad, unknown},
	}
	d := playing(t, nil)
	low := playing(t, func(o *Options) { o.Jail = confinetest.Jail(t, confine.Landlock) })
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d.play(map[string]step{"policy-tool": test.step})
			low.play(map[string]step{"policy-tool": test.step})
			job := broker.Job{Episode: episode, Effect: WorkspaceRead, Payload: []byte(`{"op":"read","path":"a"}`), Deadline: 2 * time.Second}
			if r := d.handler.Handle(context.Background(), job); r.Status != test.read || (r.Status == ok) != (r.Output != nil) || (r.Status == ok) == (r.Detail != "") {
				t.Errorf("read: %+v %.200s", r, r.Output)
			}
			job.Effect, job.Payload = WorkspaceWrite, []byte(`{"op":"write","path":"a","content":"x"}`)
			// Without a layer nobody knows what a tool did that does not say so.
			if r := low.handler.Handle(context.Background(), job); r.Status != test.write {
				t.Errorf("write: %+v", r)
			}
			if r := d.handler.Handle(context.Background(), job); r.Status != test.read {
				t.Errorf("write over a layer: %+v", r)
			}
		})
	}
}

// TestOmissions: what the contract leaves out because it is empty is there for an agent.
func TestOmissions(t *testing.T) {
	d := playing(t, nil)
	for _, c := range []struct {
		effect              law.Effect
		payload, said, want string
	}{
		{WorkspaceRead, `{"op":"read","path":"a"}`, `{"ok":true}`, `{"content":"","ok":true}`},
		{WorkspaceRead, `{"op":"read","path":"a"}`, `{"ok":true,"content":null}`, `{"content":"","ok":true}`},
		{WorkspaceWrite, `{"op":"write","path":"a","content":""}`, `{"ok":true}`, `{"ok":true}`},
		{AilangCheck, `{"op":"ai_check","path":"a.ail"}`, `{"ok":true,"argv":["ai-check","a.ail"]}`, `{"argv":["ai-check","a.ail"],"exit_code":0,"ok":true,"stderr":"","stdout":""}`},
		{AilangCLI, `{"op":"check","path":"a.ail"}`, `{"ok":false,"argv":["check"],"exit_code":1,"stdout":"PWD/a.ail: bad"}`, `{"argv":["check"],"exit_code":1,"ok":false,"stderr":"","stdout":"a.ail: bad"}`},
	} {
		d.play(map[string]step{"policy-tool": {Stdout: strings.ReplaceAll(c.said, "PWD", d.worktree)}})
		r := d.handle(c.effect, c.payload)
		output, err := canon.Parse(r.Output, canon.Limits{})
		if err != nil {
			t.Fatalf("%s: %v %+v", c.said, err, r)
		}
		var members []canon.Member
		for _, m := range output.Members() {
			if m.Name != "tool" && m.Name != "policy_digest" {
				members = append(members, m)
			}
		}
		if got := string(canon.NewObject(members).Bytes()); got != c.want || member(r, "tool") != `"`+string(d.handler.Tool())+`"` {
			t.Errorf("%s: %s", c.said, got)
		}
	}
}

// TestWhatIsPromisedIsThere: a number that a description tells of is there when it is
// none.
func TestWhatIsPromisedIsThere(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("empty", "")
	d.put("binary", "\xff")
	for payload, want := range map[string]string{
		`{"op":"search","path":".","query":"x","flags":{"glob":"none"}}`: `"files":0,"matches":[],"ok":true,`,
		`{"op":"search","path":"binary","query":"x"}`:                    `"files":0,"matches":[],"ok":true,`,
		`{"op":"search","path":"empty","query":"x"}`:                     `"files":1,"matches":[],"ok":true,`,
		`{"op":"list","path":".","flags":{"glob":"none"}}`:               `"entries":[],"ok":true,`,
		`{"op":"read","path":"empty"}`:                                   `{"content":"","ok":true,`,
		`{"op":"read","path":"empty","flags":{"limit":"1"}}`:             `{"content":"","lines":0,"ok":true,`,
		`{"op":"read","path":"empty","flags":{"bytes":""}}`:              `{"bytes":0,"content":"","ok":true,`,
	} {
		r := d.handle(WorkspaceRead, payload)
		if !strings.Contains(string(r.Output), want) || strings.Contains(payload, "search") && member(r, "skipped") == "" {
			t.Errorf("%s: %s %s", payload, r.Output, r.Detail)
		}
	}
	if r := d.handle(WorkspaceRead, `{"op":"search","path":"none","query":"x"}`); member(r, "files") != "" || member(r, "ok") != "false" {
		t.Errorf("%s", r.Output)
	}
}

// TestWhoServesWhat: another tool gets what it says it does, as it is, and world-tool
// the rest.
func TestWhoServesWhat(t *testing.T) {
	d := playing(t, func(o *Options) { o.Examples = filepath.Dir(o.StateDir) + "/corpus" })
	d.play(map[string]step{"policy-tool": {Echo: true}, "run": {Stdout: "ran by the other tool"}})
	d.put("good.py", "print('ran by ours')\n")
	d.put("good.star", "print('ran by ours')\n")
	d.put("m.ail", "module m\n")
	ours, theirs := `"`+string(d.handler.jail.Stage().Ref)+`"`, `"`+string(d.handler.Tool())+`"`
	for _, c := range []struct {
		effect     law.Effect
		payload    string
		tool, sent string
	}{
		{WorkspaceRead, `{"op":"read","path":"m.ail"}`, theirs, `{\"op\":\"read\",\"path\":\"m.ail\"}`},
		{WorkspaceRead, `{"op":"read","path":"good.py","flags":{"limit":"1"}}`, ours, `print('ran by ours')\n`},
		{WorkspaceRead, `{"op":"list","path":"."}`, ours, ""},
		{WorkspaceRead, `{"op":"search","path":".","query":"ours"}`, ours, ""},
		{WorkspaceWrite, `{"op":"write","path":"x.py","content":""}`, theirs, `{\"content\":\"\",\"op\":\"write\",\"path\":\"x.py\"}`},
		{AilangCheck, `{"op":"ai_check","path":"m.ail"}`, theirs, `{\"op\":\"ai_check\",\"path\":\"m.ail\"}`},
		{AilangCheck, `{"op":"ai_check","path":"good.py"}`, ours, ""},
		{AilangCheck, `{"op":"ai_check","path":"good.star"}`, ours, ""},
		{AilangCLI, `{"op":"check","path":"good.star"}`, ours, ""},
		{AilangCLI, `{"op":"prompt"}`, theirs, `{\"op\":\"prompt\"}`},
		{AilangDiscover, `{"op":"builtins_list"}`, theirs, `{\"flags\":{},\"op\":\"builtins_list\"}`},
		{AilangDiscover, `{"op":"builtins_list","flags":{"module":"std/fs"}}`, theirs, `{\"flags\":{},\"op\":\"builtins_list\"}`},
		{AilangDiscover, `{"op":"examples_search","query":"x"}`, theirs, `{\"op\":\"examples_search\",\"query\":\"x\"}`},
	} {
		r := d.handle(c.effect, c.payload)
		if r.Status != store.StatusSucceeded || member(r, "tool") != c.tool || !strings.Contains(member(r, "content"), c.sent) {
			t.Errorf("%s %s: %+v %s", c.effect, c.payload, r, r.Output)
		}
	}
	// Operations that no effect may ask for, whatever the tool lists.
	for op, effect := range map[string]law.Effect{"lock": AilangCLI, "write": AilangCLI, "docs_search": AilangCLI, "check": AilangCheck, "builtins_show": AilangDiscover} {
		if r := d.handle(effect, `{"op":"`+op+`"}`); r.Status != store.StatusFailed || !strings.Contains(r.Detail, "not in this effect's op allowlist") {
			t.Errorf("%s: %+v", op, r)
		}
	}
	if r := d.handle(AilangCLI, `{"op":"docs_search"}`); r.Detail != plan.Lasting+`broker: Ailang.CLI refuses op "docs_search": not in this effect's op allowlist (check, fmt, prompt)` {
		t.Errorf("%+v", r)
	}
	if r := d.handle(AilangCLI, `{"op":"fmt","path":"a","flags":{"write":"false"}}`); r.Status != store.StatusFailed || !strings.Contains(r.Detail, "writes the worktree") {
		t.Errorf("%+v", r)
	}
	for _, file := range []string{"good.py", "good.star"} {
		if r, a := d.runs(AilangRun, `{"path":"`+file+`"}`); a.Stdout != "ran by ours\n" || `"`+a.Tool+`"` != ours {
			t.Errorf("%s %s", r.Output, r.Detail)
		}
	}
	if r, _ := d.runs(AilangRun, `{"path":"m.ail"}`); r.Status != store.StatusFailed || r.Detail != "the tool's answer is none that the contract knows" {
		t.Errorf("%+v", r)
	}
	d.handler.examples = ""
	if r := d.handle(AilangDiscover, `{"op":"examples_search","query":"x"}`); r.Status != store.StatusSucceeded ||
		member(r, "refused") != `"no examples corpus configured: start ailang-worldd serve with --examples-dir DIR"` {
		t.Errorf("%+v %s", r, r.Output)
	}
}

// TestAToolsReasonIsShown, bounded and without where the worktree lies, where the
// contract has it give one.
func TestAToolsReasonIsShown(t *testing.T) {
	d := playing(t, nil)
	for _, c := range []struct {
		step step
		want string
	}{
		{step{Stderr: "noise\npolicy-tool: request is not JSON: EOF\n", Exit: 1}, "the tool could not form a response: policy-tool: request is not JSON: EOF"},
		{step{Stderr: "policy-tool: " + strings.Repeat("x", 5000), Exit: 1}, "the tool could not form a response: policy-tool: " + strings.Repeat("x", maxReason-len("policy-tool: …")) + "…"},
		{step{Stderr: "secret\n", Exit: 1}, "the tool could not form a response"},
		{step{Stdout: `{"ok":true,"refused":"PWD/a is ` + strings.Repeat("x", 5000) + `"}`}, "the tool's response says that it is ok and that it refused: a is " + strings.Repeat("x", maxReason-len("says that it is ok and that it refused: a is …")) + "…"},
		{step{Stdout: `{"ok":true,"content":5}`}, "the tool's response is not as the contract says: content is of another type"},
	} {
		c.step.Stdout = strings.ReplaceAll(c.step.Stdout, "PWD", d.worktree)
		d.play(map[string]step{"policy-tool": c.step})
		if r := d.handle(WorkspaceRead, `{"op":"read","path":"a"}`); r.Status != store.StatusFailed || r.Detail != c.want {
			t.Errorf("%+v, want %s", r, c.want)
		}
	}
}

// TestToolStderrStaysInside: what the tool says on stderr, and where the worktree
// lies, never reaches an agent.
func TestToolStderrStaysInside(t *testing.T) {
	d := newDesk(t, confine.Namespaces, `echo "secret of the tool" >&2; echo "{\"ok\":false,\"refused\":\"path $PWD/a escapes sandbox $PWD\"}"`)
	r := d.handle(WorkspaceRead, `{"op":"read","path":"a"}`)
	if strings.Contains(string(r.Output), "secret") || member(r, "refused") != `"path a escapes sandbox ."` {
		t.Errorf("%s", r.Output)
	}
	d = newDesk(t, confine.Namespaces, `echo "secret of the tool" >&2; exit 7`)
	if r := d.handle(WorkspaceWrite, `{"op":"write","path":"a","content":""}`); strings.Contains(r.Detail, "secret") {
		t.Errorf("%+v", r)
	}
}
