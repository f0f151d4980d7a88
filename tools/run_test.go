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
	"world/canon"
	"world/confine"
	"world/store"
)

// ranAnswer is what an agent gets of a run.
type ranAnswer struct {
	Admitted       bool
	ExitCode       *int `json:"exit_code"`
	Decision       *struct{ Kind, Message string }
	Limit          *struct{ Reason, Stage, Message string }
	Stdout, Stderr string
	Kept           bool
	LeftOut        int64 `json:"left_out_bytes"`
	Replaced       int64 `json:"replaced_bytes"`
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
		"a line":       {programs{"import sys; sys.stderr.write('line\\n')", "eprint('line')"}, ``, "", "line\n", 0},
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

// TestOutputEndsAsItEnds: no line break is added to what a program leaves open, nor
// taken from what it does not, however it ends.
func TestOutputEndsAsItEnds(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	for _, text := range []string{"", "open", "line\n", "two\n\n", "\n", "two\nopen", `policy: {"ok":true,"ended_line":true}`, "x\npolicy: {}"} {
		for _, end := range []string{"", "sys.exit(3)", "os.kill(os.getpid(), 9)"} {
			d.put("p.py", "import os, sys\nfor f in sys.stdout, sys.stderr: f.write("+string(canon.NewString(text).Bytes())+"); f.flush()\n"+end+"\n")
			if _, a := d.runs(AilangRun, `{"path":"p.py"}`); a.Stdout != text || a.Stderr != text {
				t.Errorf("%q, %q: %q and %q", text, end, a.Stdout, a.Stderr)
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
	for change, says := range map[string]string{
		"os.makedirs('sub/.GIT/hooks')": "sub/.GIT: .git/ is read-only",
		"os.mkfifo('ff')":               "ff: is neither a regular file nor a directory nor a link",
		"os.symlink('/etc','out')":      "out: is a link that leads out",
	} {
		d.put("git.py", "import os,sys\nopen('fine','w').write('x')\nprint('10 tests passed')\nprint('2 slow', file=sys.stderr)\n"+change+"\nsys.exit(4)\n")
		r, a := d.runs(AilangRun, `{"path":"git.py"}`)
		if r.Status != store.StatusSucceeded || a.Limit == nil || a.Limit.Reason != "changes_refused" || a.Limit.Stage != "apply" || !strings.HasPrefix(a.Limit.Message, says) {
			t.Errorf("%s: %s %s", change, r.Output, r.Detail)
		}
		if !a.Admitted || a.Kept || a.ExitCode == nil || *a.ExitCode != 4 || a.Stdout != "10 tests passed\n" || a.Stderr != "2 slow\n" || !strings.HasPrefix(d.get("fine"), "error") {
			t.Errorf("%s: %+v", change, a)
		}
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
