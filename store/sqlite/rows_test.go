package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"world/fault"
	"world/store"
	"world/store/sqlite"
)

// book writes calls of an engine's own tests.
type book struct {
	s                            store.Store
	source, interpreter, session store.Object
}

func object(body string) store.Object { return store.NewObject("test", "test", []byte(body)) }

func newBook(t *testing.T, s store.Store) book {
	t.Helper()
	b := book{s, object("source"), object("interpreter"), object("session")}
	if _, err := s.Begin(t.Context(), store.Act{Objects: []store.Object{b.source, b.interpreter, b.session}, Draft: b.draft(), At: 5,
		Changes: []store.Change{
			store.MoveRegistry{Name: "registry", To: b.source.Ref()},
			store.MintSession{Session: store.Session{Credential: credential, Object: b.session.Ref(), Episode: "ep", ExpiresAt: 10}},
		}}); err != nil {
		t.Fatal(err)
	}
	return b
}

const credential = store.CredentialID("00000000000000000000000000000000000000000000000000000000000000aa")

func (b book) draft() store.Draft {
	return store.Draft{TransitionFn: b.source.Ref(), Interpreter: b.interpreter.Ref(), WrittenBy: "test",
		Transition: b.session.Ref(), StateRoot: b.session.Ref()}
}

func (b book) claim(task string) store.Claim {
	return store.Claim{Invocation: store.NewInvocationID(store.SurfaceMCP, "ep", task), Episode: "ep", Transition: "tools.read",
		TransitionFn: b.source.Ref(), Input: b.source.Ref(), Session: b.session.Ref(), At: 7}
}

func (b book) intention(t *testing.T, task string) store.Intention {
	t.Helper()
	lease, err := b.s.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	return store.Intention{Claim: b.claim(task), Effect: "Read", Scope: "tree", Cost: 1, Budget: 100, Request: b.source.Ref(), Lease: lease}
}

func (b book) intend(t *testing.T, task string) (store.Intention, store.Intent) {
	t.Helper()
	in := b.intention(t, task)
	i, err := b.s.Intend(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return in, i
}

func (b book) finish(in store.Intention, i store.Intent) store.Finish {
	return store.Finish{Claim: in.Claim, Intent: &i, Lease: in.Lease, Draft: b.draft(), At: 8,
		Outcome: store.Outcome{Status: store.StatusSucceeded, Record: b.source.Ref(), Detail: b.session.Ref(), At: 8}}
}

// TestDamagedRows spoils the digest of every kind of row in turn: each read that
// goes through it is Corrupt, and nothing else is.
func TestDamagedRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	b := newBook(t, s)
	in, i := b.intend(t, "1")
	if _, err := s.Commit(t.Context(), b.finish(in, i)); err != nil {
		t.Fatal(err)
	}
	again := store.NewObject("another part", "test", b.source.Bytes())
	if err := s.Keep(t.Context(), []store.Object{again}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	pristine, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	reads := map[string]func(s store.Store) error{
		"objects":  func(s store.Store) error { _, err := s.Object(ctx, b.source.Ref()); return err },
		"labels":   func(s store.Store) error { _, err := s.Labels(ctx, b.source.Ref()); return err },
		"log":      func(s store.Store) error { _, err := s.Entry(ctx, 1); return err },
		"head":     func(s store.Store) error { _, err := s.Head(ctx); return err },
		"clock":    func(s store.Store) error { _, err := s.LastTime(ctx); return err },
		"claims":   func(s store.Store) error { _, err := s.Claim(ctx, in.Claim.Invocation); return err },
		"intents":  func(s store.Store) error { _, err := s.Intent(ctx, "ep", 0); return err },
		"spend":    func(s store.Store) error { _, err := s.Ledger(ctx, "ep"); return err },
		"sessions": func(s store.Store) error { _, err := s.Session(ctx, credential); return err },
		"registry": func(s store.Store) error { _, err := s.Registry(ctx, "registry"); return err },
	}
	damaged := map[string]string{"objects": "labels"} // labels are read with the first one
	for table := range reads {
		if err := os.WriteFile(path, pristine, 0o600); err != nil {
			t.Fatal(err)
		}
		spoil(t, path, fmt.Sprintf("UPDATE %s SET digest = zeroblob(32)", table))
		s := open(t, path, sqlite.Options{ReadOnly: true})
		for name, read := range reads {
			err := read(s)
			switch bad := name == table || damaged[table] == name; {
			case bad && !fault.Is(err, fault.Corrupt):
				t.Errorf("%s with a false digest in %s: %v", name, table, err)
			case !bad && err != nil:
				t.Errorf("%s with a false digest in %s: %v", name, table, err)
			}
		}
		s.Close()
	}
	// Bytes are guarded by their hash.
	if err := os.WriteFile(path, pristine, 0o600); err != nil {
		t.Fatal(err)
	}
	spoil(t, path, "UPDATE objects SET bytes = x'00'")
	if err := reads["objects"](open(t, path, sqlite.Options{ReadOnly: true})); !fault.Is(err, fault.Corrupt) {
		t.Errorf("an object with other bytes: %v", err)
	}
}

func spoil(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if res, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	} else if n, _ := res.RowsAffected(); n == 0 {
		t.Fatalf("%s changed nothing", statement)
	}
}

