package handover_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/handover"
	"world/store/record"
	"world/store/sqlite"
)

const folder = handover.Folder

// small is a store with a genesis and a session.
func small(t *testing.T) (s *sqlite.Store, session store.Object) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	session = store.NewObject(record.Session, "test", []byte("a session"))
	other := store.NewObject("world/other/v1", "test", []byte("no evidence"))
	draft := store.Draft{TransitionFn: other.Ref(), Interpreter: other.Ref(), WrittenBy: "host:test", Transition: session.Ref(), StateRoot: other.Ref()}
	row := store.Session{Credential: store.CredentialID(strings.Repeat("a", 64)), Object: session.Ref(), Episode: "ep", ExpiresAt: 9}
	if _, err := s.Begin(t.Context(), store.Act{Objects: []store.Object{session, other}, Draft: draft, Changes: []store.Change{store.MintSession{Session: row}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(t.Context(), "ep"); err != nil {
		t.Fatal(err)
	}
	return s, session
}

func TestAJournalHoldsRowsAndEvidence(t *testing.T) {
	s, session := small(t)
	j, err := handover.Read(t.Context(), s, "small")
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Entries) != 1 || len(j.Sessions) != 1 || len(j.Leases) != 1 || j.Leases[0].Epoch < 1 || j.Name != "small" {
		t.Errorf("%+v", j)
	}
	want := map[store.Ref]handover.Evidence{session.Ref(): {SemanticID: record.Session, Bytes: session.Bytes()}}
	if !reflect.DeepEqual(j.Evidence, want) {
		t.Errorf("evidence %v, want %v", j.Evidence, want)
	}
}

func TestWhatIsOfferedCanBeLoaded(t *testing.T) {
	s, _ := small(t)
	dir := t.TempDir()
	t.Setenv(folder, "")
	if err := handover.Offer(t.Context(), s, "kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := handover.Load(dir); !fault.Is(err, fault.NotFound) {
		t.Errorf("an empty folder: %v", err)
	}
	t.Setenv(folder, dir)
	for range 2 {
		if err := handover.Offer(t.Context(), s, "given"); err != nil {
			t.Fatal(err)
		}
	}
	all, err := handover.Load(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d journals, %v", len(all), err)
	}
	want, err := handover.Read(t.Context(), s, all[0].Name)
	if err != nil || !reflect.DeepEqual(all[0], want) || !strings.HasPrefix(want.Name, "given (") {
		t.Errorf("%+v, want %+v, %v", all[0], want, err)
	}
}

func TestBadFoldersAreNamed(t *testing.T) {
	s, _ := small(t)
	t.Setenv(folder, filepath.Join(t.TempDir(), "none"))
	if err := handover.Offer(t.Context(), s, "lost"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "1.journal.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := handover.Load(dir); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "1.journal.json is not a journal") {
		t.Errorf("got %v", err)
	}
}
