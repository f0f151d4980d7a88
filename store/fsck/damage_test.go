package fsck_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/fsck"
	"world/store/sqlite"
)

// specimen is a populated store that is closed, so that its file can be changed.
type specimen struct {
	path string
	refs []store.Ref
	ids  []store.InvocationID
	dump string
}

func newSpecimen(t *testing.T) specimen {
	t.Helper()
	w := newWorld(t)
	w.populate()
	sp := specimen{path: w.path}
	a, err := w.Audit(w.ctx)
	w.ok(err)
	w.ok(a.Objects(w.ctx, func(r store.Row[store.StoredObject]) error { sp.refs = append(sp.refs, r.Value.Ref); return nil }))
	w.ok(a.Close())
	for i := range w.calls + 1 {
		sp.ids = append(sp.ids, store.NewInvocationID(store.SurfaceMCP, episode, fmt.Sprint("task-", i)))
	}
	w.ok(w.Close())
	s, err := sqlite.Open(w.ctx, w.path, sqlite.Options{ReadOnly: true})
	w.ok(err)
	defer s.Close()
	sp.dump = dump(w.ctx, s, sp.refs, sp.ids)
	return sp
}

// examine opens a copy and reports whether it reads back something else, what
// fsck finds, and what opening refused.
func (sp specimen) examine(ctx context.Context, path string) (differs bool, found []string) {
	s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true, Readers: 1})
	if err != nil {
		if kind := fault.KindOf(err); kind != fault.Corrupt && kind != fault.Version {
			return true, nil // refused, and not as damaged
		}
		return true, []string{"refused: " + err.Error()}
	}
	defer s.Close()
	differs = dump(ctx, s, sp.refs, sp.ids) != sp.dump
	r, err := fsck.Run(ctx, s, fsck.Options{})
	if err != nil {
		return differs, []string{"refused: " + err.Error()}
	}
	for _, f := range r.Findings {
		found = append(found, f.String())
	}
	return differs, found
}

