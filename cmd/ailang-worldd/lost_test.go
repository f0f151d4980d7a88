package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"world/confine/confinetest"
	"world/fault"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

// refusesToServe holds that a start fails at a stage, with these words.
func refusesToServe(t *testing.T, f serveFlags, what, says string) {
	t.Helper()
	err := serve(t.Context(), f, worldTool, newLines(), zerolog.Nop())
	if exitCode(err) != exitStore || !strings.Contains(fmt.Sprint(err), "daemon startup failed at "+says) {
		t.Errorf("%s: %v", what, err)
	}
}

// verb runs one verb and returns its exit code and output.
func verb(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String()
}

// TestNoSecondWorld takes the store away from a state directory that has seen it,
// whole or in part: nothing begins anew until the operator says so.
func TestNoSecondWorld(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.db)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(f.db, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	replace(nil)
	refusesToServe(t, f, "an empty file", "store-open: world.db is empty")
	if code, out := verb(t, "fsck", "--db", f.db); code != exitIntegrity || !strings.Contains(out, "world.db is empty") {
		t.Errorf("fsck of an empty file: %d, %s", code, out)
	}
	replace(whole)
	journal := f.db + "-journal"
	if err := os.WriteFile(journal, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	refusesToServe(t, f, "a journal", "store-open: world.db-journal")
	if code, out := verb(t, "fsck", "--db", f.db); code != exitIntegrity || !strings.Contains(out, "world.db-journal") {
		t.Errorf("fsck beside a journal: %d, %s", code, out)
	}
	for _, path := range []string{journal, f.db} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	refusesToServe(t, f, "no store", "rollback: the store is empty, and entry 0 was seen in it")
	if err := os.Remove(filepath.Join(filepath.Dir(f.db), "last-entry")); err != nil {
		t.Fatal(err)
	}
	refusesToServe(t, f, "no store, and nothing remembered", "rollback: the store is empty, and the state directory has the archive of a world")
	if _, err := os.Stat(f.db); !os.IsNotExist(err) {
		t.Errorf("a refusal made a store: %v", err)
	}
	withStore(t, f, func(store.Store) {}) // one without entries
	refusesToServe(t, f, "a store without entries", "rollback: the store is empty, and the state directory has the archive of a world")
	f.rollback = true
	d := start(t, f)
	if _, entry := d.get("/v1/log/1"); !strings.Contains(entry, "host:acknowledge-rollback") {
		t.Errorf("the log does not tell of it: %s", entry)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if code, out := verb(t, "fsck", "--db", f.db); code != exitDone {
		t.Errorf("fsck of the new world: %d, %s", code, out)
	}
}

// TestALostEndIsRemembered takes the last transactions away without a trace in
// the store: only the state directory knows.
func TestALostEndIsRemembered(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	before := filepath.Join(t.TempDir(), "before.db")
	copied := func(from, to string) {
		t.Helper()
		if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	copied(f.db, before)
	withStore(t, f, func(s store.Store) { mint(t, s, "ep", record.SessionGrant{Effect: "A", Scope: "b", Budget: 1}) })
	if err := start(t, f).stop(); err != nil { // it is seen
		t.Fatal(err)
	}
	state := filepath.Dir(f.db)
	if code, out := verb(t, "fsck", "--db", f.db, "--state-dir", state); code != exitDone {
		t.Errorf("fsck of the whole store: %d, %s", code, out)
	}
	copied(before, f.db)
	if code, out := verb(t, "fsck", "--db", f.db); code != exitDone {
		t.Errorf("fsck without a memory: %d, %s", code, out)
	}
	code, out := verb(t, "fsck", "--db", f.db, "--state-dir", state)
	if code != exitIntegrity || !strings.Contains(out, "state: the store ends with entry 0, and entry 1 was seen in it") || !strings.Contains(out, "fsck: 1 findings") {
		t.Errorf("fsck with a memory: %d, %s", code, out)
	}
}

// TestAKilledStoreWithADamagedLog flips a bit in the log of a killed store.
func TestAKilledStoreWithADamagedLog(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	killed := f
	killed.db = filepath.Join(t.TempDir(), "world.db")
	withStore(t, f, func(s store.Store) {
		for _, ep := range []store.EpisodeID{"a", "b", "c"} {
			mint(t, s, ep, record.SessionGrant{Effect: "A", Scope: "b", Budget: 1})
		}
		for _, suffix := range []string{"", "-wal"} {
			if out, err := exec.Command("cp", f.db+suffix, killed.db+suffix).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	})
	if code, out := verb(t, "fsck", "--db", killed.db); code != exitDone || !strings.Contains(out, "4 entries") {
		t.Fatalf("fsck of the killed store: %d, %s", code, out)
	}
	log, err := os.ReadFile(killed.db + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	log[100] ^= 8
	if err := os.WriteFile(killed.db+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := verb(t, "fsck", "--db", killed.db); code != exitIntegrity || !strings.Contains(out, "world.db-wal: frame 1 does not hold") {
		t.Errorf("fsck: %d, %s", code, out)
	}
	refusesToServe(t, killed, "a damaged log", "store-open: world.db-wal: frame 1 does not hold")
	if _, err := sqlite.Open(t.Context(), killed.db, sqlite.Options{}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("open: %v", err)
	}
}

// TestTheArchiveIsMended damages the archived interpreter between two starts.
func TestTheArchiveIsMended(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(f.db), "archive", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("archive: %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	hurt := bytes.Clone(whole)
	hurt[len(hurt)/2] ^= 1
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], hurt, 0o444); err != nil {
		t.Fatal(err)
	}
	const says = "an archived interpreter was damaged and is written anew"
	for _, healed := range []bool{true, false} {
		d := start(t, f)
		if err := d.stop(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(d.log.String(), says) != healed {
			t.Errorf("told %v of it: %s", !healed, d.log)
		}
		if b, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(b, whole) {
			t.Errorf("the archive is not whole: %v", err)
		}
	}
}
