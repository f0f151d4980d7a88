package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

// query reads one value behind the engine's back.
func query[T any](t testing.TB, url, sql string) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	ok(t, err)
	defer c.Close(ctx)
	if err := c.QueryRow(ctx, sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestOpenTogether(t *testing.T) {
	at := pgtest.Shared(t).Fresh(t)
	var opening sync.WaitGroup
	for range 6 {
		opening.Go(func() {
			s, err := postgres.Open(t.Context(), at, postgres.Options{})
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			s.Close()
		})
	}
	opening.Wait()
	// Names that were made up leave nothing behind.
	equal(t, "rows of bookkeeping", query[int64](t, at, "SELECT count(*) FROM world.meta"), 1)
	open(t, at, postgres.Options{Owner: "named"}).Close()
	equal(t, "rows of bookkeeping", query[int64](t, at, "SELECT count(*) FROM world.meta"), 2)
}

func TestOpenRefuses(t *testing.T) {
	cluster := pgtest.Shared(t)
	meta := func(value string) string {
		d := store.MetaDigest("schema", value)
		return fmt.Sprintf("UPDATE world.meta SET value = '%s', digest = '\\x%x' WHERE key = 'schema'", value, d[:])
	}
	for _, tt := range []struct {
		name, sql string
		kind      fault.Kind
	}{
		{"newer schema", meta("3"), fault.Version},
		{"version that is no number", meta("one"), fault.Corrupt},
		{"version changed", "UPDATE world.meta SET value = '1' WHERE key = 'schema'", fault.Corrupt},
		{"version missing", "DELETE FROM world.meta WHERE key = 'schema'", fault.Corrupt},
		{"bookkeeping missing", "DROP TABLE world.meta", fault.Version},
		{"table missing", "DROP TABLE world.registry", fault.Corrupt},
		{"index missing", "DROP INDEX world.log_invocation", fault.Corrupt},
		{"constraint missing", "ALTER TABLE world.spend DROP CONSTRAINT spend_check", fault.Corrupt},
		{"constraint not enforced", "ALTER TABLE world.log DISABLE TRIGGER ALL", fault.Corrupt},
		{"column too much", "ALTER TABLE world.log ADD COLUMN extra TEXT", fault.Corrupt},
		{"column of another type", "ALTER TABLE world.clock ALTER COLUMN at TYPE INTEGER", fault.Corrupt},
		{"column may be null", "ALTER TABLE world.claims ALTER COLUMN at DROP NOT NULL", fault.Corrupt},
		{"trigger too much", "CREATE FUNCTION world.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; " +
			"CREATE TRIGGER f BEFORE INSERT ON world.intents FOR EACH ROW EXECUTE FUNCTION world.f()", fault.Corrupt},
		{"table that loses its rows in a crash", "ALTER TABLE world.clock SET UNLOGGED", fault.Corrupt},
	} {
		at := cluster.Fresh(t)
		open(t, at, postgres.Options{}).Close()
		open(t, at, postgres.Options{}).Close() // the control: nothing is wrong yet
		cluster.Exec(t, at, tt.sql)
		for _, opts := range []postgres.Options{{}, {ReadOnly: true}} {
			_, err := postgres.Open(t.Context(), at, opts)
			wantKind(t, tt.name, err, tt.kind)
		}
	}
}

func TestOpenElsewhere(t *testing.T) {
	cluster := pgtest.Shared(t)
	at := cluster.Fresh(t)
	_, err := postgres.Open(t.Context(), at, postgres.Options{ReadOnly: true})
	wantKind(t, "reading an empty database", err, fault.NotFound)
	equal(t, "schemas made by a reader", query[int64](t, at, "SELECT count(*) FROM pg_namespace WHERE nspname = 'world'"), 0)
	cluster.Exec(t, at, "CREATE SCHEMA world; CREATE TABLE world.cities (name TEXT)")
	_, err = postgres.Open(t.Context(), at, postgres.Options{})
	wantKind(t, "another program's schema", err, fault.Version)
	equal(t, "tables", query[int64](t, at, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'world'"), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = postgres.Open(ctx, cluster.Fresh(t), postgres.Options{})
	wantKind(t, "opening with an ended context", err, fault.Timeout)
}

func TestReadOnly(t *testing.T) {
	at := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, at, postgres.Options{}))
	ok(t, w.call("one"))
	r := see(t, open(t, at, postgres.Options{ReadOnly: true}))
	entries, spent := r.sound()
	equal(t, "entries", entries, 2)
	equal(t, "spend", spent, 1)
	_, err := r.Lease(r.ctx, episode)
	wantKind(t, "lease", err, fault.Unavailable)
	wantKind(t, "give up", r.GiveUp(r.ctx, store.Lease{Episode: episode, Epoch: 1}), fault.Unavailable)
	wantKind(t, "keep", r.Keep(r.ctx, nil), fault.Unavailable)
	_, err = r.Commit(r.ctx, r.pure("two"))
	wantKind(t, "commit", err, fault.Unavailable)
	_, err = r.Intend(r.ctx, r.intention("two", store.Lease{Episode: episode, Epoch: 1}))
	wantKind(t, "intend", err, fault.Unavailable)
	_, err = r.Act(r.ctx, store.Act{})
	wantKind(t, "act", err, fault.Unavailable)
}

// TestPassword: whatever is wrong with a URL, the error does not repeat its secrets.
func TestPassword(t *testing.T) {
	const secret = "s3cr3t-w0rd"
	socket, err := url.Parse(pgtest.Shared(t).Fresh(t))
	ok(t, err)
	for _, bad := range []string{
		"postgres://world:" + secret + "@127.0.0.1:1/world?sslmode=disable",
		"postgres://world:" + secret + "@no-such-host.invalid/world",
		"postgres://world:" + secret + "@127.0.0.1:1/world?sslmode=strange",
		"postgres://world:" + secret + "@127.0.0.1:port/world",
		"postgres://world:" + secret + "%zz@127.0.0.1/world",
		"postgres://world:" + secret + "\x7f@127.0.0.1/world",
		"postgres:/world:" + secret + "@127.0.0.1/world",
		"world:" + secret + "@127.0.0.1/world",
		"host=127.0.0.1 port=1 password=" + secret,
		"host=127.0.0.1 port=one password=" + secret,
		"postgres://127.0.0.1:1/world?password=" + secret + "&sslmode=disable",
		"postgres://world:" + secret + "@/no-such-database?" + socket.RawQuery,
	} {
		_, err := postgres.Open(t.Context(), bad, postgres.Options{})
		if err == nil {
			t.Fatalf("%q opens", bad)
		}
		for e := error(err); e != nil; {
			if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e), secret) {
				t.Errorf("the error of a bad url tells the password: %v", e)
			}
			u, ok := e.(interface{ Unwrap() error })
			if !ok {
				break
			}
			e = u.Unwrap()
		}
		if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.Unavailable {
			t.Errorf("%q: kind %v", strings.ReplaceAll(bad, secret, "…"), kind)
		}
	}
}

