package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// TestTwins keeps objects whose hashes start alike, as nobody finds them by chance:
// each is found by its own hash, once, however often it comes.
func TestTwins(t *testing.T) {
	s := openInternal(t)
	ctx := t.Context()
	twin := func(n byte) store.StoredObject {
		sum := [32]byte{1, 2, 3, 4, 5, 6, 7, 8, n}
		return store.StoredObject{Ref: store.RefFromSum(sum), Bytes: []byte{n}, Labels: []store.Label{{SemanticID: fmt.Sprint("twin ", n), Provenance: "test"}}}
	}
	if err := s.SetSeal(ctx, store.Unsealed, store.Filling); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Put(ctx, store.Rows{Objects: []store.StoredObject{twin(1), twin(2), twin(3), twin(1)}}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range byte(4) {
		labels, err := s.Labels(ctx, twin(n).Ref)
		if n == 0 {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("a hash that nothing has: %v, %v", labels, err)
			}
			continue
		}
		if err != nil || len(labels) != 1 || labels[0] != twin(n).Labels[0] {
			t.Errorf("twin %d: %v, %v", n, labels, err)
		}
	}
	if n := count(t, s, "SELECT count(*) FROM objects"); n != 3 {
		t.Errorf("three objects are stored as %d", n)
	}
	for _, tt := range []struct{ change, found string }{
		{"", ""},
		{"UPDATE objects SET twin = 7 WHERE twin = 2", "is not the twin of another"},
		{"INSERT INTO objects SELECT 99, hash, semantic_id, provenance, digest, about, 3, bytes FROM objects WHERE twin = 0", "is stored twice"},
	} {
		undo := besides(t, s, tt.change)
		lines := engineLines(t, s)
		undo()
		if tt.found == "" && lines != "" || !strings.Contains(lines, tt.found) {
			t.Errorf("after %q the audit says %q", tt.change, lines)
		}
	}
}

func count(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	err := s.readers.read(t.Context(), "test", func(c *conn) error {
		_, err := c.row(func(row rows.Scanner) error { return row.Scan(&n) }, query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// besides runs a statement beside the writer and returns what takes it back.
func besides(t *testing.T, s *Store, statement string) func() {
	t.Helper()
	if statement == "" {
		return func() {}
	}
	run := func(statements string) {
		t.Helper()
		c, err := connect(s.path, readWrite)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		if err := c.script(statements); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE saved AS SELECT * FROM objects; " + statement)
	return func() { run("DELETE FROM objects; INSERT INTO objects SELECT * FROM saved; DROP TABLE saved") }
}

func engineLines(t *testing.T, s *Store) string {
	t.Helper()
	a, err := s.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	lines, err := a.Engine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), `table "saved" does not belong here`, "")
}
