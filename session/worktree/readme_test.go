package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"world/session/worktree"
)

// The commands by which the README takes an agent's work over do so, as they
// stand there.
func TestTheReadmeTakesWorkOver(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands string
	for i, part := range strings.Split(string(readme), "```") {
		if i%2 == 1 && strings.HasPrefix(part, "sh\ngit -C ") {
			commands += strings.TrimPrefix(part, "sh\n")
		}
	}
	repository := newRepository(t)
	w, err := root(t).Add(t.Context(), worktree.Request{Repository: repository, Episode: "my-episode"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, "answer.txt", "42\n")
	write(t, w.Path, "note.txt", "changed\n")
	for _, place := range []struct{ from, to string }{
		{"~/.ailang/world-ws/my-episode", w.Path}, {"~/my/project", repository}, {"git -C", "git -c safe.directory='*' -C"},
	} {
		if !strings.Contains(commands, place.from) {
			t.Fatalf("no %s in the commands %q", place.from, commands)
		}
		commands = strings.ReplaceAll(commands, place.from, place.to)
	}
	run := exec.Command("sh", "-e", "-c", commands)
	run.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s\n%s", err, commands, out)
	}
	if !strings.Contains(string(out), "+changed") || !strings.Contains(string(out), "+42") {
		t.Errorf("what changed, or what is new, is not shown:\n%s", out)
	}
	for name, want := range map[string]string{"answer.txt": "42\n", "note.txt": "changed\n"} {
		if got, err := os.ReadFile(filepath.Join(repository, name)); err != nil || string(got) != want {
			t.Errorf("%s in the repository: %q, %v", name, got, err)
		}
	}
}