// TestDurability holds that an acknowledged commit is durable whatever the
// database's default says.
func TestDurability(t *testing.T) {
	cluster := pgtest.Shared(t)
	at := cluster.Fresh(t)
	name := query[string](t, at, "SELECT current_database()")
	cluster.Exec(t, at, "ALTER DATABASE "+name+" SET synchronous_commit = off")
	equal(t, "the default", query[string](t, at, "SHOW synchronous_commit"), "off")
	w := begun(t, open(t, at, postgres.Options{}))
	for n := range 12 {
		ok(t, w.call(task("before the crash ", n)))
		if n%4 == 3 {
			cluster.Restart(t)
			if entries, spent := w.sound(); entries != n+2 || spent != int64(n+1) {
				t.Fatalf("%d entries and %d spent after %d acknowledged calls", entries, spent, n+1)
			}
		}
	}
}

// TestRecovery: while the server is away everything fails as unavailable; when it
// is back, the same store goes on.
func TestRecovery(t *testing.T) {
	cluster := pgtest.Shared(t)
	w := begun(t, open(t, cluster.Fresh(t), postgres.Options{Lease: time.Minute}))
	ok(t, w.call("before"))
	cluster.Crash(t)
	_, err := w.Head(w.ctx)
	wantKind(t, "head without a server", err, fault.Unavailable)
	wantKind(t, "keep without a server", w.Keep(w.ctx, []store.Object{text("x", "x")}), fault.Unavailable)
	_, err = w.Intend(w.ctx, w.intention("meanwhile", store.Lease{Episode: episode, Epoch: 1}))
	wantKind(t, "intend without a server", err, fault.Unavailable)
	_, err = w.Audit(w.ctx)
	wantKind(t, "audit without a server", err, fault.Unavailable)
	cluster.Recover(t)
	ok(t, w.call("after"))
	entries, spent := w.sound()
	equal(t, "entries", entries, 3)
	equal(t, "spend", spent, 2)
}
