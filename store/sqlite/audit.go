package sqlite

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/batch"
	"world/store/rows"
)

// audit reads rows inside one long read transaction: its bounds are the state
// that was current when it began. The write-ahead log grows meanwhile.
type audit struct {
	c    *conn
	path string
}

var _ store.Audit = (*audit)(nil)

// Audit implements store.Auditor.
func (s *Store) Audit(ctx context.Context) (store.Audit, error) {
	const op = "sqlite: audit"
	if ctx.Err() != nil {
		return nil, batch.Ended(ctx, op)
	}
	c, err := connect(s.path, s.reading)
	if err != nil {
		return nil, asFault(op, err)
	}
	err = c.mapFile()
	for _, q := range []string{"BEGIN", "SELECT count(*) FROM sqlite_schema"} { // the first read fixes the state
		if err == nil {
			err = c.each(func(rows.Scanner) error { return nil }, q)
		}
	}
	if err != nil {
		c.close()
		return nil, asFault(op, err)
	}
	return &audit{c, s.path}, nil
}

// Close implements store.Audit.
func (a *audit) Close() error {
	a.c.rollback()
	return a.c.close()
}

// Engine implements store.Audit. It also checks the rows of the engine's own
// bookkeeping, which no other method shows.
func (a *audit) Engine(ctx context.Context) ([]string, error) {
	const op = "sqlite: integrity"
	lines, err := schemaDifferences(a.c, len(migrations))
	if err != nil {
		return nil, asFault(op, err)
	}
	if _, err := schemaVersion(a.c); err != nil {
		lines = append(lines, fault.Public(err))
	}
	if _, err := readMeta(a.c, metaFence); err != nil {
		lines = append(lines, fault.Public(err))
	}
	if _, err := readSeal(a.c); err != nil {
		lines = append(lines, fault.Public(err))
	}
	if err := checkLog(a.path); err != nil {
		lines = append(lines, fault.Public(err))
	}
	// The check looks at the cells of pages itself; that each page is looked at when it
	// is read took a third of its time.
	if err := a.c.script("PRAGMA cell_size_check = 0"); err != nil {
		return lines, asFault(op, err)
	}
	defer a.c.script("PRAGMA cell_size_check = 1")
	for _, query := range append([]string{"PRAGMA integrity_check"}, astray...) {
		if ctx.Err() != nil {
			return lines, batch.Ended(ctx, op)
		}
		err := a.c.each(func(row rows.Scanner) error {
			var line string
			err := row.Scan(&line)
			if err == nil && line != "ok" {
				lines = append(lines, line)
			}
			return err
		}, query)
		if err != nil {
			return lines, asFault(op, err)
		}
	}
	return lines, nil
}

// stream hands every row of a query to visit. A rows.Damaged row is visited with its
// fault; only an error of the engine itself or of visit ends the stream.
func stream[T any](ctx context.Context, a *audit, op string, scan func(rows.Scanner) (T, error), where func(T) string,
	visit func(store.Row[T]) error, query string) error {
	return asFault(op, a.c.each(func(row rows.Scanner) error {
		if ctx.Err() != nil {
			return batch.Ended(ctx, op)
		}
		v, err := scan(row)
		return visit(store.Row[T]{Value: v, Fault: err, Name: where})
	}, query))
}

// Object implements store.Audit.
func (a *audit) Object(ctx context.Context, r store.Ref) (store.Row[store.StoredObject], error) {
	const op = "sqlite: audit object"
	if ctx.Err() != nil {
		return store.Row[store.StoredObject]{}, batch.Ended(ctx, op)
	}
	o, err := readObject(a.c, r)
	return o, asFault(op, err)
}

// Objects implements store.Audit, in insertion order.
func (a *audit) Objects(ctx context.Context, visit func(store.Row[store.StoredObject]) error) error {
	const op = "sqlite: audit objects"
	columns := objectColumns
	if labels, err := a.c.any("SELECT 1 FROM labels LIMIT 1"); err != nil {
		return asFault(op, err)
	} else if !labels { // most worlds have none, and need not look for them
		columns = "0, " + rows.ObjectColumns
	}
	more := false
	object := rows.Objects(&more)
	return stream(ctx, a, op, func(row rows.Scanner) (store.StoredObject, error) {
		o, err := object(row)
		if err == nil && more {
			err = a.furtherLabels(&o)
		}
		return o, err
	}, rows.ObjectWhere, visit, "SELECT "+columns+" FROM objects ORDER BY seq")
}

func (a *audit) furtherLabels(o *store.StoredObject) error {
	return a.c.each(func(row rows.Scanner) error {
		l, err := rows.ScanLabel(row, o.Ref)
		o.Labels = append(o.Labels, l)
		return err
	}, "SELECT "+rows.LabelColumns+" FROM labels WHERE hash = ? ORDER BY semantic_id, provenance", rows.Blob(o.Ref))
}

