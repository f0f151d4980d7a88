package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// audit reads rows inside one long transaction of repeatable read: its bounds are
// the state that was current when it began. The server keeps old versions of rows
// for it meanwhile.
type audit struct {
	c       *pgx.Conn
	cursors int
}

var _ store.Audit = (*audit)(nil)

// Audit implements store.Auditor.
func (s *Store) Audit(ctx context.Context) (store.Audit, error) {
	const op = "postgres: audit"
	c, err := dial(ctx, s.config, settingsOfReader, func() {})
	if err != nil {
		return nil, asFault(ctx, op, err)
	}
	a := &audit{c: c}
	// The first read fixes the state.
	for _, q := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SELECT count(*) FROM world.meta"} {
		if _, err := c.Exec(ctx, q); err != nil {
			a.Close()
			return nil, asFault(ctx, op, err)
		}
	}
	return a, nil
}

// Close implements store.Audit.
func (a *audit) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	return a.c.Close(ctx)
}

// Engine implements store.Audit: the catalogue beside the one this build makes,
// the server's settings that durability rests on, rows that break a constraint
// which was off when they were written, and the engine's own bookkeeping.
func (a *audit) Engine(ctx context.Context) ([]string, error) {
	const op = "postgres: integrity"
	lines, err := catalogueDifferences(ctx, a.c)
	if err != nil {
		return lines, asFault(ctx, op, err)
	}
	if _, err := schemaVersion(ctx, a.c); err != nil {
		lines = append(lines, fault.Public(err))
	}
	err = stream(ctx, a, op, scanMeta, metaWhere, func(r store.Row[metaRow]) error {
		if r.Fault != nil {
			lines = append(lines, fault.Public(r.Fault))
		}
		return nil
	}, "SELECT "+metaColumns+" FROM world.meta ORDER BY key")
	if err != nil {
		return lines, err
	}
	for _, query := range []string{settingsAtRisk, constraintsBroken} {
		found, err := a.c.Query(ctx, query)
		if err != nil {
			return lines, asFault(ctx, op, err)
		}
		more, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			return lines, asFault(ctx, op, err)
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// settingsAtRisk names settings with which a power cut may take what was acknowledged.
const settingsAtRisk = "SELECT 'the server runs with ' || s.name || ' off' FROM unnest(ARRAY['fsync', 'full_page_writes']) s (name) " +
	"WHERE current_setting(s.name, true) = 'off'"

// constraintsBroken finds rows that the schema does not allow.
const constraintsBroken = `
SELECT 'a label names a missing object' WHERE EXISTS (SELECT 1 FROM world.labels l WHERE NOT EXISTS (SELECT 1 FROM world.objects o WHERE o.hash = l.hash))
UNION ALL
SELECT 'an intent names a missing claim' WHERE EXISTS (SELECT 1 FROM world.intents i WHERE NOT EXISTS (SELECT 1 FROM world.claims c WHERE c.invocation = i.invocation))
UNION ALL
SELECT 'a session names a missing object' WHERE EXISTS (SELECT 1 FROM world.sessions s WHERE NOT EXISTS (SELECT 1 FROM world.objects o WHERE o.hash = s.object))
UNION ALL
SELECT 'a registry head names a missing object' WHERE EXISTS (SELECT 1 FROM world.registry r WHERE NOT EXISTS (SELECT 1 FROM world.objects o WHERE o.hash = r.object))
UNION ALL
SELECT 'the log is not dense' WHERE (SELECT count(*) <> coalesce(max(idx) + 1, 0) OR coalesce(min(idx), 0) <> 0 FROM world.log)
UNION ALL
SELECT 'spend ' || quote_literal(episode) || ' is over its ceiling' FROM world.spend WHERE total > ceiling OR total < 0`

// fetched is how many rows come at once. Their objects are bounded below.
const fetched = 256

// stream hands every row of a query to visit, which may use the audit meanwhile. A
// damaged row is visited with its fault; only an error of the server or of visit
// ends the stream.
func stream[T any](ctx context.Context, a *audit, op string, scan func(rows.Scanner) (T, error), where func(T) string,
	visit func(store.Row[T]) error, query string) error {
	a.cursors++
	name := fmt.Sprintf("audit%d", a.cursors)
	if _, err := a.c.Exec(ctx, "DECLARE "+name+" NO SCROLL CURSOR FOR "+query); err != nil {
		return asFault(ctx, op, err)
	}
	for {
		found, err := a.c.Query(ctx, fmt.Sprintf("FETCH %d FROM %s", fetched, name), pgx.QueryExecModeDescribeExec)
		if err != nil {
			return asFault(ctx, op, err)
		}
		list, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (values, error) { return row.Values() })
		if err != nil {
			return asFault(ctx, op, err)
		}
		for _, row := range list {
			v, err := scan(row)
			if err := visit(store.Row[T]{Value: v, Fault: err, Name: where}); err != nil {
				return err
			}
		}
		if len(list) < fetched {
			_, err := a.c.Exec(ctx, "CLOSE "+name)
			return asFault(ctx, op, err)
		}
	}
}

// Entries implements store.Audit.
func (a *audit) Entries(ctx context.Context, visit func(store.Row[store.Entry]) error) error {
	return stream(ctx, a, "postgres: audit log", rows.ScanEntry, rows.EntryWhere, visit, "SELECT "+rows.EntryColumns+" FROM world.log ORDER BY idx")
}

// single reads a table of one row.
func single[T any](ctx context.Context, a *audit, op string, scan func(rows.Scanner) (T, error), name, query string) (store.Row[T], error) {
	where := func(T) string { return name }
	row, n := store.Row[T]{Name: where}, 0
	err := stream(ctx, a, op, scan, where, func(r store.Row[T]) error {
		row = r
		n++
		return nil
	}, query)
	if err == nil && n == 0 {
		err = fault.New(op, fault.NotFound, "the table of the %s is empty", name)
	}
	return row, err
}

// Head implements store.Audit.
func (a *audit) Head(ctx context.Context) (store.Row[store.Head], error) {
	return single(ctx, a, "postgres: audit head", scanHead, "head", "SELECT "+rows.HeadColumns+" FROM world.head WHERE id = 1")
}

// LastTime implements store.Audit.
func (a *audit) LastTime(ctx context.Context) (store.Row[int64], error) {
	row, err := single(ctx, a, "postgres: audit clock", rows.ScanClock, "clock", "SELECT "+rows.ClockColumns+" FROM world.clock WHERE id = 1")
	if fault.Is(err, fault.NotFound) {
		row.Fault, err = rows.Damaged("the clock is missing"), nil
	}
	return row, err
}

// Claims implements store.Audit.
func (a *audit) Claims(ctx context.Context, visit func(store.Row[store.Claim]) error) error {
	return stream(ctx, a, "postgres: audit claims", rows.ScanClaim, rows.ClaimWhere, visit, "SELECT "+rows.ClaimColumns+" FROM world.claims ORDER BY invocation")
}

// Intents implements store.Audit.
func (a *audit) Intents(ctx context.Context, visit func(store.Row[store.Intent]) error) error {
	return stream(ctx, a, "postgres: audit intents", rows.ScanIntent, rows.IntentWhere, visit,
		"SELECT "+rows.IntentColumns+" FROM world.intents ORDER BY episode, ordinal")
}

// Sessions implements store.Audit, in mint order.
func (a *audit) Sessions(ctx context.Context, visit func(store.Row[store.Session]) error) error {
	return stream(ctx, a, "postgres: audit sessions", rows.ScanSession, rows.SessionWhere, func(row store.Row[rows.Session]) error {
		return visit(store.Row[store.Session]{Value: row.Value.Session, Fault: row.Fault, Name: func(store.Session) string { return row.Where() }})
	}, "SELECT "+rows.SessionColumns+" FROM world.sessions ORDER BY seq")
}

// Registries implements store.Audit.
func (a *audit) Registries(ctx context.Context, visit func(store.Row[store.HeadMove]) error) error {
	return stream(ctx, a, "postgres: audit registry", rows.ScanRegistry, rows.RegistryWhere, visit,
		"SELECT "+rows.RegistryColumns+" FROM world.registry ORDER BY name")
}

// Leases implements store.Audit.
func (a *audit) Leases(ctx context.Context, visit func(store.Row[store.Lease]) error) error {
	return stream(ctx, a, "postgres: audit leases", scanLease, leaseWhere, func(row store.Row[leaseRow]) error {
		return visit(store.Row[store.Lease]{Value: row.Value.Lease, Fault: row.Fault, Name: func(store.Lease) string { return row.Where() }})
	}, "SELECT "+leaseColumns+" FROM world.leases ORDER BY episode")
}
