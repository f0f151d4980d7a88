package fsck_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"world/fault"
	"world/store"
	"world/store/fsck"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newPostgresWorld is newWorld on the other engine, with the URL of its database.
func newPostgresWorld(t testing.TB) (*world, string) {
	t.Helper()
	url := pgtest.Shared(t).Fresh(t)
	s, err := postgres.Open(t.Context(), url, postgres.Options{})
	w := &world{t: t, ctx: t.Context(), now: 1_000, Store: s}
	w.ok(err)
	t.Cleanup(func() { s.Close() })
	return w.begin(), url
}

func TestPostgres(t *testing.T) {
	w, _ := newPostgresWorld(t)
	if r := run(t, w); !r.Clean() {
		t.Fatalf("a new store: %v", r.Findings)
	}
	w.populate()
	r := run(t, w)
	if !r.Clean() {
		t.Fatalf("a populated store: %v", r.Findings)
	}
	if r.Entries != 16 || r.Claims != 10 || r.Intents != 6 || r.Objects < 50 {
		t.Fatalf("too little was looked at: %+v", r)
	}
	if r, err := fsck.Recent(t.Context(), w); err != nil || !r.Clean() || r.Entries != 16 || r.Intents != 6 {
		t.Fatalf("recent: %+v, %v", r, err)
	}
	// Objects larger and more than what comes at once, and ones with many labels.
	var many []store.Object
	for n := range 300 {
		many = append(many, store.NewObject("world/test/v1", "host/test", fmt.Appendf(nil, "%0*d", 1+n*n, n)))
		many = append(many, store.NewObject("another/part", fmt.Sprint("host/", n%3), many[0].Bytes()))
	}
	w.ok(w.Keep(w.ctx, many))
	if more := run(t, w); !more.Clean() || more.Objects != r.Objects+300 {
		t.Fatalf("%d objects after %d: %v", more.Objects, r.Objects, more.Findings)
	}
}

// TestPostgresBesideWriters audits while two processes write.
func TestPostgresBesideWriters(t *testing.T) {
	w, url := newPostgresWorld(t)
	w.populate()
	w.now = 1_500
	s, err := postgres.Open(t.Context(), url, postgres.Options{})
	w.ok(err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ctx.Err() == nil; n++ {
			o := w.object("world/test/v1", fmt.Appendf(nil, "beside %d", n))
			if err := s.Keep(ctx, []store.Object{o}); err != nil && ctx.Err() == nil {
				t.Errorf("the other writer: %v", err)
			}
		}
	}()
	last := auditBesideCalls(t, w)
	cancel()
	<-ended
	if last.Entries <= 16 {
		t.Fatalf("the last audit saw nothing of the writers: %d entries", last.Entries)
	}
}

// TestPostgresEveryColumn changes each column of each table in turn, all digests
// left as they were and all constraints off, and deletes rows.
func TestPostgresEveryColumn(t *testing.T) {
	w, url := newPostgresWorld(t)
	w.populate()
	w.ok(w.Close())
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, url)
	w.ok(err)
	defer conn.Close(ctx)
	exec := func(sql string) int64 {
		t.Helper()
		tag, err := conn.Exec(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return tag.RowsAffected()
	}
	// Foreign keys are off for this session, as damage does not ask for them.
	exec("SET session_replication_role = replica")
	examine := func() []string {
		s, err := postgres.Open(ctx, url, postgres.Options{ReadOnly: true, Readers: 1})
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Corrupt && kind != fault.Version {
				t.Fatalf("open: %v", err)
			}
			return []string{"refused: " + err.Error()}
		}
		defer s.Close()
		r, err := fsck.Run(ctx, s, fsck.Options{})
		if err != nil {
			return []string{"refused: " + err.Error()}
		}
		var found []string
		for _, f := range r.Findings {
			found = append(found, f.String())
		}
		return found
	}
	if found := examine(); len(found) > 0 {
		t.Fatalf("the untouched store: %v", found)
	}
	columns := columnsOf(t, conn)
	written := map[string]string{} // the columns of each table
	for _, c := range columns {
		written[c.table] = strings.TrimPrefix(written[c.table]+", "+c.name, ", ")
	}
	changed := 0
	try := func(table, what, statement, where string) {
		t.Helper()
		name := rowName(t, table, "encode(hash, 'hex')")
		row := textsOf(t, conn, fmt.Sprintf("SELECT %s FROM world.%s WHERE %s", name, table, where))
		exec("CREATE TABLE public.spare AS TABLE world." + table)
		defer func() {
			exec("DELETE FROM world." + table)
			exec("INSERT INTO world." + table + " (" + written[table] + ") SELECT " + written[table] + " FROM public.spare")
			exec("DROP TABLE public.spare")
		}()
		tag, err := conn.Exec(ctx, statement)
		var refused interface{ SQLState() string }
		if errors.As(err, &refused) && strings.HasPrefix(refused.SQLState(), "23") {
			return // a constraint does not let it happen at all
		}
		if err != nil || tag.RowsAffected() == 0 {
			t.Fatalf("%s: %d rows, %v", statement, tag.RowsAffected(), err)
		}
		changed++
		// The row of before that is there no more, and what is there that was not.
		row = append(row, textsOf(t, conn, fmt.Sprintf("SELECT %s FROM world.%s EXCEPT SELECT %s FROM public.spare", name, table, name))...)
		if found := examine(); len(found) == 0 || !named(found, row) {
			t.Errorf("%s %s: no finding of %q in %q", table, what, row, found)
		}
	}
	for _, c := range columns {
		change := map[string]string{
			"bigint": "%[1]s + 1000", "text": "%[1]s || 'x'",
			"bytea": "CASE WHEN octet_length(%[1]s) = 0 THEN decode(repeat('00', 32), 'hex') ELSE substr(%[1]s, 2) || '\\x07'::bytea END",
		}[c.kind]
		where := fmt.Sprintf("%s = (SELECT %s FROM world.%s ORDER BY %s DESC LIMIT 1)", c.name, c.name, c.table, c.name)
		try(c.table, c.name, fmt.Sprintf("UPDATE world.%s SET %s = %s WHERE %s", c.table, c.name, fmt.Sprintf(change, c.name), where), where)
	}
	for table := range written {
		if table != "labels" { // nothing says that an object had a further label
			try(table, "rows", "DELETE FROM world."+table, "false")
		}
	}
	if changed < 70 {
		t.Fatalf("only %d changes were tried", changed)
	}
}

// textsOf are what a query of one column returns.
func textsOf(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	found, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

type columnOf struct{ table, name, kind string }

// columnsOf are the columns of every table that can be written.
func columnsOf(t *testing.T, conn *pgx.Conn) []columnOf {
	t.Helper()
	found, err := conn.Query(t.Context(), "SELECT table_name, column_name, data_type FROM information_schema.columns "+
		"WHERE table_schema = 'world' AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (c columnOf, err error) {
		return c, row.Scan(&c.table, &c.name, &c.kind)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
