package tools

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"world/coordinator/registry"
	"world/store"
	"world/store/fsck"
	"world/store/sqlite"
)

// TestAnOlderStoreGetsTheNewTools upgrades a registry that an older build of three
// file tools has begun, and one transition of an operator's own (D30).
func TestAnOlderStoreGetsTheNewTools(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	older, newer := []byte("an older world-tool"), []byte("this build's world-tool")
	theirs := builtin(t, "ailang-read")
	theirs.ID = "their-own"
	begun := []registry.Builtin{builtin(t, "ailang-edit"), builtin(t, "ailang-read"), builtin(t, "ailang-write"), theirs}
	begun[1].Source = []byte("def main(input):\n    return \"{}\"\n")
	if _, err := registry.Bootstrap(t.Context(), s, begun, older, 1_700_000_000); err != nil {
		t.Fatal(err)
	}
	// Serving alone changes nothing and says what differs.
	report, err := registry.Bootstrap(t.Context(), s, Builtins(), newer, 1_700_000_001)
	if err != nil || report.Began {
		t.Fatalf("%+v, %v", report, err)
	}
	want := "[{ailang-check []} {ailang-cli []} {ailang-edit [interpreter]} {ailang-read [source interpreter]} {ailang-run []} " +
		"{ailang-write [interpreter]} {builtins-search []} {examples-search []} {workspace-list []} {workspace-search []}]"
	if got := fmt.Sprint(report.Differ); got != want {
		t.Errorf("differs %s", got)
	}
	if current, err := registry.Current(t.Context(), s); err != nil || len(current.Entries) != 4 {
		t.Errorf("serving changed the registry: %d, %v", len(current.Entries), err)
	}
	revision, changed, err := registry.Upgrade(t.Context(), s, Builtins(), newer, 1_700_000_002)
	if err != nil || !changed || revision.Revision != 2 {
		t.Fatalf("%+v, %v, %v", revision, changed, err)
	}
	current, err := registry.Current(t.Context(), s)
	if err != nil || len(current.Entries) != 11 {
		t.Fatalf("%d, %v", len(current.Entries), err)
	}
	for _, d := range current.Entries {
		ours := slices.ContainsFunc(Builtins(), func(b registry.Builtin) bool { return b.ID == d.ID })
		if pinned := d.Interpreter == store.RefOf(newer); pinned != ours {
			t.Errorf("%s runs on %s", d.ID, d.Interpreter)
		}
	}
	if differ, err := registry.Differences(t.Context(), s, Builtins(), store.RefOf(newer)); err != nil || len(differ) != 0 {
		t.Errorf("after the upgrade %v, %v", differ, err)
	}
	if findings, err := fsck.Run(t.Context(), s, fsck.Options{}); err != nil || len(findings.Findings) != 0 {
		t.Errorf("%+v, %v", findings, err)
	}
}
