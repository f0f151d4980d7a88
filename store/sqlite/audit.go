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
	// The first read fixes the state.
	for _, q := range []string{"BEGIN", "SELECT count(*) FROM sqlite_schema"} {
		if err := c.each(func(rows.Scanner) error { return nil }, q); err != nil {
			c.close()
			return nil, asFault(op, err)
		}
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
	if ctx.Err() != nil {
		return lines, batch.Ended(ctx, op)
	}
	err = a.c.each(func(row rows.Scanner) error {
		var line string
		err := row.Scan(&line)
		if err == nil && line != "ok" {
			lines = append(lines, line)
		}
		return err
	}, "PRAGMA integrity_check")
	if err != nil || ctx.Err() != nil {
		return lines, asFault(op, err)
	}
	for _, query := range astray {
		if err == nil && ctx.Err() == nil {
			err = a.c.each(func(row rows.Scanner) error {
				var line string
				err := row.Scan(&line)
				lines = append(lines, line)
				return err
			}, query)
		}
	}
	return lines, asFault(op, err)
}

// astray finds, each by some ten lines at most, rows that name or keep the number of
// another row that is missing or is not the one that they belong to.
var astray = []string{
	`SELECT format('a row of labels names a missing row of objects, %s', lower(hex(l.hash))) FROM labels l
		WHERE ` + missing("l.hash") + ` LIMIT 10`,
	`SELECT format('session %d names a missing row of objects, %s', s.seq, lower(hex(s.object))) FROM sessions s
		WHERE ` + missing("s.object") + ` LIMIT 10`,
	`SELECT format('registry "%w" names a missing row of objects, %s', r.name, lower(hex(r.object))) FROM registry r
		WHERE ` + missing("r.object") + ` LIMIT 10`,
	`SELECT format('object %s is stored twice', lower(hex(o.hash))) FROM objects o INDEXED BY objects_hash
		WHERE o.twin <> 0 AND (SELECT count(*) FROM objects t WHERE substr(t.hash, 1, 8) = substr(o.hash, 1, 8) AND t.hash = o.hash) <> 1 LIMIT 10`,
	`SELECT format('object %s is not the twin of another', lower(hex(o.hash))) FROM objects o INDEXED BY objects_hash
		WHERE o.twin <> 0 AND NOT EXISTS (SELECT 1 FROM objects t WHERE substr(t.hash, 1, 8) = substr(o.hash, 1, 8) AND t.twin = o.twin - 1) LIMIT 10`,
	`SELECT format('intent "effect:%w:%d" is settled and unsettled', u.episode, u.ordinal) FROM unsettled u
		JOIN intents i ON i.episode = u.episode AND i.ordinal = u.ordinal LIMIT 10`,
	`SELECT format('claim "%w" does not lead to its intent', i.invocation) FROM (` + everyIntent + `) i
		LEFT JOIN claims c ON c.invocation = i.invocation
		WHERE c.ordinal IS NOT i.ordinal OR c.episode <> i.episode LIMIT 10`,
	`SELECT format('claim "%w" leads to the intent of another call', c.invocation) FROM claims c
		LEFT JOIN intents i ON i.episode = c.episode AND i.ordinal = c.ordinal
		LEFT JOIN unsettled u ON u.episode = c.episode AND u.ordinal = c.ordinal
		WHERE c.ordinal <> -1 AND coalesce(i.invocation, u.invocation) IS NOT c.invocation LIMIT 10`,
	`SELECT format('claim "%w" does not lead to its entry, log %d', l.invocation, l.idx) FROM log l
		LEFT JOIN claims c ON c.invocation = l.invocation
		LEFT JOIN intents i ON i.episode = c.episode AND i.ordinal = c.ordinal
		LEFT JOIN unsettled u ON u.episode = c.episode AND u.ordinal = c.ordinal
		WHERE l.invocation <> '' AND coalesce(i.entry, u.entry, c.entry) IS NOT l.idx LIMIT 10`,
	`SELECT format('claim "%w" leads to the entry of another call', c.invocation) FROM claims c
		LEFT JOIN log l ON l.idx = c.entry
		WHERE c.entry <> -1 AND l.invocation IS NOT c.invocation LIMIT 10`,
	`SELECT format('intent "effect:%w:%d" leads to the entry of another call', i.episode, i.ordinal) FROM (` + everyIntent + `) i
		LEFT JOIN log l ON l.idx = i.entry
		WHERE i.entry <> -1 AND l.invocation IS NOT i.invocation LIMIT 10`,
	`SELECT format('spend "%w" "%w" "%w" does not lead to its last intent', s.episode, s.effect, s.scope) FROM spend s
		WHERE s.ordinal IS NOT nullif(max(coalesce(` + lastOf("intents") + `, -1), coalesce(` + lastOf("unsettled") + `, -1)), -1) LIMIT 10`,
	`SELECT format('object %s is not known as what log %d is about', lower(hex(l.transition_ref)), l.idx) FROM log l
		LEFT JOIN objects o ON substr(o.hash, 1, 8) = substr(l.transition_ref, 1, 8) AND o.hash = l.transition_ref
		WHERE l.idx > 0 AND (o.about BETWEEN 0 AND l.idx) IS NOT 1 LIMIT 10`,
	`SELECT format('object %s is known for log %d, which is about another', lower(hex(o.hash)), o.about) FROM objects o
		LEFT JOIN log l ON l.idx = o.about
		WHERE o.about <> -1 AND l.transition_ref IS NOT o.hash LIMIT 10`,
}

