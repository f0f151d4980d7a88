package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/sqlite"
)

// TestTakenAway cuts the file off under an audit, which reads it as memory: what is
// no longer there is said as damage, and neither process nor audit dies of it.
func TestTakenAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	const objects = 300
	var last store.Ref
	for i := range objects {
		last = keep(t, s, strings.Repeat(fmt.Sprint(i, " "), 500))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	from := open(t, path, sqlite.Options{ReadOnly: true, Readers: 1})
	a, err := from.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	count := func() (n int, err error) {
		return n, a.Objects(t.Context(), func(store.Row[store.StoredObject]) error { n++; return nil })
	}
	if n, err := count(); n != objects || err != nil {
		t.Fatalf("%d objects of %d, %v", n, objects, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2&^0xffff); err != nil {
		t.Fatal(err)
	}
	if n, err := count(); !fault.Is(err, fault.Corrupt) || n == 0 || n >= objects {
		t.Fatalf("%d objects of %d, %v", n, objects, err)
	}
	if _, err := a.Object(t.Context(), last); !fault.Is(err, fault.Corrupt) {
		t.Fatalf("the last object: %v", err)
	}
	if lines, err := a.Engine(t.Context()); !fault.Is(err, fault.Corrupt) && len(lines) == 0 {
		t.Fatalf("the engine finds %q, %v", lines, err)
	}
}
