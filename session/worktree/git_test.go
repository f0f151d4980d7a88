package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"world/fault"
)

// What guards every run of git is not left to the command's kindness: status,
// which asks the monitor, and commit-tree with update-ref, which have a hook, run
// nothing of the repository either.
func TestTheToolItselfRunsNothingOfARepository(t *testing.T) {
	plain := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	dir, marker := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	plain(dir, "init", "-q", "-b", "main")
	plain(dir, "commit", "-q", "--allow-empty", "-m", "one")
	script := filepath.Join(dir, ".git", "hooks", "reference-transaction")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain(dir, "config", "core.fsmonitor", script)
	commands := [][]string{{"status"}, {"update-ref", "refs/heads/x", "HEAD"}}
	for _, args := range commands {
		os.Remove(marker)
		plain(dir, args...)
		if _, err := os.Stat(marker); err != nil {
			t.Errorf("plain git %s ran nothing: the test shows nothing about it", args[0])
		}
	}
	os.Remove(marker)
	plain(dir, "update-ref", "-d", "refs/heads/x")
	os.Remove(marker)
	for _, args := range commands {
		if _, err := (tool{repository: dir}).run(t.Context(), append([]string{"-C", dir}, args...)...); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(marker); err == nil {
			t.Errorf("git %s ran something", args[0])
		}
	}
}

func TestFillWritesIntoNoOtherRepository(t *testing.T) {
	path, common := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(path, ".git"), []byte("gitdir: "+t.TempDir()+"/worktrees/ep\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := Worktree{Path: path, common: common, Commit: "0000000000000000000000000000000000000000"}
	if err := w.fill(t.Context()); !fault.Is(err, fault.Failed) || fault.Detail(err) != "the new worktree belongs to another repository" {
		t.Errorf("got %v", err)
	}
}

func TestReasonIsOneHarmlessLine(t *testing.T) {
	for stderr, want := range map[string]string{
		"":                                 "no reason given",
		"Preparing\nfatal: it is so\nmore": "it is so",
		"hint: a\n\nerror: b\n":            "error: b",
		"fatal: a\x1b[2Jb\x07c\u009bd\n":   "a[2Jbcd",
	} {
		if got := reason(stderr); got != want {
			t.Errorf("%q: got %q, want %q", stderr, got, want)
		}
	}
}
