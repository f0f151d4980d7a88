package sqlite_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/fault"
	"world/store/sqlite"
)

// elsewhere opens a store for writing in another process, which says why it cannot.
func elsewhere(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimPath+"="+path)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("another process opens the store: %s", out)
	}
	return string(out)
}

// A file has one writer under all its names, and without its lock file too.
func TestOneWriterOfTheFileItself(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "world.db"), filepath.Join(t.TempDir(), "linked.db")
	s := open(t, path, sqlite.Options{})
	ref := keep(t, s, "kept")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	const says = "locked: another process writes linked.db, by another name of the file or with its linked.db.writer.lock removed"
	if err := wantRefused(t, link, sqlite.Options{}, fault.Locked); fault.Public(err) != says {
		t.Errorf("a link in this process: %v", err)
	}
	if out := elsewhere(t, link); !strings.Contains(out, says) {
		t.Errorf("a link in another process: %s", out)
	}
	if _, err := os.Stat(link + ".writer.lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused writer left its lock behind: %v", err)
	}
	if err := os.Remove(path + ".writer.lock"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first one does not free what the second one finds
		wantRefused(t, path, sqlite.Options{}, fault.Locked)
		if out := elsewhere(t, path); !strings.Contains(out, "with its world.db.writer.lock removed") {
			t.Errorf("another process: %s", out)
		}
	}
	// The writer writes on, and readers come and go.
	for range 2 {
		reader, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Object(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
		keep(t, s, "more")
		wantRefused(t, path, sqlite.Options{}, fault.Locked)
	}
	reader := open(t, path, sqlite.Options{ReadOnly: true})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, sqlite.Options{}) // control: the lock is free, beside a reader too
	keep(t, again, "after")
	if _, err := reader.Object(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

// What a refused path leaves behind is what was there.
func TestARefusedPathKeepsNoLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil {
		t.Fatal("notes are a store")
	}
	wantRefused(t, dir, sqlite.Options{}, fault.NotFound)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, pipe, sqlite.Options{}, fault.NotFound)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := os.Stat(dir + ".writer.lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left beside the folder: %v", err)
	}
	// A lock that was there stays.
	lock := path + ".writer.lock"
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil {
		t.Fatal("notes are a store")
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
}

// A lock file that is a pipe is not waited for.
func TestALockThatIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	ref := keep(t, s, "kept")
	if err := errors.Join(s.Close(), os.Remove(path+".writer.lock"), syscall.Mkfifo(path+".writer.lock", 0o600)); err != nil {
		t.Fatal(err)
	}
	reader := open(t, path, sqlite.Options{ReadOnly: true})
	if _, err := reader.Object(t.Context(), ref); err != nil {
		t.Error(err)
	}
	if _, err := reader.Indeterminate(t.Context(), 10); err != nil {
		t.Error(err)
	}
}