// copyTo makes a copy of the file with some bytes changed.
func (sp specimen) copyTo(t *testing.T, path string, change func(b []byte)) {
	t.Helper()
	b, err := os.ReadFile(sp.path)
	if err != nil {
		t.Fatal(err)
	}
	change(b)
	for _, old := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEveryColumn changes each column of each table in turn, all digests left as
// they were, and deletes rows.
func TestEveryColumn(t *testing.T) {
	sp := newSpecimen(t)
	path := filepath.Join(t.TempDir(), "world.db")
	ctx := t.Context()
	sp.copyTo(t, path, func([]byte) {})
	if differs, found := sp.examine(ctx, path); differs || len(found) > 0 {
		t.Fatalf("the untouched store differs: %v, findings %v", differs, found)
	}
	changed, same := 0, []string{}
	try := func(what, statement string, names func(db *sql.DB) []string) {
		t.Helper()
		sp.copyTo(t, path, func([]byte) {})
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=ignore_check_constraints(1)")
		if err != nil {
			t.Fatal(err)
		}
		row := names(db)
		res, err := db.Exec(statement)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n, _ := res.RowsAffected(); n == 0 {
			t.Fatalf("%s changed nothing", what)
		}
		row = append(row, names(db)...) // its key may be what was changed
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		changed++
		differs, found := sp.examine(ctx, path)
		if differs && len(found) == 0 {
			t.Errorf("%s: it reads back something else, and nothing was found", what)
		}
		if differs && !named(found, row) {
			t.Errorf("%s: no finding of %q in %q", what, row, found)
		}
		if !differs {
			same = append(same, what)
		}
	}
	for table, columns := range tables(t, sp.path) {
		for _, c := range columns {
			change := map[string]string{
				"INTEGER": "%[1]s + 1000", "TEXT": "%[1]s || 'x'",
				"BLOB": "CASE WHEN length(%[1]s) = 0 THEN zeroblob(32) ELSE CAST(substr(%[1]s, 2) || x'07' AS BLOB) END",
			}[c.kind]
			where := fmt.Sprintf("%s = (SELECT max(%s) FROM %s)", c.name, c.name, table)
			name := rowName(t, table, "lower(hex(hash))")
			try(table+" "+c.name, fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s", table, c.name, fmt.Sprintf(change, c.name), where),
				func(db *sql.DB) []string {
					return texts(t, db, fmt.Sprintf("SELECT %s FROM %s WHERE %s", name, table, where))
				})
		}
		if table == "labels" {
			continue // nothing says that an object had a further label
		}
		key := columns[0].name
		nothing := func(*sql.DB) []string { return nil }
		try(table+" newest row", fmt.Sprintf("DELETE FROM %s WHERE %s = (SELECT max(%s) FROM %s)", table, key, key, table), nothing)
		try(table+" rows", fmt.Sprintf("DELETE FROM %s", table), nothing)
	}
	// What nothing reads back may change unseen: the place of an object among
	// others, and what the engine keeps for itself.
	t.Logf("%d changes, of which these read back the same: %v", changed, same)
	if changed < 90 || len(same) > 8 {
		t.Fatalf("%d changes were tried, and %v read back the same", changed, same)
	}
}

// texts are what a query of one column returns.
func texts(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// rowName is an expression for what findings of a table's row hold, on either
// engine. A new table is to be named here before its columns count as checked.
func rowName(t *testing.T, table, hash string) string {
	t.Helper()
	name, known := map[string]string{
		"objects": hash, "log": "'log ' || idx", "head": "'head'", "clock": "'clock'",
		"claims": `'"' || invocation || '"'`, "intents": "'effect:' || episode || ':' || ordinal", "unsettled": "'effect:' || episode || ':' || ordinal", "spend": "'spend'",
		"leases": `'lease "' || episode || '"'`, "sessions": "'session ' || seq", "registry": `'registry "' || name || '"'`,
		"labels": "'label'", "meta": "key",
	}[table]
	if !known {
		t.Fatalf("how do findings name rows of %s?", table)
	}
	return name
}

// named reports whether a finding is of one of the rows, or there is none to name.
func named(found, rows []string) bool {
	return len(rows) == 0 || slices.ContainsFunc(found, func(f string) bool {
		return slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(f, row) })
	})
}

type column struct{ name, kind string }

// tables are the columns of every table in their order.
func tables(t *testing.T, path string) map[string][]column {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]column{}
	for rows.Next() {
		var table string
		var c column
		if err := rows.Scan(&table, &c.name, &c.kind); err != nil {
			t.Fatal(err)
		}
		all[table] = append(all[table], c)
	}
	return all
}

var (
	flips = flag.Int("flips", 700, "how many bytes of the file to change in turn")
	seed  = flag.Uint64("seed", 1, "what the bytes are drawn from")
)

