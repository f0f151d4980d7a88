package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/broker/law"
	"world/confine"
	"world/store"
)

// ranAnswer is what an agent gets of a run.
type ranAnswer struct {
	Admitted       bool
	ExitCode       *int `json:"exit_code"`
	Decision       *struct{ Kind, Message string }
	Limit          *struct{ Reason, Stage string }
	Stdout, Stderr string
	Kept           bool
	LeftOut        int64 `json:"left_out_bytes"`
	Unenforced     []string
	Changes        []struct{ Path, Kind, Before, After string }
	Policy         struct {
		Digest, SecurityMode string
		Caps                 []string
	}
	Tool string
}

// runs runs a payload under an effect.
func (d desk) runs(effect law.Effect, payload string) (broker.Result, ranAnswer) {
	return d.runsWithin(broker.DefaultDeadline, effect, payload)
}

func (d desk) runsWithin(deadline time.Duration, effect law.Effect, payload string) (broker.Result, ranAnswer) {
	d.t.Helper()
	r := d.handler.Handle(context.Background(), broker.Job{
		Episode: episode, Intent: "effect:ep-1:0", Effect: effect, Scope: Worktree, Cost: 1,
		Payload: []byte(payload), Deadline: deadline,
	})
	var a ranAnswer
	if r.Output != nil {
		if err := json.Unmarshal(r.Output, &a); err != nil {
			d.t.Fatalf("%s: %v in %s", payload, err, r.Output)
		}
	}
	if strings.Contains(string(r.Output)+r.Detail, d.base) {
		d.t.Errorf("%s: a host path in %s %s", payload, r.Output, r.Detail)
	}
	return r, a
}

// programs are the same program in both languages.
type programs struct{ py, star string }

