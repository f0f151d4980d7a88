package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rs/zerolog"

	"world/confine/confinetest"
	"world/store"
	"world/store/engine"
	"world/store/postgres/pgtest"
	"world/store/record"
)

func cluster(t *testing.T) *pgtest.Cluster {
	t.Helper()
	c, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// withPassword is a URL whose password the server does not ask for.
func withPassword(url string) string { return strings.Replace(url, "world@", "world:hunter2@", 1) }

// TestDatabase runs the verbs on stores in PostgreSQL.
func TestDatabase(t *testing.T) {
	c := cluster(t)
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, params("testdata/database", func(env *testscript.Env) error {
			env.Setenv("URL", c.Fresh(t))
			env.Setenv("SECRET", withPassword(c.Fresh(t)))
			return withTool(env)
		}))
	})
}

// TestServeFromADatabase serves, and asks the daemon at the terminal's desk.
func TestServeFromADatabase(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	f.state = filepath.Dir(f.db)
	f.db = withPassword(cluster(t).Fresh(t))
	d := start(t, f)
	_, health := d.get("/v1/health")
	_, head := d.get("/v1/head")
	if !strings.HasPrefix(head, "sha256:") {
		t.Errorf("head: %s", head)
	}
	if !strings.Contains(d.stdout.String(), "--db 'postgres://world@/") {
		t.Errorf("stdout does not say how to mint: %s", d.stdout)
	}
	for what, said := range map[string]string{"health": health, "stdout": d.stdout.String(), "log": d.log.String()} {
		if strings.Contains(said, "hunter2") {
			t.Errorf("%s tells the password: %s", what, said)
		}
	}
	l, err := newLayout(f.db, f.state, "")
	if err != nil {
		t.Fatal(err)
	}
	client, err := answering(t.Context(), l)
	if err != nil {
		t.Fatalf("the daemon does not answer: %v", err)
	}
	client.Close()
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if _, err := answering(t.Context(), l); err == nil {
		t.Error("a daemon answers that has ended")
	}
}

// TestACleanStopGivesLeasesUp takes the lease of a daemon that has ended.
func TestACleanStopGivesLeasesUp(t *testing.T) {
	p, err := engine.Parse(cluster(t).Fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"one", "two", "three"} {
		s, err := p.Open(t.Context(), engine.Options{Create: true, Owner: owner})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lease(t.Context(), "ep"); err != nil {
			t.Errorf("%s: %v", owner, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARestoredBackupIsRefused serves a store, an older copy of it, none at all,
// and another one, from one state directory.
func TestARestoredBackupIsRefused(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	carry(t, f.db, backup)
	withStore(t, f, func(s store.Store) { mint(t, s, "ep", record.SessionGrant{Effect: "A", Scope: "b", Budget: 1}) })
	if err := start(t, f).stop(); err != nil { // newer than what is remembered
		t.Fatal(err)
	}
	refused := func(what, says string) {
		t.Helper()
		for range 2 { // a refusal forgets nothing
			err := serve(t.Context(), f, worldTool, newLines(), zerolog.Nop())
			if exitCode(err) != exitStore || !strings.Contains(fmt.Sprint(err), "daemon startup failed at rollback: ") || !strings.Contains(fmt.Sprint(err), says) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	carry(t, backup, f.db)
	refused("a backup", "the store ends with entry 0, and entry 1 was seen in it")
	other := flagsIn(confinetest.Dir(t))
	if err := start(t, other).stop(); err != nil {
		t.Fatal(err)
	}
	carry(t, other.db, f.db)
	refused("another world", "the store holds another world")
	if err := os.Remove(f.db); err != nil {
		t.Fatal(err)
	}
	refused("no store", "the store is empty, and entry 1 was seen in it")

	carry(t, backup, f.db)
	withStore(t, f, func(s store.Store) { // as long as the lost history, and not the same
		mint(t, s, "ep2", record.SessionGrant{Effect: "A", Scope: "b", Budget: 1})
	})
	refused("another history", "entry 1 is not the one that was seen here")

	f.rollback = true
	d := start(t, f)
	if _, entry := d.get("/v1/log/2"); !strings.Contains(entry, "host:acknowledge-rollback") {
		t.Errorf("the log does not tell of it: %s", entry)
	}
	if !strings.Contains(d.log.String(), "a rollback of the store was acknowledged") {
		t.Errorf("log: %s", d.log)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	f.rollback = false
	if err := start(t, f).stop(); err != nil {
		t.Errorf("after it was acknowledged: %v", err)
	}
}

// carry copies a store's file that nobody uses.
func carry(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err = errors.Join(err, os.WriteFile(to, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(to + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