// TestEveryByte changes single bytes of the file: all of the header, then a
// sample of the rest. Whatever then reads back something else must be named.
func TestEveryByte(t *testing.T) {
	sp := newSpecimen(t)
	t.Logf("seed %d, %d flips", *seed, *flips)
	info, err := os.Stat(sp.path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	path := filepath.Join(t.TempDir(), "world.db")
	differed := 0
	for i := range *flips {
		offset := int64(i)
		if i >= 100 {
			offset = random.Int64N(info.Size())
		}
		mask := byte(1) << random.IntN(8)
		if i%3 == 0 {
			mask = byte(1 + random.IntN(255))
		}
		sp.copyTo(t, path, func(b []byte) { b[offset] ^= mask })
		differs, found := sp.examine(t.Context(), path)
		if differs {
			differed++
		}
		if differs && len(found) == 0 {
			t.Errorf("byte %d ^ %#x: it reads back something else, and nothing was found", offset, mask)
		}
	}
	if differed < *flips/10 {
		t.Fatalf("only %d of %d changes made a difference", differed, *flips)
	}
}

// TestEveryByteOfTheLog kills a store whose world is mostly in the write-ahead
// log, and changes single bytes of that. What reads back something else must be
// named, but in the last transaction: that may be lost like one that a crash cut
// off, and then the head is an older one, which who remembers the newer one sees.
func TestEveryByteOfTheLog(t *testing.T) {
	w := newWorld(t)
	w.populate()
	head, err := w.Head(w.ctx)
	w.ok(err)
	sp := specimen{path: filepath.Join(t.TempDir(), "killed.db")}
	for _, suffix := range []string{"", "-wal"} {
		// Another process copies: reading the file here would end SQLite's locks.
		if out, err := exec.Command("cp", w.path+suffix, sp.path+suffix).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	a, err := w.Audit(w.ctx)
	w.ok(err)
	w.ok(a.Objects(w.ctx, func(r store.Row[store.StoredObject]) error { sp.refs = append(sp.refs, r.Value.Ref); return nil }))
	w.ok(a.Close())
	for i := range w.calls + 1 {
		sp.ids = append(sp.ids, store.NewInvocationID(store.SurfaceMCP, episode, fmt.Sprint("task-", i)))
	}
	w.ok(w.Close())
	s, err := sqlite.Open(w.ctx, sp.path, sqlite.Options{ReadOnly: true})
	w.ok(err)
	sp.dump = dump(w.ctx, s, sp.refs, sp.ids)
	w.ok(s.Close())
	log, err := os.ReadFile(sp.path + "-wal")
	w.ok(err)

	// Where the last transaction begins: behind the last commit but one.
	frame := 24 + int(binary.BigEndian.Uint32(log[8:]))
	var commits []int
	for at := 32; at < len(log); at += frame {
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			commits = append(commits, at)
		}
	}
	if len(commits) < 20 {
		t.Fatalf("the log holds only %d transactions", len(commits))
	}
	last := commits[len(commits)-2] + frame
	path := filepath.Join(t.TempDir(), "world.db")
	examine := func(offset int, mask byte) (differs bool, found []string) {
		sp.copyTo(t, path, func([]byte) {})
		changed := append([]byte{}, log...)
		changed[offset] ^= mask
		w.ok(os.WriteFile(path+"-wal", changed, 0o600))
		return sp.examine(t.Context(), path)
	}
	if differs, found := examine(0, 0); differs || len(found) > 0 {
		t.Fatalf("the untouched store differs: %v, findings %v", differs, found)
	}
	n := *flips / 5
	t.Logf("seed %d, %d flips of %d bytes in %d transactions", *seed, n, len(log), len(commits))
	random := rand.New(rand.NewPCG(*seed, 1))
	named, lost := 0, 0
	for i := range n {
		offset := random.IntN(len(log))
		switch {
		case i < 32: // all of the log's header
			offset = i
		case i < 56: // and of a frame's
			offset = commits[len(commits)/2] + i - 32
		case i < 80: // and much of the last transaction
			offset = last + random.IntN(len(log)-last)
		}
		mask := byte(1) << random.IntN(8)
		differs, found := examine(offset, mask)
		switch {
		case len(found) > 0:
			named++
		case !differs:
		case offset < last:
			t.Errorf("byte %d ^ %#x: it reads back something else, and nothing was found", offset, mask)
		default:
			lost++
			if s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); err != nil {
				t.Error(err)
			} else {
				if now, err := s.Head(t.Context()); err != nil || now.Index >= head.Index {
					t.Errorf("byte %d ^ %#x: the last transaction is lost, and the head is %d of %d, %v", offset, mask, now.Index, head.Index, err)
				}
				w.ok(s.Close())
			}
		}
	}
	if named < n/2 || lost == 0 {
		t.Fatalf("of %d changes %d were named and %d cost the last transaction", n, named, lost)
	}
}