// TestDamageStopsWrites: a writer does not build on a damaged row.
func TestDamageStopsWrites(t *testing.T) {
	for _, tt := range []struct {
		table string
		write func(t *testing.T, b book) error
	}{
		{"head", func(t *testing.T, b book) error {
			_, err := b.s.Commit(t.Context(), store.Finish{Claim: b.claim("2"), Draft: b.draft()})
			return err
		}},
		{"spend", func(t *testing.T, b book) error { _, err := b.s.Intend(t.Context(), b.intention(t, "2")); return err }},
		{"sessions", func(t *testing.T, b book) error {
			_, err := b.s.Act(t.Context(), store.Act{Draft: b.draft(), Changes: []store.Change{
				store.RevokeSession{Credential: credential, Revocation: b.source.Ref()}}})
			return err
		}},
		{"leases", func(t *testing.T, b book) error { _, err := b.s.Lease(t.Context(), "ep"); return err }},
	} {
		path := filepath.Join(t.TempDir(), "world.db")
		s := open(t, path, sqlite.Options{})
		b := newBook(t, s)
		in, i := b.intend(t, "1")
		if _, err := s.Commit(t.Context(), b.finish(in, i)); err != nil {
			t.Fatal(err)
		}
		s.Close()
		spoil(t, path, fmt.Sprintf("UPDATE %s SET digest = zeroblob(32)", tt.table))
		b.s = open(t, path, sqlite.Options{})
		if err := tt.write(t, b); !fault.Is(err, fault.Corrupt) {
			t.Errorf("a write over a damaged row of %s: %v", tt.table, err)
		}
	}
}

// TestAstray points the numbers that rows keep at other rows: a lookup never
// answers with a row that it was not asked for, and the engine's check names it.
func TestAstray(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	b := newBook(t, s)
	ctx := t.Context()
	var ids []store.InvocationID
	for _, task := range []string{"1", "2"} {
		in, i := b.intend(t, task)
		f := b.finish(in, i)
		made := object("made by " + task)
		f.Objects, f.Draft.Transition = []store.Object{made}, made.Ref()
		if _, err := s.Commit(ctx, f); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, in.Claim.Invocation)
	}
	pure := b.claim("pure")
	if _, err := s.Commit(ctx, store.Finish{Claim: pure, Draft: b.draft()}); err != nil {
		t.Fatal(err)
	}
	running, _ := b.intend(t, "open")
	s.Close()
	pristine, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	made := object("made by 1").Ref()
	reads := map[string]func(s store.Store) error{
		"intent of":     func(s store.Store) error { _, err := s.IntentOf(ctx, ids[0]); return err },
		"running":       func(s store.Store) error { _, err := s.IntentOf(ctx, running.Claim.Invocation); return err },
		"entry of":      func(s store.Store) error { _, err := s.EntryOf(ctx, ids[0]); return err },
		"entry of pure": func(s store.Store) error { _, err := s.EntryOf(ctx, pure.Invocation); return err },
		"entry about":   func(s store.Store) error { _, err := s.EntryAbout(ctx, made); return err },
	}
	for statement, wrong := range map[string]string{
		"": "",
		"UPDATE claims SET ordinal = 1 WHERE invocation = 'mcp:ep:1'":           "intent of",
		"UPDATE claims SET ordinal = -1 WHERE invocation = 'mcp:ep:1'":          "intent of",
		"UPDATE intents SET entry = 2 WHERE ordinal = 0":                        "entry of",
		"UPDATE intents SET entry = -1 WHERE ordinal = 0":                       "entry of",
		"UPDATE claims SET entry = 0 WHERE invocation = 'mcp:ep:pure'":          "entry of pure",
		"UPDATE claims SET entry = -1 WHERE invocation = 'mcp:ep:pure'":         "entry of pure",
		"UPDATE objects SET about = 2 WHERE bytes = CAST('made by 1' AS BLOB)":  "entry about",
		"UPDATE objects SET about = -1 WHERE bytes = CAST('made by 1' AS BLOB)": "entry about",
		"UPDATE claims SET ordinal = -1 WHERE invocation = 'mcp:ep:open'":       "running",
		"UPDATE spend SET ordinal = 0":                                          "",
		"UPDATE objects SET about = 9 WHERE bytes = CAST('source' AS BLOB)":     "",
	} {
		if err := os.WriteFile(path, pristine, 0o600); err != nil {
			t.Fatal(err)
		}
		if statement != "" {
			spoil(t, path, statement)
		}
		r := open(t, path, sqlite.Options{ReadOnly: true})
		for name, read := range reads {
			err := read(r)
			if name == wrong && !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %s: %v", statement, name, err)
			}
			if wrong == "" && err != nil {
				t.Errorf("%s: %s: %v", statement, name, err)
			}
		}
		a, err := r.Audit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := a.Engine(ctx)
		if err != nil || (len(lines) == 0) != (statement == "") {
			t.Errorf("%s: the engine finds %q, %v", statement, lines, err)
		}
		a.Close()
		r.Close()
	}
}
