package fsck_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"world/store/fsck"
	"world/store/sqlite"
)

// TestBroken tells damage to chain, head and spend, on which nothing may be built,
// from damage of which one need only know: both by a check of everything and by
// that at start.
func TestBroken(t *testing.T) {
	sp := newSpecimen(t)
	path := filepath.Join(t.TempDir(), "world.db")
	for _, c := range []struct {
		statement string
		broken    bool
	}{
		{"UPDATE log SET written_by = 'another' WHERE idx = 9", true},
		{"DELETE FROM log WHERE idx = 9", true},
		{"UPDATE head SET idx = idx - 1", true},
		{"DELETE FROM head", true},
		{"UPDATE spend SET total = total + 1", true},
		{"DELETE FROM intents WHERE ordinal = 1", true},
		{"DELETE FROM unsettled WHERE ordinal = 3", true},
		{"UPDATE intents SET ordinal = 1000 WHERE ordinal = 5", true},
		{"UPDATE objects SET bytes = x'00' WHERE seq = (SELECT max(seq) FROM objects)", false},
		{"UPDATE claims SET at = at + 1", false},
		{"DELETE FROM claims", false},
		{"UPDATE clock SET at = at + 1", false},
	} {
		sp.copyTo(t, path, func([]byte) {})
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(c.statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		all, err := fsck.Run(t.Context(), s, fsck.Options{})
		if err != nil || all.Clean() || all.Broken != c.broken {
			t.Errorf("%s: broken %v of %v, %v", c.statement, all.Broken, all.Findings, err)
		}
		newest, err := fsck.Recent(t.Context(), s)
		if err != nil || newest.Clean() || newest.Broken != c.broken {
			t.Errorf("%s at start: broken %v of %v, %v", c.statement, newest.Broken, newest.Findings, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
