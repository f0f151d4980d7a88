package sqlite_test

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/sqlite"
)

func open(t *testing.T, path string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func wantRefused(t *testing.T, path string, opts sqlite.Options, kind fault.Kind) error {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
	if err == nil {
		s.Close()
	}
	if !fault.Is(err, kind) {
		t.Fatalf("opening %+v: got %v, want kind %v", opts, err, kind)
	}
	if strings.Contains(fault.Public(err), filepath.Dir(path)) {
		t.Fatalf("%q shows a path", fault.Public(err))
	}
	return err
}

func keep(t *testing.T, s store.Store, body string) store.Ref {
	t.Helper()
	o := store.NewObject("test", "test", []byte(body))
	if err := s.Keep(t.Context(), []store.Object{o}); err != nil {
		t.Fatal(err)
	}
	return o.Ref()
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "world.db")
	s := open(t, path, sqlite.Options{})
	ref := keep(t, s, "kept")

	link := filepath.Join(t.TempDir(), "other-name.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link, filepath.Join(dir, ".", "world.db")} {
		err := wantRefused(t, name, sqlite.Options{}, fault.Locked)
		if !strings.Contains(fault.Public(err), "world.db.writer.lock") {
			t.Fatalf("%q does not name the lock", fault.Public(err))
		}
	}
	// Another process is refused as this one is.
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimPath+"="+path)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "locked: another process holds world.db.writer.lock") {
		t.Fatalf("another process: %v, %s", err, out)
	}
	reader := open(t, link, sqlite.Options{ReadOnly: true})
	if _, err := reader.Object(t.Context(), ref); err != nil {
		t.Fatalf("a reader beside the writer: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, sqlite.Options{})
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "world.db")
	wantRefused(t, path, sqlite.Options{ReadOnly: true}, fault.NotFound)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Fatalf("a refused reader made %v", left)
	}
	s := open(t, path, sqlite.Options{})
	ref := keep(t, s, "kept")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".writer.lock"); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)

	r := open(t, path, sqlite.Options{ReadOnly: true})
	if _, err := r.Object(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	_, err := r.Begin(t.Context(), store.Act{})
	for what, err := range map[string]error{
		"begin": err, "keep": r.Keep(t.Context(), nil), "give up": r.GiveUp(t.Context(), store.Lease{Episode: "ep", Epoch: 1}),
	} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s through a reader: %v", what, err)
		}
	}
	if _, err := r.Lease(t.Context(), "ep"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("lease through a reader: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Fatal("a reader changed the file")
	}
	if _, err := os.Stat(path + ".writer.lock"); !os.IsNotExist(err) {
		t.Fatalf("a reader left a lock: %v", err)
	}
}

// TestReaderBesideDeadWriter: what a killed writer left open is indeterminate for
// a reader too, although no lease was ended; beside a live one it is running.
func TestReaderBesideDeadWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	b := newBook(t, s)
	b.intend(t, "1")
	count := func() int {
		t.Helper()
		r := open(t, path, sqlite.Options{ReadOnly: true})
		lost, err := r.Indeterminate(t.Context(), 500)
		if err != nil {
			t.Fatal(err)
		}
		return len(lost)
	}
	if n := count(); n != 0 {
		t.Fatalf("%d intents are indeterminate beside a live writer", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 1 {
		t.Fatalf("%d intents are indeterminate without a writer", n)
	}
	if err := os.Remove(path + ".writer.lock"); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 1 {
		t.Fatalf("%d intents are indeterminate without a lock file", n)
	}
}

func TestPrivateFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "world.db"), sqlite.Options{})
	keep(t, s, "kept")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 { // file, log, index, lock
		t.Fatalf("files %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"a b?c=d#e%20f&g.db", "ünïcode.db", ":memory:", "mode=ro"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, path, sqlite.Options{})
		ref := keep(t, s, "kept")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Fatalf("%q: %v", name, err)
		}
		r := open(t, path, sqlite.Options{ReadOnly: true})
		if _, err := r.Object(t.Context(), ref); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
	}
	wantRefused(t, filepath.Join(t.TempDir(), "no", "folder.db"), sqlite.Options{}, fault.NotFound)
}

// TestRefusals changes a file into something that is not this build's store; it
// is refused by writers and readers alike, and left as it is.
func TestRefusals(t *testing.T) {
	exec := func(statements ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, s := range statements {
				if _, err := db.Exec(s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
		}
	}
	newer := store.MetaDigest("schema", "3")
	for _, tt := range []struct {
		name   string
		kind   fault.Kind
		change func(t *testing.T, path string)
	}{
		{"newer version", fault.Version, func(t *testing.T, path string) {
			exec("PRAGMA user_version = 3")(t, path)
			db, _ := sql.Open("sqlite", "file:"+path)
			defer db.Close()
			if _, err := db.Exec("UPDATE meta SET value = '3', digest = ? WHERE key = 'schema'", newer[:]); err != nil {
				t.Fatal(err)
			}
		}},
		{"version in the header alone", fault.Corrupt, exec("PRAGMA user_version = 3")},
		{"version zero with tables", fault.Corrupt, exec("PRAGMA user_version = 0")},
		{"version in the tables alone", fault.Corrupt, exec("UPDATE meta SET value = '3' WHERE key = 'schema'")},
		{"no version in the tables", fault.Corrupt, exec("DELETE FROM meta")},
		{"another application", fault.Corrupt, exec("PRAGMA application_id = 7")},
		{"table too many", fault.Corrupt, exec("CREATE TABLE extra (x)")},
		{"trigger", fault.Corrupt, exec("CREATE TRIGGER t AFTER INSERT ON objects BEGIN DELETE FROM spend; END")},
		{"index gone", fault.Corrupt, exec("DROP INDEX objects_hash")},
		{"table gone", fault.Corrupt, exec("DROP TABLE spend")},
		{"column too many", fault.Corrupt, exec("ALTER TABLE log ADD COLUMN x TEXT")},
		{"another program's file", fault.Version, func(t *testing.T, path string) {
			os.Remove(path)
			exec("CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)")(t, path)
		}},
		{"no database", fault.Corrupt, func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("plain text\n"), 500), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"cut short", fault.Corrupt, func(t *testing.T, path string) {
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "world.db")
			s := open(t, path, sqlite.Options{})
			keep(t, s, "kept")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tt.change(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wantRefused(t, path, sqlite.Options{ReadOnly: true}, tt.kind)
			wantRefused(t, path, sqlite.Options{}, tt.kind)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Fatal("the refused file was changed")
			}
		})
	}
}
