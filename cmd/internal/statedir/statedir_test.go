package statedir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"world/cmd/internal/statedir"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

func TestANameIsDrawnOnce(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	names := make([]store.HomeID, 8)
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() {
			name, err := statedir.Name(dir)
			if err != nil {
				t.Error(err)
			}
			names[i] = name
		})
	}
	all.Wait()
	for _, name := range names {
		if name == "" || name != names[0] {
			t.Errorf("names %v", names)
		}
	}
	if name, err := statedir.Name(other); err != nil || name == names[0] {
		t.Errorf("another directory is %s, %v", name, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("left behind: %v, %v", entries, err)
	}
	path := filepath.Join(dir, entries[0].Name())
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, damage := range []string{"", "a b\n", strings.Repeat("a", 65), strings.Repeat("a", 1<<20)} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := statedir.Name(dir); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%.10q: %v", damage, err)
		}
	}
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := statedir.Name(dir); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a pipe that nobody writes: %v", err)
	}
	if _, err := statedir.Name(filepath.Join(dir, "missing")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no directory: %v", err)
	}
}

func TestOneHoldsADirectory(t *testing.T) {
	dir := t.TempDir()
	lock, err := statedir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := statedir.Lock(dir); !fault.Is(err, fault.Locked) {
		t.Errorf("a second lock: %v", err)
	}
	lock.Close()
	again, err := statedir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestWhatIsRemembered(t *testing.T) {
	dir := t.TempDir()
	w := coordtest.New(t, nil, nil)
	want := func(what, says string, s store.Reader) {
		t.Helper()
		lost, err := statedir.Rollback(t.Context(), dir, s)
		if err != nil || !strings.Contains(lost, says) || (lost == "") != (says == "") {
			t.Errorf("%s: %q, %v", what, lost, err)
		}
	}
	remember := func(s store.Reader) {
		t.Helper()
		if err := statedir.Remember(t.Context(), dir, s); err != nil {
			t.Fatal(err)
		}
	}
	want("nothing remembered", "", w.Store)
	want("no store, and nothing remembered", "", nil)
	w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	remember(w.Store)
	want("the same store", "", w.Store)
	w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	want("a store that went on", "", w.Store)
	want("no store", "the store is empty", nil)
	other := coordtest.New(t, nil, nil)
	want("another world", "another world", other.Store)
	remember(other.Store)
	want("the world before", "another world", w.Store)
	for _, damage := range []string{"", "{}", `{"world":"a","index":0}`} {
		if err := os.WriteFile(filepath.Join(dir, "last-entry"), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := statedir.Rollback(t.Context(), dir, w.Store); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%q: %v", damage, err)
		}
	}
}
