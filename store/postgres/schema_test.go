package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"world/fault"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

// TestConstraints breaks each invariant behind the engine's back: the database
// refuses. Beside each stands a change of the same row that it accepts.
func TestConstraints(t *testing.T) {
	at := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, at, postgres.Options{}))
	ok(t, w.call("one"))
	ok(t, w.call("two"))
	ctx := t.Context()
	c, err := pgx.Connect(ctx, at)
	ok(t, err)
	defer c.Close(ctx)
	try := func(sql string) error {
		tx, err := c.Begin(ctx)
		ok(t, err)
		defer tx.Rollback(ctx)
		tag, err := tx.Exec(ctx, sql)
		if err == nil && tag.RowsAffected() != 1 {
			t.Fatalf("%s changed %d rows", sql, tag.RowsAffected())
		}
		return err
	}
	entry := func(idx, prev, invocation string) string {
		return "INSERT INTO world.log (idx, semantics_epoch, transition_fn, interpreter, prev, written_by, hash, transition_ref, state_root, world, invocation, digest) " +
			"SELECT " + idx + ", semantics_epoch, transition_fn, interpreter, " + prev + ", written_by, '\\x07', transition_ref, state_root, world, " + invocation + ", digest " +
			"FROM world.log WHERE idx = 2"
	}
	intent := func(ordinal, invocation string) string {
		return "INSERT INTO world.intents SELECT episode, " + ordinal + ", " + invocation + ", effect, scope, cost, request, at, epoch, status, record, detail, outcome_at, reconciled, digest " +
			"FROM world.intents WHERE ordinal = 1"
	}
	claim := func(id string) string {
		return "INSERT INTO world.claims SELECT " + id + ", episode, transition, transition_fn, input, session, at, digest FROM world.claims WHERE invocation = 'mcp:ep-1:two'"
	}
	for _, tt := range []struct{ invariant, broken, constraint, control string }{
		{"one claim an id", claim("invocation"), "claims_pkey", claim("'mcp:ep-1:three'")},
		{"spend within the largest budget", "UPDATE world.spend SET total = ceiling + 1", "spend_check", "UPDATE world.spend SET total = ceiling"},
		{"spend is not negative", "UPDATE world.spend SET total = -1", "spend_check", "UPDATE world.spend SET total = 0"},
		{"one intent a call", intent("2", "invocation"), "intents_invocation_key", intent("2", "'mcp:ep-1:three'")},
		{"one intent an ordinal", intent("1", "'mcp:ep-1:three'"), "intents_pkey", intent("2", "'mcp:ep-1:three'")},
		{"one entry a call", entry("3", "hash", "invocation"), "log_invocation", entry("3", "hash", "'mcp:ep-1:three'")},
		{"one entry an index", entry("2", "hash", "''"), "log_pkey", entry("3", "hash", "''")},
		{"no gap in the log", entry("4", "hash", "''"), "log_prev_idx_prev_fkey", entry("3", "hash", "''")},
		{"no other predecessor", entry("3", "prev", "''"), "log_prev_idx_prev_fkey", entry("3", "hash", "''")},
		{"no entry before the first", entry("-1", "hash", "''"), "log_prev_idx_prev_fkey", entry("3", "hash", "''")},
		{"no entry is taken back", "DELETE FROM world.log WHERE idx = 1", "log_prev_idx_prev_fkey", "UPDATE world.log SET written_by = 'x' WHERE idx = 1"},
	} {
		if strings.Contains(tt.control+tt.broken, "'mcp:ep-1:three'") && tt.constraint != "claims_pkey" {
			tt.control = "WITH c AS (" + claim("'mcp:ep-1:three'") + ") " + tt.control
			tt.broken = "WITH c AS (" + claim("'mcp:ep-1:three'") + ") " + tt.broken
		}
		err := try(tt.broken)
		if err == nil || !strings.Contains(err.Error(), tt.constraint) {
			t.Errorf("%s: got %v, want a refusal by %s", tt.invariant, err, tt.constraint)
		}
		if err := try(tt.control); err != nil {
			t.Errorf("%s: the control: %v", tt.invariant, err)
		}
	}
	w.sound()
}

// TestMemoryIsNoAuthority changes rows behind the engine's memory: what it
// remembers is neither what it commits nor what it answers.
func TestMemoryIsNoAuthority(t *testing.T) {
	cluster := pgtest.Shared(t)
	at := cluster.Fresh(t)
	w := begun(t, open(t, at, postgres.Options{}))
	ok(t, w.call("one"))
	ok(t, w.call("two")) // from here on, calls are predicted
	rowsWritten := func() int64 {
		return query[int64](t, at, "SELECT (SELECT count(*) FROM world.log) + (SELECT count(*) FROM world.intents) + (SELECT count(*) FROM world.claims)")
	}
	was := query[string](t, at, "SELECT encode(digest, 'hex') FROM world.spend")
	cluster.Exec(t, at, "UPDATE world.spend SET digest = '\\x00'")
	before := rowsWritten()
	wantKind(t, "call on changed spend", w.call("on changed spend"), fault.Corrupt)
	equal(t, "rows", rowsWritten(), before)
	cluster.Exec(t, at, "UPDATE world.spend SET digest = '\\x"+was+"'")
	ok(t, w.call("three"))
	was = query[string](t, at, "SELECT encode(digest, 'hex') FROM world.head")
	cluster.Exec(t, at, "UPDATE world.head SET digest = '\\x00'")
	before = rowsWritten()
	_, err := w.Commit(w.ctx, w.pure("four"))
	wantKind(t, "call onto a changed head", err, fault.Corrupt)
	equal(t, "rows", rowsWritten(), before)
	cluster.Exec(t, at, "UPDATE world.head SET digest = '\\x"+was+"'")
	ok(t, w.call("five"))
	w.sound()
}
