package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/confine"
	"world/store"
)

// TestAnotherToolsWritesAreJudged: what a tool that is not ours writes for an operation
// is held to the path law and told by hash, whatever it says of it.
func TestAnotherToolsWritesAreJudged(t *testing.T) {
	d := playing(t, nil)
	x := string(store.RefOf([]byte("x")))
	created := `"changes":[{"after":"` + x + `","kind":"created","path":"made"}]`
	write := map[string]string{"made": "x"}
	for name, c := range map[string]struct {
		step   step
		status store.Status
		says   string // of its output, or its detail
		made   bool
	}{
		"honest":           {step{Write: write, Stdout: `{"ok":true}`}, store.StatusSucceeded, created, true},
		"silent":           {step{Stdout: `{"ok":true,"changes":[{"path":"made","kind":"created"}]}`}, store.StatusSucceeded, `"changes":[]`, false},
		"tells of another": {step{Write: write, Stdout: `{"ok":true,"changes":[]}`}, store.StatusSucceeded, created, true},
		"protected":        {step{Write: map[string]string{"made": "x", ".gitattributes": "x"}, Stdout: `{"ok":true}`}, store.StatusFailed, "was refused: .gitattributes: matches fs_deny_write", false},
		"says no":          {step{Write: write, Stdout: `{"ok":false,"refused":"no"}`}, store.StatusFailed, "says that nothing was done, and the worktree was changed: made created, after " + x, true},
		"counts more":      {step{Write: write, Stdout: `{"ok":true,"omitted":99}`}, store.StatusSucceeded, created + `,"ok":true,"omitted":0`, true},
		"fails":            {step{Write: write, Stderr: "policy-tool: bad\n", Exit: 1}, store.StatusFailed, "could not form a response: policy-tool: bad, and the worktree was changed: made created, after " + x, true},
		"says nothing":     {step{Write: write}, store.StatusFailed, "and the worktree was changed: made created, after " + x, true},
		"does not end":     {step{Write: write, Sleep: time.Minute}, store.StatusFailed, "the tool was ended: deadline", false},
	} {
		d.play(map[string]step{"policy-tool": c.step})
		job := broker.Job{Episode: episode, Effect: WorkspaceWrite, Payload: []byte(`{"op":"write","path":"a","content":"x"}`), Deadline: 4 * time.Second}
		r := d.handler.Handle(context.Background(), job)
		if r.Status != c.status || !strings.Contains(string(r.Output)+r.Detail, c.says) {
			t.Errorf("%s: %s %s %s, want %s", name, r.Status, r.Output, r.Detail, c.says)
		}
		made := filepath.Join(d.worktree, "made")
		if _, err := os.Lstat(made); (err == nil) != c.made {
			t.Errorf("%s: the file: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(d.worktree, ".gitattributes")); err == nil {
			t.Errorf("%s: a protected file was made", name)
		}
		os.Remove(made)
	}
}

// TestRunsDoNotReadGit: the .git of a worktree, which holds a path of the host, is empty
// for a program, which can neither write nor remove it; what lies beside it is there.
func TestRunsDoNotReadGit(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	const path = "gitdir: /somewhere/of/the/host\n"
	d.put(".git", path)
	d.put("beside", "there")
	d.put("m.py", `
import os
print(repr(open('.git').read()), open("beside").read())
for act in (lambda: open('.git', 'w'), lambda: os.remove('.git'), lambda: os.rename('.git', 'g'), lambda: os.chmod('.git', 0o666)):
    try:
        act()
        print('done')
    except OSError:
        pass
open('made', 'w').write('x')
`)
	r, a := d.runs(AilangRun, `{"path":"m.py"}`)
	if r.Status != store.StatusSucceeded || a.Stdout != "'' there\n" || !a.Kept || d.get("made") != "x" || d.get(".git") != path {
		t.Errorf("%s %s %s", r.Status, r.Output, r.Detail)
	}
}
