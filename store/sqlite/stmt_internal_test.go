package sqlite

import (
	"bytes"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// TestValues binds values of every type and reads them back, in statements that
// run again with others and inside each other.
func TestValues(t *testing.T) {
	c := openInternal(t).writer.c
	long := strings.Repeat("ü", keepMem)
	for _, text := range []string{"", "a", "nul\x00inside", long, "short again"} {
		var n int
		var i int64
		var yes, no bool
		var id store.EpisodeID
		var blob []byte
		ref := store.RefOf([]byte(text))
		var back, none store.Ref
		found, err := c.row(func(row rows.Scanner) error {
			if err := row.Scan(&n, &i, &yes, &no, &id, &blob, rows.Ref(&back), rows.Ref(&none)); err != nil {
				return err
			}
			// Another run of another statement leaves this one's values alone.
			var other string
			if _, err := c.row(func(row rows.Scanner) error { return row.Scan(&other) }, "SELECT ?", "other"); err != nil || other != "other" {
				t.Errorf("inside: %q, %v", other, err)
			}
			return nil
		}, "SELECT ?, ?, ?, ?, ?, ?, ?, ?", 7, int64(-1)<<63, true, false, text, []byte(text), rows.Blob(ref), rows.Blob(""))
		if err != nil || !found || n != 7 || i != int64(-1)<<63 || !yes || no || string(id) != text || !bytes.Equal(blob, []byte(text)) || back != ref || none != "" {
			t.Errorf("%.20q came back as %d %d %v %v %.20q %.20q %s %q, %v", text, n, i, yes, no, id, blob, back, none, err)
		}
	}
}

// TestOtherTypes: a column is not read as what it is not.
func TestOtherTypes(t *testing.T) {
	c := openInternal(t).writer.c
	var (
		n    int
		i    int64
		yes  bool
		text store.EpisodeID
		blob []byte
		ref  store.Ref
	)
	for name, test := range map[string]struct {
		dest any
		good string
		bad  []string
	}{
		"int":   {&n, "1", []string{"'1'", "x'01'", "NULL", "1.5"}},
		"int64": {&i, "1", []string{"'1'", "x'01'", "NULL", "1.5"}},
		"bool":  {&yes, "1", []string{"'1'", "NULL"}},
		"text":  {&text, "'t'", []string{"1", "x'01'", "NULL", "1.5"}},
		"blob":  {&blob, "x'01'", []string{"1", "'t'", "1.5"}},
		"ref":   {rows.Ref(&ref), "zeroblob(32)", []string{"1", "'t'", "x'01'", "zeroblob(31)", "zeroblob(33)"}},
	} {
		read := func(column string) error {
			_, err := c.row(func(row rows.Scanner) error { return row.Scan(test.dest) }, "SELECT "+column)
			return err
		}
		if err := read(test.good); err != nil {
			t.Errorf("%s from %s: %v", name, test.good, err)
		}
		for _, column := range test.bad {
			if read(column) == nil {
				t.Errorf("%s from %s was read", name, column)
			}
		}
	}
	for _, query := range []string{"SELECT 1", "SELECT 1, 2, 3"} {
		if _, err := c.row(func(row rows.Scanner) error { return row.Scan(&n, &n) }, query); err == nil {
			t.Errorf("%s was read as two values", query)
		}
	}
	if _, err := c.row(func(row rows.Scanner) error { return row.Scan(&n, &n) }, "SELECT 1, 2"); err != nil {
		t.Error(err)
	}
}

// TestRunAgain: a statement that failed, or was left in the middle, runs again.
func TestRunAgain(t *testing.T) {
	c := openInternal(t).writer.c
	insert := func(key string) error {
		d := store.MetaDigest(key, "v")
		_, err := c.exec("INSERT INTO meta (key, value, digest) VALUES (?, ?, ?)", key, "v", d[:])
		return asFault("test", err)
	}
	if err := insert("a"); err != nil {
		t.Fatal(err)
	}
	if err := insert("a"); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "UNIQUE") {
		t.Fatalf("a key twice: %v", err)
	}
	if err := insert("b"); err != nil {
		t.Fatalf("after a failure: %v", err)
	}
	const all = "SELECT key FROM meta WHERE key >= ? ORDER BY key"
	for from, want := range map[string]string{"a": "a", "b": "b"} {
		var first string
		if _, err := c.row(func(row rows.Scanner) error { return row.Scan(&first) }, all, from); err != nil || first != want {
			t.Errorf("from %s: %q, %v", from, first, err)
		}
		stop := fault.New("test", fault.Conflict, "enough")
		seen := 0
		if err := c.each(func(rows.Scanner) error { seen++; return stop }, all, from); err != stop || seen != 1 {
			t.Errorf("a scan that stops: %v after %d rows", err, seen)
		}
	}
	if _, err := c.exec("SELECT nothing FROM nowhere"); !fault.Is(asFault("test", err), fault.Corrupt) {
		t.Errorf("a statement that does not fit the schema: %v", err)
	}
}