// Entries implements store.Audit.
func (a *audit) Entries(ctx context.Context, visit func(store.Row[store.Entry]) error) error {
	return stream(ctx, a, "sqlite: audit log", rows.Entries(), rows.EntryWhere, visit, "SELECT "+rows.EntryColumns+" FROM log ORDER BY idx")
}

// Head implements store.Audit.
func (a *audit) Head(ctx context.Context) (store.Row[store.Head], error) {
	const op = "sqlite: audit head"
	row := store.Row[store.Head]{Name: func(store.Head) string { return "head" }}
	if ctx.Err() != nil {
		return row, batch.Ended(ctx, op)
	}
	h, err := readHead(a.c)
	row.Value = h
	if fault.Is(err, fault.Corrupt) {
		row.Fault, err = err, nil
	}
	return row, asFault(op, err)
}

// LastTime implements store.Audit.
func (a *audit) LastTime(ctx context.Context) (store.Row[int64], error) {
	const op = "sqlite: audit clock"
	row := store.Row[int64]{Name: func(int64) string { return "clock" }}
	if ctx.Err() != nil {
		return row, batch.Ended(ctx, op)
	}
	at, err := readClock(a.c)
	row.Value = at
	if fault.Is(err, fault.Corrupt) {
		row.Fault, err = err, nil
	}
	return row, asFault(op, err)
}

// Claims implements store.Audit, in insertion order.
func (a *audit) Claims(ctx context.Context, visit func(store.Row[store.Claim]) error) error {
	return stream(ctx, a, "sqlite: audit claims", rows.Claims(), rows.ClaimWhere, visit, "SELECT "+rows.ClaimColumns+" FROM claims ORDER BY rowid")
}

// Intents implements store.Audit.
func (a *audit) Intents(ctx context.Context, visit func(store.Row[store.Intent]) error) error {
	return stream(ctx, a, "sqlite: audit intents", rows.Intents(), rows.IntentWhere, visit,
		eachIntent(rows.IntentColumns, "true")+" ORDER BY episode, ordinal")
}

// Ledgers implements store.Audit.
func (a *audit) Ledgers(ctx context.Context, visit func(store.Row[store.Ledger]) error) error {
	const op = "sqlite: audit spend"
	var l store.Row[store.Ledger]
	flush := func() (err error) {
		if l.Name == nil {
			return nil
		}
		if l.Value.Next, err = nextOrdinal(a.c, l.Value.Episode); err != nil {
			return err
		}
		return visit(l)
	}
	err := stream(ctx, a, op, func(row rows.Scanner) (spentRow, error) { return scanSpent(row) }, spentWhere, func(row store.Row[spentRow]) error {
		if l.Name == nil || row.Value.episode != l.Value.Episode {
			if err := flush(); err != nil {
				return err
			}
			l = store.Row[store.Ledger]{Value: store.Ledger{Episode: row.Value.episode}, Name: rows.LedgerWhere}
		}
		if row.Fault != nil && l.Fault == nil {
			l.Fault, l.Name = row.Fault, func(store.Ledger) string { return row.Where() }
		}
		l.Value.Spent = append(l.Value.Spent, row.Value.spent)
		return nil
	}, "SELECT "+spendColumns+" FROM spend ORDER BY episode, effect, scope")
	if err == nil {
		err = flush()
	}
	return asFault(op, err)
}

// Sessions implements store.Audit, in mint order.
func (a *audit) Sessions(ctx context.Context, visit func(store.Row[store.Session]) error) error {
	return stream(ctx, a, "sqlite: audit sessions", rows.ScanSession, rows.SessionWhere,
		func(row store.Row[rows.Session]) error {
			return visit(store.Row[store.Session]{Value: row.Value.Session, Fault: row.Fault, Name: func(store.Session) string { return row.Where() }})
		}, "SELECT "+rows.SessionColumns+" FROM sessions ORDER BY seq")
}

// Registries implements store.Audit.
func (a *audit) Registries(ctx context.Context, visit func(store.Row[store.HeadMove]) error) error {
	return stream(ctx, a, "sqlite: audit registry", rows.ScanRegistry, rows.RegistryWhere, visit,
		"SELECT "+rows.RegistryColumns+" FROM registry ORDER BY name")
}

// Leases implements store.Audit.
func (a *audit) Leases(ctx context.Context, visit func(store.Row[store.Lease]) error) error {
	return stream(ctx, a, "sqlite: audit leases", scanLease, leaseWhere, visit, "SELECT "+leaseColumns+" FROM leases ORDER BY episode")
}
