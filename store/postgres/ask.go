package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"world/store/batch"
	"world/store/rows"
)

// askLimit is how many waiting readers share one round trip at most.
const askLimit = 64

// query is one query of a reader. It may be run again, from its beginning.
type query struct {
	sql   string
	args  []any
	begin func()
	row   func(rows.Scanner) error
}

// into is a query whose rows are listed.
func into[T any](list *[]T, scan func(rows.Scanner) (T, error), sql string, args ...any) query {
	return query{sql: sql, args: args, begin: func() { *list = nil }, row: func(row rows.Scanner) error {
		v, err := scan(row)
		*list = append(*list, v)
		return err
	}}
}

// ask runs a reader's queries, which find few and small rows. Readers that wait
// at the same moment share one round trip.
func (s *Store) ask(ctx context.Context, op string, queries ...query) error {
	return asFault(ctx, op, s.asking.Do(ctx, op, queries))
}

// answer runs the queries of readers together, and one reader after another when
// that fails: a row may be damaged, or the connection dead.
func (s *Store) answer(group []*batch.Change[[]query]) {
	ctx, stop := during(group)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, s.step)
	defer cancel()
	var b pgx.Batch
	for _, m := range group {
		for _, q := range m.Work {
			q.begin()
			b.Queue(q.sql, q.args...).Query(func(found pgx.Rows) error { return visit(found, q.row) })
		}
	}
	if s.pool.SendBatch(ctx, &b).Close() == nil {
		return
	}
	for _, m := range group {
		for _, q := range m.Work {
			if m.Err == nil {
				m.Err = s.run(m.Ctx, q)
			}
		}
	}
}

// run runs one query. A connection that turns out to be dead, as all are after the
// server restarted, is replaced once.
func (s *Store) run(ctx context.Context, q query) error {
	err := q.of(ctx, s.pool)
	if err != nil && ctx.Err() == nil && (state(err) == "" && passing(err) || fatal(err)) {
		err = q.of(ctx, s.pool)
	}
	return err
}

// of runs a query where it is told.
func (q query) of(ctx context.Context, from querier) error {
	q.begin()
	found, err := from.Query(ctx, q.sql, q.args...)
	if err != nil {
		return err
	}
	return visit(found, q.row)
}

func visit(found pgx.Rows, row func(rows.Scanner) error) error {
	defer found.Close()
	for found.Next() {
		if err := row(found); err != nil {
			return err
		}
	}
	return found.Err()
}
