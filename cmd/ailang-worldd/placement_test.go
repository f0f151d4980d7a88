package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/confine/confinetest"
	"world/fault"
)

// at builds a layout below dir.
func at(t *testing.T, dir, db, state, workspaces string) layout {
	t.Helper()
	join := func(p string) string {
		if p == "" {
			return ""
		}
		return filepath.Join(dir, p)
	}
	l, err := newLayout(join(db), join(state), join(workspaces))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPlacement(t *testing.T) {
	for _, c := range []struct {
		name, db, state, workspaces string
		refused                     bool
	}{
		{"side by side", "s/world.db", "s", "ws", false},
		{"a name that begins alike", "ws-state/world.db", "", "ws", false},
		{"workspaces in the state", "s/world.db", "s", "s/ws", false},
		{"no workspaces", "s/world.db", "s", "", false},
		{"state by default", "s/world.db", "", "s", true},
		{"the same directory", "ws/world.db", "ws", "ws", true},
		{"the store within", "ws/deep/world.db", "s", "ws", true},
		{"the state within", "s/world.db", "ws/state", "ws", true},
		{"the state within, by dots", "s/world.db", "other/../ws/state", "ws", true},
		{"everything within", "s/world.db", "s", ".", true},
	} {
		l := at(t, t.TempDir(), c.db, c.state, c.workspaces)
		if err := l.check(); fault.Is(err, fault.Denied) != c.refused {
			t.Errorf("%s: %v, refused should be %v", c.name, err, c.refused)
		}
	}
}

func TestPlacementFollowsLinks(t *testing.T) {
	for name, link := range map[string]struct{ from, to string }{
		"the state is a link into the workspaces":   {"s", "ws"},
		"the archive is a link into the workspaces": {"s/archive", "ws"},
		"the workspaces are a link to the state":    {"ws2", "s"},
		"the store is a link into the workspaces":   {"s/world.db", "ws/file"},
		"the archive is a link to nothing":          {"s/archive", "nowhere"},
	} {
		dir := t.TempDir()
		for _, d := range []string{"ws", filepath.Dir(link.from)} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if link.from == "ws2" {
			if err := os.Mkdir(filepath.Join(dir, "s"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "ws/file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, link.to), filepath.Join(dir, link.from)); err != nil {
			t.Fatal(err)
		}
		root := "ws"
		if link.from == "ws2" {
			root = "ws2"
		}
		if err := at(t, dir, "s/world.db", "s", root).check(); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

func TestMadeDirectoriesAreOnesOwn(t *testing.T) {
	l := at(t, confinetest.Dir(t), "a/b/world.db", "s", "ws")
	defer syscall.Umask(syscall.Umask(0o077)) // which the workspace root is made in spite of
	if err := l.make(); err != nil {
		t.Fatal(err)
	}
	for dir, mode := range map[string]os.FileMode{
		filepath.Dir(l.db.File()): 0o700, l.state: 0o700, l.archive(): 0o700, l.policies(): 0o700, l.workspaces: 0o711,
	} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %o", dir, info, err, mode)
		}
	}
	if err := os.Chmod(l.state, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := l.make(); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "the state directory") {
		t.Errorf("a state directory that others may write: %v", err)
	}
	if err := os.Chmod(l.state, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.make(); err != nil {
		t.Errorf("a state directory that others may read: %v", err)
	}
}

// A workspace root that cannot serve is refused before anything is made, and what
// was made of it is taken away.
func TestAWorkspaceRootIsRefusedFirst(t *testing.T) {
	for name, row := range map[string]struct {
		workspaces, says string
		prepare          func(dir string) error
	}{
		"nothing above it":          {"typo/ws", "/typo, where it would be made, is not either", nil},
		"within the store's folder": {"a/b/ws", "/a/b, where it would be made, is not either", nil},
		"a file":                    {"file", "file is not a directory", func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), nil, 0o600) }},
		"one that others may write": {"ws", "no other may write it", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "ws"), 0o700), os.Chmod(filepath.Join(dir, "ws"), 0o777))
		}},
		"below a file": {"file/ws", "cannot be made", func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), nil, 0o600) }},
	} {
		dir := confinetest.Dir(t)
		if row.prepare != nil {
			if err := row.prepare(dir); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadDir(dir)
		l := at(t, dir, "a/b/world.db", "s", row.workspaces)
		if err := l.make(); err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(startupText(err), "\n") {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
		if after, _ := os.ReadDir(dir); len(after) != len(before) {
			t.Errorf("%s: made all the same: %v", name, after)
		}
	}
	if os.Geteuid() != 0 {
		return // programs run as this user, whom nothing keeps out
	}
	dir := confinetest.Dir(t)
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := at(t, dir, "a/b/world.db", "s", "closed/ws")
	if err := l.make(); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "it needs mode o+x") {
		t.Errorf("a closed folder: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	inside, _ := os.ReadDir(filepath.Join(dir, "closed"))
	if len(entries) != 1 || len(inside) != 0 {
		t.Errorf("made all the same: %v, %v", entries, inside)
	}
	if err := os.Chmod(filepath.Join(dir, "closed"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := l.make(); err != nil {
		t.Errorf("an open folder: %v", err)
	}
}

func TestPathsWithControlCharactersAreRefused(t *testing.T) {
	if _, err := newLayout("/a/b\n.db", "", ""); !fault.Is(err, fault.Invalid) {
		t.Errorf("a line break in --db: %v", err)
	}
	if _, err := newLayout("", "/s", ""); !fault.Is(err, fault.Invalid) {
		t.Errorf("no --db: %v", err)
	}
}

// TestRootsThatNoPolicyHolds are refused before anything is served from there.
func TestRootsThatNoPolicyHolds(t *testing.T) {
	for root, good := range map[string]bool{"/a/ws": true, "/a/w s": true, `/a/w"s`: false, `/a/w\s`: false, "/a/w\u202es": false, "/a/w\xffs": false} {
		if _, err := newLayout("/a/w.db", "", root); (err == nil) != good || !good && !fault.Is(err, fault.Invalid) {
			t.Errorf("--workspace-root %q: %v", root, err)
		}
	}
}
