package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/capsule"
	"world/fault/await"
	"world/store"
)

// TestForgetEndsWhatWaits: when an episode ends, nothing waits for its next call, also
// where the workspace root is reached by a link; what waits for another episode stays.
func TestForgetEndsWhatWaits(t *testing.T) {
	jail, err := confine.New(confine.Options{Stage: confinetest.Image(t, confinetest.WorldTool), Workers: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jail.Close() })
	dir := confinetest.Dir(t)
	root, link := filepath.Join(dir, "root"), filepath.Join(dir, "link")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	waits := func(episode string) bool {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if b, err := os.ReadFile(line); err == nil && strings.Contains(string(b), filepath.Join(root, episode)) {
				return true
			}
		}
		return false
	}
	for _, episode := range []string{"ends", "stays"} {
		worktree := filepath.Join(root, episode)
		if err := os.Mkdir(worktree, 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := jail.Run(t.Context(), confine.Spec{
			Args: []string{capsule.Verb}, Stdin: capsule.EncodeRequest([]byte("def main(a): return a"), []byte("x")),
			Worktree: worktree, User: confine.UserOf(episode), Warm: true,
			Limits: confine.Limits{Wall: 10 * time.Second, CPU: 10 * time.Second, Memory: 256 << 20, FileSize: 1, Files: 16, Processes: 64, Output: 64, Scratch: 1 << 16},
		})
		if err != nil || string(got.Stdout) != "x" {
			t.Fatalf("%+v, %v", got, err)
		}
		await.That(t, "the next one waits", func() bool { return waits(episode) })
	}
	d := &boot{jail: jail, layout: layout{workspaces: link}}
	for _, episode := range []store.EpisodeID{"ends", "never-was"} {
		if err := d.forget(episode); err != nil {
			t.Error(err)
		}
	}
	await.That(t, "it is dead", func() bool { return !waits("ends") })
	if !waits("stays") {
		t.Error("what waits for another episode is gone")
	}
}
