package fence

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"world/ci/guards"
	"world/ci/rig"
	"world/confine/confinetest"
)

// TestRepository: a repository that runs something in every way that git has runs
// nothing on the host as its worktree is made and worked on. The control is plain git
// on the same repository, which runs it all.
func TestRepository(t *testing.T) {
	t.Parallel()
	markers := confinetest.Dir(t)
	if err := os.Chmod(markers, 0o777); err != nil {
		t.Fatal(err)
	}
	ran := func() []string {
		entries, err := os.ReadDir(markers)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=W", "-c", "user.email=w@localhost", "-c", "safe.directory=*", "-c", "protocol.file.allow=always"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	arm := func(w *rig.World) {
		repo, other := w.Repository, filepath.Join(w.Dir, "other")
		touch := func(name string) string { return "touch " + filepath.Join(markers, name) }
		if err := os.WriteFile(repo+"/.gitattributes", []byte("*.txt filter=evil\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		git(repo, "add", ".")
		git(repo, "commit", "-q", "-m", "attributes")
		git(w.Dir, "clone", "-q", repo, other)
		git(repo, "submodule", "--quiet", "add", other, "module")
		git(repo, "commit", "-q", "-m", "a submodule")
		for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
			if err := os.WriteFile(filepath.Join(repo, ".git", "hooks", hook), []byte("#!/bin/sh\n"+touch(hook)+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(repo+"/.git/monitor", []byte("#!/bin/sh\n"+touch("fsmonitor")+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		git(repo, "config", "core.fsmonitor", repo+"/.git/monitor")
		git(repo, "config", "filter.evil.smudge", touch("smudge")+"; cat")
		git(repo, "config", "filter.evil.clean", touch("clean")+"; cat")
		git(repo, "config", "submodule.module.update", "!"+touch("submodule"))
		for _, name := range ran() {
			os.Remove(filepath.Join(markers, name)) // by the arming itself
		}
	}
	d := newDesk(t, arm)
	d.put("act.py", "import subprocess\nfor args in (['status'], ['diff'], ['add', '.'], ['checkout', '.']):\n    print(subprocess.run(['git'] + args, capture_output=True))\n")
	for _, call := range []struct {
		tool string
		args map[string]any
		says string
	}{
		{"ailang-write", map[string]any{"path": "greeting.txt", "content": "changed"}, `"ok":true`},
		{"ailang-read", map[string]any{"path": "greeting.txt"}, "changed"},
		{"ailang-run", map[string]any{"path": "act.py"}, "CompletedProcess"},
		{"ailang-write", map[string]any{"path": "module/x", "content": "x"}, `"ok"`},
	} {
		if answer := d.call(call.tool, call.args); !strings.Contains(answer, call.says) {
			t.Errorf("control: %s: %s", call.tool, answer)
		}
	}
	ours := ran()
	plain := filepath.Join(d.world.Dir, "plain")
	git(d.world.Repository, "worktree", "add", "-q", "-b", "plain", plain)
	if err := os.WriteFile(plain+"/greeting.txt", []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(plain, "add", ".")
	git(plain, "submodule", "--quiet", "update", "--init")
	plainly := ran()
	for _, way := range []struct {
		name  string
		guard guards.Guard
	}{
		{"reference-transaction", guards.Hooks},
		{"post-checkout", guards.HooksOfCheckout}, {"post-index-change", guards.HooksOfCheckout},
		{"smudge", guards.Filters}, {"fsmonitor", guards.Monitor},
	} {
		t.Run(way.name, func(t *testing.T) {
			way.guard.Stops(t)
			if slices.Contains(ours, way.name) {
				way.guard.LetThrough(t, "it ran")
			}
			if !slices.Contains(plainly, way.name) {
				t.Error("control: plain git did not run it")
			}
		})
	}
	// What no git of ours is asked for.
	for _, way := range []string{"clean", "submodule"} {
		if slices.Contains(ours, way) || !slices.Contains(plainly, way) {
			t.Errorf("%s: ours ran %v, plain git %v", way, ours, plainly)
		}
	}
}
