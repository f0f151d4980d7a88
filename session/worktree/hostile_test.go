package worktree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hostile is a repository that tries to run something in every way that a
// repository has. Each way leaves a marker file of its own when it succeeds.
type hostile struct {
	dir, markers string
}

// ways lists the markers that plain git leaves when it adds a worktree.
var ways = []string{
	"hook-post-checkout", "hook-reference-transaction", "hook-post-index-change",
	"fsmonitor", "filter-smudge", "filter-included", "filter-info",
}

func newHostile(t *testing.T) hostile {
	t.Helper()
	h := hostile{dir: newRepository(t), markers: t.TempDir()}
	write(t, h.dir, ".gitattributes", "*.txt filter=evil\n*.late filter=late\n")
	write(t, h.dir, "note.late", "late\n")
	write(t, h.dir, "note.info", "info\n")
	git(t, h.dir, "add", ".")
	git(t, h.dir, "commit", "-q", "-m", "attributes")

	for _, way := range ways {
		if hook, ok := strings.CutPrefix(way, "hook-"); ok {
			script(t, filepath.Join(h.dir, ".git", "hooks", hook), h.touch(way))
		}
	}
	script(t, filepath.Join(h.dir, ".git", "monitor"), h.touch("fsmonitor"))
	write(t, h.dir, ".git/info/attributes", "*.info filter=infoed\n")
	write(t, h.dir, ".git/late", fmt.Sprintf("[filter \"late\"]\n\tsmudge = \"%s; cat\"\n", h.touch("filter-included")))
	git(t, h.dir, "config", "core.fsmonitor", filepath.Join(h.dir, ".git", "monitor"))
	git(t, h.dir, "config", "filter.evil.smudge", h.touch("filter-smudge")+"; cat")
	git(t, h.dir, "config", "filter.infoed.smudge", h.touch("filter-info")+"; cat")
	git(t, h.dir, "config", "submodule.recurse", "true")
	// Only the new worktree meets this include: whoever lists the filters of the
	// repository beforehand does not see it.
	git(t, h.dir, "config", "includeIf.gitdir:**/worktrees/**.path", filepath.Join(h.dir, ".git", "late"))
	h.forget(t)
	return h
}

func (h hostile) touch(way string) string { return "touch " + filepath.Join(h.markers, way) }

// ran lists what has left a marker.
func (h hostile) ran(t *testing.T) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(h.markers)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, e := range entries {
		ran[e.Name()] = true
	}
	return ran
}

func (h hostile) forget(t *testing.T) {
	t.Helper()
	for way := range h.ran(t) {
		if err := os.Remove(filepath.Join(h.markers, way)); err != nil {
			t.Fatal(err)
		}
	}
}

// newRepository makes a repository with one commit on branch main.
func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, "note.txt", "hello\n")
	write(t, dir, "sub/run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(dir, "sub/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

// git runs plain git, as a person would, with no configuration of the machine.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, path, command string) {
	t.Helper()
	write(t, filepath.Dir(path), filepath.Base(path), "#!/bin/sh\n"+command+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// try runs plain git and returns its output however it ended.
func try(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, _ := cmd.CombinedOutput() // the caller looks at what came of it
	return strings.TrimSpace(string(out))
}
