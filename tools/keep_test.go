package tools

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"world/confine"
	"world/fault"
	"world/store"
	"world/tools/policy"
)

// keptIn names what lies in a folder.
func keptIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestForgetPolicies takes all of an episode's policies and nobody else's.
func TestForgetPolicies(t *testing.T) {
	d := newDesk(t, confine.Landlock, "")
	state := filepath.Join(d.base, "state")
	for _, name := range []string{
		"ep-1", order{caps: []string{"Env"}}.policyName("ep-1"), order{caps: []string{"IO", "Net"}}.policyName("ep-1"),
		"ep-10", order{caps: []string{"Env"}}.policyName("ep-10"), "ep", "x-ep-1",
	} {
		if _, err := d.handler.keepPolicy(name, policy.For(d.worktree)); err != nil {
			t.Fatal(err)
		}
	}
	if kept := keptIn(t, d.handler.policies); len(kept) != 7 {
		t.Fatalf("%v are kept", kept)
	}
	for range 2 { // there may be none
		if err := ForgetPolicies(state, "ep-1"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"ep-10.run-Env.toml", "ep-10.toml", "ep.toml", "x-ep-1.toml"}
	if kept := keptIn(t, d.handler.policies); !slices.Equal(kept, want) {
		t.Errorf("%v are kept, want %v", kept, want)
	}
	for _, name := range []store.EpisodeID{"", "..", "*", "ep-1/../ep"} {
		if err := ForgetPolicies(state, name); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := ForgetPolicies(t.TempDir(), "ep-1"); err != nil {
		t.Errorf("a state directory that has had no calls: %v", err)
	}
	if err := os.Mkdir(filepath.Join(d.handler.policies, "ep-2.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.handler.policies, "ep-2.toml", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ForgetPolicies(state, "ep-2"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("what cannot be removed: %v", err)
	}
}
