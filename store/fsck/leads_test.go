package fsck_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLeads changes the numbers by which rows lead to other rows, which carry no
// digest because they can be told from those: to none, and to another row.
func TestLeads(t *testing.T) {
	sp := newSpecimen(t)
	path := filepath.Join(t.TempDir(), "world.db")
	const pure = "ordinal = -1 AND entry = (SELECT max(entry) FROM claims)"
	for _, c := range []struct{ statement, says string }{
		{"UPDATE objects SET about = -1 WHERE about = 9", "is not known as what log 9 is about"},
		{"UPDATE objects SET about = 10 WHERE about = 9", "is not known as what log 9 is about"},
		{"UPDATE objects SET about = 10 WHERE about = 9", "is known for log 10, which is about another"},
		{"UPDATE objects SET about = 3000 WHERE about = 9", "is known for log 3000, which is about another"},
		{"UPDATE claims SET entry = -1 WHERE " + pure, "does not lead to its entry, log"},
		{"UPDATE claims SET entry = entry - 1 WHERE " + pure, "leads to the entry of another call"},
		{"UPDATE intents SET entry = -1 WHERE ordinal = 1", "does not lead to its entry, log"},
		{"UPDATE intents SET entry = entry - 1 WHERE ordinal = 1", "leads to the entry of another call"},
		{"UPDATE unsettled SET entry = -1 WHERE entry >= 0", "does not lead to its entry, log"},
		{"UPDATE claims SET ordinal = -1 WHERE ordinal = 1", "does not lead to its intent"},
		{"UPDATE claims SET ordinal = 2 WHERE ordinal = 1", "leads to the intent of another call"},
		{"UPDATE spend SET ordinal = ordinal - 1", "does not lead to its last intent"},
	} {
		sp.copyTo(t, path, func([]byte) {})
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		res, err := db.Exec(c.statement)
		if err != nil {
			t.Fatalf("%s: %v", c.statement, err)
		}
		if n, _ := res.RowsAffected(); n == 0 {
			t.Fatalf("%s changed nothing", c.statement)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		_, found := sp.examine(t.Context(), path)
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "engine: ") && strings.Contains(f, c.says) }) {
			t.Errorf("%s: no finding says %q: %q", c.statement, c.says, found)
		}
	}
}