// lastOf is the last intent in a table that the running total s counts, NULL for none.
func lastOf(table string) string {
	return "(SELECT i.ordinal FROM " + table + " i WHERE i.episode = s.episode AND i.effect = s.effect AND i.scope = s.scope ORDER BY i.ordinal DESC LIMIT 1)"
}

// everyIntent are the columns by which intents are found from elsewhere.
const everyIntent = `SELECT episode, ordinal, invocation, entry FROM intents
	UNION ALL SELECT episode, ordinal, invocation, entry FROM unsettled`

// missing is the condition that no object has a hash.
func missing(hash string) string {
	return "NOT EXISTS (SELECT 1 FROM objects o WHERE substr(o.hash, 1, 8) = substr(" + hash + ", 1, 8) AND o.hash = " + hash + ")"
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
		return visit(store.Row[T]{Where: where(v), Value: v, Fault: err})
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
	return stream(ctx, a, "sqlite: audit objects", func(row rows.Scanner) (store.StoredObject, error) {
		o, more, err := scanObject(row)
		if err == nil && more {
			err = a.furtherLabels(&o)
		}
		return o, err
	}, func(o store.StoredObject) string { return "object " + string(o.Ref) },
		visit, "SELECT "+objectColumns+" FROM objects ORDER BY seq")
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
	return stream(ctx, a, "sqlite: audit log", rows.ScanEntry, rows.EntryWhere, visit, "SELECT "+rows.EntryColumns+" FROM log ORDER BY idx")
}

// Head implements store.Audit.
func (a *audit) Head(ctx context.Context) (store.Row[store.Head], error) {
	const op = "sqlite: audit head"
	row := store.Row[store.Head]{Where: "head"}
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
	row := store.Row[int64]{Where: "clock"}
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

// Claims implements store.Audit.
func (a *audit) Claims(ctx context.Context, visit func(store.Row[store.Claim]) error) error {
	return stream(ctx, a, "sqlite: audit claims", rows.ScanClaim, rows.ClaimWhere, visit, "SELECT "+rows.ClaimColumns+" FROM claims ORDER BY invocation")
}

// Intents implements store.Audit.
func (a *audit) Intents(ctx context.Context, visit func(store.Row[store.Intent]) error) error {
	return stream(ctx, a, "sqlite: audit intents", rows.ScanIntent, rows.IntentWhere, visit,
		eachIntent(rows.IntentColumns, "true")+" ORDER BY episode, ordinal")
}

// Ledgers implements store.Audit.
func (a *audit) Ledgers(ctx context.Context, visit func(store.Row[store.Ledger]) error) error {
	const op = "sqlite: audit spend"
	var l store.Row[store.Ledger]
	flush := func() (err error) {
		if l.Where == "" {
			return nil
		}
		if l.Value.Next, err = nextOrdinal(a.c, l.Value.Episode); err != nil {
			return err
		}
		return visit(l)
	}
	err := stream(ctx, a, op, func(row rows.Scanner) (spentRow, error) { return scanSpent(row) }, spentWhere, func(row store.Row[spentRow]) error {
		if l.Where == "" || row.Value.episode != l.Value.Episode {
			if err := flush(); err != nil {
				return err
			}
			l = store.Row[store.Ledger]{Where: "spend of " + string(row.Value.episode), Value: store.Ledger{Episode: row.Value.episode}}
		}
		if row.Fault != nil && l.Fault == nil {
			l.Where, l.Fault = row.Where, row.Fault
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
			return visit(store.Row[store.Session]{Where: row.Where, Value: row.Value.Session, Fault: row.Fault})
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