// TestRun runs programs that do one thing each, in both languages.
func TestRun(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("settings.json", `{"runs":1}`)
	for name, c := range map[string]struct {
		programs
		args, out, err string
		exit           int
	}{
		"prints":       {programs{"print('hello', 'ü')", "print('hello', 'ü')"}, ``, "hello ü\n", "", 0},
		"reads stdin":  {programs{"import sys; print(sys.stdin.read().upper())", "print(stdin().upper())"}, `,"stdin":"in\nput"`, "IN\nPUT\n", "", 0},
		"no stdin":     {programs{"import sys; print(repr(sys.stdin.read()))", "print(repr(stdin()).replace('\"', \"'\"))"}, ``, "''\n", "", 0},
		"arguments":    {programs{"import sys; print(sys.argv[1:])", "print(str(args).replace('\"', \"'\"))"}, `,"argv":["a b","--caps","*"]`, "['a b', '--caps', '*']\n", "", 0},
		"exits 3":      {programs{"import sys; sys.exit(3)", "exit(3)"}, ``, "", "", 3},
		"both streams": {programs{"import sys; print('out'); print('err', file=sys.stderr)", "print('out')\neprint('err')"}, ``, "out\n", "err\n", 0},
		"an open line": {programs{"import sys; sys.stderr.write('open')", "eprint('open')"}, ``, "", "open\n", 0},
		"where it is":  {programs{"import os; print(sorted(os.listdir('.'))[-1])", "print(fs.list('.')[-1])"}, ``, "settings.json\n", "", 0},
	} {
		for file, source := range map[string]string{"p.py": c.py, "p.star": c.star} {
			d.put(file, source+"\n")
			r, a := d.runs(AilangRun, `{"path":"`+file+`"`+c.args+`}`)
			if r.Status != store.StatusSucceeded || !a.Admitted || a.ExitCode == nil || *a.ExitCode != c.exit || a.Limit != nil || a.Decision != nil ||
				a.Stdout != c.out || a.Stderr != c.err || !a.Kept || a.Tool != string(d.handler.jail.Stage().Ref) || len(a.Policy.Digest) != 64 {
				t.Errorf("%s in %s: %+v %s %s", name, file, a, r.Output, r.Detail)
			}
			if (a.Unenforced == nil) != (file == "p.star") {
				t.Errorf("%s: unenforced %v", file, a.Unenforced)
			}
			if err := os.Remove(filepath.Join(d.worktree, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRunFails: a program that fails says why, and is not mistaken for one that was
// not admitted.
func TestRunFails(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	for file, c := range map[string]struct {
		source, says string
		exit         int
	}{
		"raises.py":  {"raise ValueError('the reason')", "ValueError: the reason", 1},
		"syntax.py":  {"def f(:", "SyntaxError", 1},
		"fails.star": {"def f():\n  fail('the reason')\nf()", "the reason", 1},
		"usage.py":   {"import sys; sys.exit(2)", "", 2},
		"usage.star": {"exit(2)", "", 2},
		"memory.py":  {"x = 'x' * (1 << 30)", "MemoryError", 1},
	} {
		d.put(file, c.source+"\n")
		_, a := d.runs(AilangRun, `{"path":"`+file+`"}`)
		if !a.Admitted || a.ExitCode == nil || *a.ExitCode != c.exit || !strings.Contains(a.Stderr, c.says) || a.Limit != nil || c.says == "" && a.Stderr != "" {
			t.Errorf("%s: %+v", file, a)
		}
	}
}

// TestRunIsNotAdmitted: nothing of such a program runs.
func TestRunIsNotAdmitted(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("names.star", "fs.write('ran', 'x')\nnone\n")
	d.put("a.ail", "module a\n")
	d.put("a.txt", "x")
	d.put("large.py", "open('ran','w')\n#"+strings.Repeat("x", 1<<20))
	d.put("latin.py", "open('ran','w') #\xe4")
	d.put("good.py", "open('ran','w').close()\n")
	for args, says := range map[string]string{
		`{"path":"names.star"}`:               "names.star:2:1: undefined: none",
		`{"path":"a.ail"}`:                    "needs the AILANG binary",
		`{"path":"a.txt"}`:                    "a.txt is not a program",
		`{"path":"large.py"}`:                 "exceeds max_source_bytes (1048576)",
		`{"path":"latin.py"}`:                 "latin.py: not UTF-8 text",
		`{"path":"none.py"}`:                  "none.py: no such file or directory",
		`{"path":"good.py","args_json":"{}"}`: "a .py program takes argv and stdin",
	} {
		r, a := d.runs(AilangRun, args)
		if r.Status != store.StatusSucceeded || a.Admitted || a.Decision == nil || !strings.Contains(a.Decision.Message, says) || a.Limit != nil || a.Stdout != "" || a.Stderr != "" {
			t.Errorf("%s: %+v %s %s", args, a, r.Output, r.Detail)
		}
	}
	if !strings.HasPrefix(d.get("ran"), "error") {
		t.Error("something ran")
	}
	if _, a := d.runs(AilangRun, `{"path":"good.py"}`); !a.Admitted || d.get("ran") != "" {
		t.Errorf("control: %+v", a)
	}
}

// TestRunIsBounded: what a program does without end ends, by name, and changes nothing.
func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, confine.Namespaces, "")
	for file, c := range map[string]struct {
		source, reason string
		says           string
	}{
		"loops.py":   {"open('left', 'w').write('x')\nprint('begun', flush=True)\nwhile True: pass", "timeout", "begun\n"},
		"loops.star": {"fs.write('left', 'x')\nprint('begun')\nwhile True: pass", "timeout", "begun\n"},
		"floods.py":  {"open('left', 'w').write('x')\nwhile True: print('x' * 1000)", "output_limit", "bytes left out]…"},
	} {
		d.put(file, c.source+"\n")
		began := time.Now()
		r, a := d.runsWithin(2*time.Second+takeOver, AilangRun, `{"path":"`+file+`"}`)
		if r.Status != store.StatusSucceeded || !a.Admitted || a.ExitCode != nil || a.Limit == nil || a.Limit.Reason != c.reason || a.Limit.Stage != "execute" ||
			!strings.Contains(a.Stdout, c.says) || a.Kept || a.Changes != nil || len(a.Stdout) > shownOutput+100 {
			t.Errorf("%s: %.300s %s", file, r.Output, r.Detail)
		}
		if took := time.Since(began); c.reason == "timeout" && (took < 1500*time.Millisecond || took > broker.DefaultDeadline) {
			t.Errorf("%s took %s", file, took)
		}
		if c.reason == "output_limit" && a.LeftOut < 1<<20 {
			t.Errorf("%s: %d bytes left out", file, a.LeftOut)
		}
		if !strings.HasPrefix(d.get("left"), "error") {
			t.Errorf("%s left something", file)
		}
	}
}

// TestRunLeavesWhatItWrote, whole and named, when it ends by itself, be it badly.
func TestRunLeavesWhatItWrote(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("old", "old")
	d.put("writes.py", "import os,sys\nos.mkdir('d')\nopen('d/new','w').write('new')\nopen('old','a').write('er')\nos.remove('gone')\nsys.exit(7)\n")
	d.put("gone", "")
	_, a := d.runs(AilangRun, `{"path":"writes.py"}`)
	if *a.ExitCode != 7 || !a.Kept || d.get("d/new") != "new" || d.get("old") != "older" || !strings.HasPrefix(d.get("gone"), "error") {
		t.Errorf("%+v", a)
	}
	var changed []string
	for _, c := range a.Changes {
		changed = append(changed, c.Path+" "+c.Kind)
		if c.Path == "old" && (c.Before != string(store.RefOf([]byte("old"))) || c.After != string(store.RefOf([]byte("older")))) {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(changed, ", "); got != "d directory, d/new created, gone deleted, old changed" {
		t.Errorf("changes: %s", got)
	}
	d.put("writes.star", "fs.mkdir('e')\nfs.write('e/x', 'y')\nfs.remove('old')\nprint(fs.exists('old'), fs.read('e/x'))\n")
	if _, a := d.runs(AilangRun, `{"path":"writes.star"}`); a.Stdout != "False y\n" || d.get("e/x") != "y" || !strings.HasPrefix(d.get("old"), "error") {
		t.Errorf("%+v", a)
	}
}

// TestRunOfAProtectedName refuses all that the program changed, and tells the agent.
func TestRunOfAProtectedName(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("git.py", "import os\nopen('fine','w').write('x')\nos.makedirs('sub/.GIT/hooks')\n")
	r, _ := d.runs(AilangRun, `{"path":"git.py"}`)
	if r.Status != store.StatusFailed || !strings.Contains(r.Detail, "the program's changes are refused: sub/.GIT: ") || !strings.HasPrefix(d.get("fine"), "error") {
		t.Errorf("%+v", r)
	}
	// Starlark is told as it happens, and may go on without.
	d.put("git.star", "fs.write('fine', 'x')\nfs.write('.github/x', 'y')\n")
	if _, a := d.runs(AilangRun, `{"path":"git.star"}`); *a.ExitCode != 1 || !strings.Contains(a.Stderr, `E_FS_PROTECTED: .github/x matches fs_deny_write ".github/**"`) || d.get("fine") != "x" {
		t.Errorf("%+v", a)
	}
	d.put("git.py", "open('fine2','w').write('x')\n")
	if r, _ := d.runs(AilangRun, `{"path":"git.py"}`); r.Status != store.StatusSucceeded || d.get("fine2") != "x" {
		t.Errorf("control: %+v", r)
	}
}

// TestRunLeavesNobody: what a program starts ends with it, and forks are counted.
func TestRunLeavesNobody(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("background.py", "import subprocess\nsubprocess.Popen(['sh','-c','sleep 60; echo late > late'])\nprint('done')\n")
	began := time.Now()
	if _, a := d.runs(AilangRun, `{"path":"background.py"}`); a.Stdout != "done\n" || *a.ExitCode != 0 || time.Since(began) > 30*time.Second {
		t.Errorf("%s: %+v", time.Since(began), a)
	}
	d.put("forks.py", "import os,time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0:\n      time.sleep(60)\n    n += 1\nexcept OSError as e:\n  print(n < 200, type(e).__name__)\n")
	if r, a := d.runs(AilangRun, `{"path":"forks.py"}`); a.Stdout != "True BlockingIOError\n" {
		t.Errorf("%s %s", r.Output, r.Detail)
	}
}

// TestRunCaps: capabilities choose the effect and the policy, and the operator's gate
// stands before both.
func TestRunCaps(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("env.star", "print(env('HOME'), env('none'))\n")
	d.put("p.star", "print(1)\n")
	d.put("f.star", "fs.write('x', 'y')\n")
	for payload, want := range map[string]string{
		`{"path":"env.star"}`:             "effect 'Env' requires capability",
		`{"path":"p.star","caps":["FS"]}`: "effect 'IO' requires capability",
		`{"path":"f.star","caps":["IO"]}`: "E_BUDGET_OPERATOR: effect 'FS' operator budget exhausted: limit=0",
	} {
		if _, a := d.runs(AilangRun, payload); *a.ExitCode != 1 || !strings.Contains(a.Stderr, want) {
			t.Errorf("%s: %+v", payload, a)
		}
	}
	if _, a := d.runs(AilangRun, `{"path":"p.star","caps":["IO"]}`); a.Stdout != "1\n" || strings.Join(a.Policy.Caps, " ") != "IO FS" {
		t.Errorf("control: %+v", a)
	}
	for _, c := range []struct {
		effect  law.Effect
		payload string
		want    string
	}{
		{AilangRunEnv, `{"path":"env.star","caps":["Env","IO"]}`, `capability "Env" is not enabled by the operator (serve --run-allow-caps)`},
		{AilangRunNet, `{"path":"env.star","caps":["Net"]}`, `capability "Net" is not enabled by the operator (serve --run-allow-caps)`},
		{AilangRun, `{"path":"env.star","caps":["Env","IO"]}`, `broker: Ailang.Run refuses the payload: caps [Env IO] run as Ailang.RunEnv, not Ailang.Run`},
		{AilangRunNet, `{"path":"env.star"}`, `broker: Ailang.RunNet refuses the payload: caps [] run as Ailang.Run, not Ailang.RunNet`},
		{AilangRunEnv, `{"path":"a","caps":["Env","Net"]}`, `broker: Ailang.RunEnv refuses the payload: caps names both Env and Net`},
		{AilangRun, `{"path":"a","caps":["IO","FS"]}`, `broker: Ailang.Run refuses the payload: caps are not sorted and distinct`},
		{AilangRun, `{"path":"a","caps":["FS","FS"]}`, `broker: Ailang.Run refuses the payload: caps are not sorted and distinct`},
		{AilangRun, `{"path":"a","caps":["Root"]}`, `broker: Ailang.Run refuses the payload: caps names an unknown capability`},
		{AilangRun, `{"path":"../a"}`, `broker: Ailang.Run refuses the payload: path is not that of a file in the worktree`},
		{AilangRun, `{"path":"-a"}`, `broker: Ailang.Run refuses the payload: path is not that of a file in the worktree`},
		{AilangRun, `{}`, `broker: Ailang.Run refuses the payload: path is not that of a file in the worktree`},
		{AilangRun, `{"path":"a","op":"run"}`, `broker: Ailang.Run refuses the payload: unknown key "op"`},
		{AilangRun, `{"path":"a","argv":"x"}`, `broker: Ailang.Run refuses the payload: argv is of another type`},
		{AilangRun, `{"path":"a","argv":["\u0000"]}`, `broker: Ailang.Run refuses the payload: an argument holds NUL`},
		{AilangRun, `[]`, `broker: Ailang.Run refuses the payload: it is not a JSON object`},
	} {
		if r, _ := d.runs(c.effect, c.payload); r.Status != store.StatusFailed || r.Detail != c.want {
			t.Errorf("%s %s: %+v", c.effect, c.payload, r)
		}
	}
	d.handler.allow, d.handler.netAllow = []string{"Env", "Net"}, []string{"127.0.0.1:9"}
	if _, a := d.runs(AilangRunEnv, `{"path":"env.star","caps":["Env","IO"]}`); a.Stdout != "/tmp/home None\n" {
		t.Errorf("enabled: %+v", a)
	}
	if _, a := d.runs(AilangRunNet, `{"path":"env.star","caps":["Net"]}`); a.Admitted || !strings.Contains(a.Decision.Message, "no network") {
		t.Errorf("a program of ours with Net: %+v", a)
	}
	for name, mode := range map[string]string{"ep-1": "restricted", "ep-1.run-IO": "restricted", "ep-1.run-Env.IO": "trusted_host"} {
		raw, err := os.ReadFile(filepath.Join(d.base, "state", "policies", name+".toml"))
		if err != nil || !strings.Contains(string(raw), `security_mode = "`+mode+`"`) {
			t.Errorf("policy %s: %v\n%.200s", name, err, raw)
		}
	}
}

// TestRunFloor: below namespaces, no program runs, however low the handler's floor.
func TestRunFloor(t *testing.T) {
	d := newDesk(t, confine.Landlock, "")
	d.put("p.py", "open('ran','w')\n")
	r, _ := d.runs(AilangRun, `{"path":"p.py"}`)
	if r.Status != store.StatusFailed || !strings.Contains(r.Detail, "needs confinement level namespaces and the machine reaches landlock") || !strings.HasPrefix(d.get("ran"), "error") {
		t.Errorf("%+v", r)
	}
	for _, payload := range []string{`{"op":"ai_check","path":"p.py"}`} { // loading is not running
		if r := d.handle(AilangCheck, payload); r.Status != store.StatusSucceeded || member(r, "ok") != "true" {
			t.Errorf("control: %+v %s", r, r.Output)
		}
	}
}
