package worktree_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"world/confine"
	"world/confine/confinetest"
	"world/session/worktree"
)

// closed is a worktree in which a program closed a file, a folder and a file of
// the commit to its own user, and beside them left a link to a closed file outside.
func closed(t *testing.T) (w worktree.Worktree, outside string) {
	t.Helper()
	r := reachableRoot(t)
	w, err := r.Add(t.Context(), worktree.Request{Repository: newRepository(t), Episode: user})
	if err != nil {
		t.Fatal(err)
	}
	if w, err = r.Find(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, "nr", "1\n")
	write(t, w.Path, "raw\xff/in", "1\n")
	write(t, w.Path, "shut/in", "1\n2\n")
	write(t, w.Path, "note.txt", "hello\nagain\n")
	outside = filepath.Join(string(r), "outside")
	write(t, string(r), "outside", "secret\n")
	if err := os.Symlink(outside, filepath.Join(w.Path, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nr", "raw\xff/in", "raw\xff", "shut/in", "shut", "note.txt", "../outside"} {
		at := filepath.Join(w.Path, name)
		if confine.HandOver(at, confine.OfWorktree(w.Path)) != nil || os.Chmod(at, 0) != nil {
			t.Fatal(at)
		}
	}
	return w, outside
}

// TestWhatIsClosedIsCompared: a file and a folder of mode 0 do not make what has
// changed unknown, and are read no further than the worktree goes.
func TestWhatIsClosedIsCompared(t *testing.T) {
	w, outside := closed(t)
	changes, err := w.Changes(t.Context(), confinetest.Jail(t, 0), confine.OfWorktree(w.Path))
	want := []worktree.Change{
		{Path: "note.txt", Added: 1}, {Path: "link", Added: 1, New: true}, {Path: "nr", Added: 1, New: true}, {Path: "raw\xff/in", Added: 1, New: true}, {Path: "shut/in", Added: 2, New: true},
	}
	if err != nil || changes.More || !slices.Equal(changes.List, want) {
		t.Errorf("got %+v, %v, want %+v", changes, err, want)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode() != 0 {
		t.Errorf("a file behind a link has been opened: %v, %v", info, err)
	}
	for name, want := range map[string]os.FileMode{"nr": 0o400, "shut": os.ModeDir | 0o700, "shut/in": 0o400} {
		if info, err := os.Lstat(filepath.Join(w.Path, name)); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, want %v; %v", name, info.Mode(), want, err)
		}
	}
}

func TestWhatIsClosedIsHandedBack(t *testing.T) {
	w, _ := closed(t)
	if err := w.HandBack(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(w.Path, "shut/in")); err != nil || string(text) != "1\n2\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWhatIsClosedIsDiscarded(t *testing.T) {
	w, outside := closed(t)
	if err := w.Discard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(w.Path); !os.IsNotExist(err) {
		t.Errorf("the worktree is still there: %v", err)
	}
	if _, err := os.Lstat(outside); err != nil {
		t.Errorf("a file behind a link is gone: %v", err)
	}
}

// An ordinary user is no more than the owner of what he must open.
func TestWhatIsClosedToAnOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^TestWhatIsClosedIs", confinetest.WorldTool)
}
