package main

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"world/confine/confinetest"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/session"
	"world/store"
)

// TestWhatServeRefuses damages a world of one effectful call in one place at a time:
// without chain, head and spend nothing is served, and of other damage is told.
func TestWhatServeRefuses(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	withStore(t, f, func(s store.Store) {
		_, err := registry.Bootstrap(t.Context(), s, coordtest.Builtins(), coordtest.Interpreter, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := mint(t, s, "ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 5))
		calls := coordinator.New(coordinator.Options{Store: s, Runner: coordtest.Runner{}, Log: zerolog.Nop(),
			Handlers: coordtest.Handlers{coordtest.Write: &coordtest.Hand{}, coordtest.Read: &coordtest.Hand{}}})
		snapshot, err := calls.Snapshot(t.Context(), session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := calls.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: "one", Args: []byte(`{}`)})
		if err != nil || reply.Failed {
			t.Fatalf("%+v, %v", reply, err)
		}
	})
	whole, err := os.ReadFile(f.db)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(statement string) {
		t.Helper()
		if err := os.WriteFile(f.db, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", f.db)
		if err != nil {
			t.Fatal(err)
		}
		res, err := db.Exec(statement)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n == 0 && !strings.HasPrefix(statement, "CREATE") {
			t.Fatalf("%s changed nothing", statement)
		}
	}
	for _, c := range []struct{ what, statement, says string }{
		{"an entry's row", "UPDATE log SET written_by = 'another' WHERE idx = 1", "integrity: "},
		{"a lost entry", "DELETE FROM log WHERE idx = 2", "rollback: not found: log entry 2"},
		{"another head", "UPDATE head SET idx = idx - 1", "rollback: head does not match its digest"},
		{"no head", "DELETE FROM head", "rollback: the store is empty"},
		{"a total", "UPDATE spend SET total = 0", "integrity: "},
		{"a lost intent", "DELETE FROM intents", "integrity: "},
		{"another's schema", "CREATE TABLE other (a TEXT)", "store-open: "},
	} {
		damage(c.statement)
		refusesToServe(t, f, c.what, c.says)
	}
	for what, statement := range map[string]string{
		"an object's bytes": "UPDATE objects SET bytes = x'00' WHERE seq = (SELECT max(seq) FROM objects)",
		"a claim":           "UPDATE claims SET at = at + 1",
	} {
		damage(statement)
		r := start(t, f)
		if !strings.Contains(r.stdout.String(), "integrity: ") {
			t.Errorf("%s: stdout says %s", what, r.stdout)
		}
		if err := r.stop(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := os.WriteFile(f.db, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := start(t, f); strings.Contains(r.stdout.String(), "integrity") {
		t.Errorf("the whole store: %s", r.stdout)
	}
}
