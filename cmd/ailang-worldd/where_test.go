package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestADaemonForgetsAnEndedEpisode: its desk removes that episode's policies; the
// command line's own desk, which may know of no state directory, leaves all as it is.
func TestADaemonForgetsAnEndedEpisode(t *testing.T) {
	d := boot{layout: layout{state: t.TempDir()}}
	file := func(name string) string { return filepath.Join(d.layout.policies(), name) }
	if err := os.Mkdir(d.layout.policies(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ep.toml", "ep.run-Env.toml", "other.toml"} {
		if err := os.WriteFile(file(name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(d.layout.state) // nor is what lies where it was started its business
	if err := (layout{}).forget("ep"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(file("ep.toml")); err != nil {
		t.Fatal(err)
	}
	if err := d.desk().Forget("ep"); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"ep.toml": false, "ep.run-Env.toml": false, "other.toml": true} {
		if _, err := os.Lstat(file(name)); os.IsNotExist(err) == stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
