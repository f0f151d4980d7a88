package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// values is a row that has left the connection. Scanning it fails for a damaged
// column without ending the query it came from.
type values []any

// Scan implements rows.Scanner.
func (v values) Scan(dest ...any) error {
	if len(dest) != len(v) {
		return fmt.Errorf("a row of %d columns is read as %d", len(v), len(dest))
	}
	for i, d := range dest {
		if s, ok := d.(sql.Scanner); ok {
			if err := s.Scan(v[i]); err != nil {
				return err
			}
			continue
		}
		to, from := reflect.ValueOf(d).Elem(), reflect.ValueOf(v[i])
		if !from.IsValid() || from.Kind() != to.Kind() || !from.CanConvert(to.Type()) {
			return fmt.Errorf("column %d holds %T", i, v[i])
		}
		to.Set(from.Convert(to.Type()))
	}
	return nil
}

// inlineBytes is how large an object may be to come with others, in bytes; larger
// ones are fetched one by one.
const inlineBytes = 64 << 10

// Object implements store.Audit.
func (a *audit) Object(ctx context.Context, r store.Ref) (store.Row[store.StoredObject], error) {
	const op = "postgres: audit object"
	if _, err := store.ParseRef(string(r)); err != nil {
		return store.Row[store.StoredObject]{}, err
	}
	row := store.Row[store.StoredObject]{Name: func(store.StoredObject) string { return "object " + string(r) }}
	list, err := collect(ctx, a.c, func(found rows.Scanner) (o store.Row[store.StoredObject], err error) {
		o.Name = row.Name
		o.Value, o.Fault = rows.ScanObject(found)
		return o, nil
	}, objectByRef, rows.Blob(r))
	switch {
	case err != nil:
		return row, asFault(ctx, op, err)
	case len(list) == 0:
		return row, fault.New(op, fault.NotFound, "object %s", r)
	}
	return list[0], nil
}

// Objects implements store.Audit, as they lie: new ones after old ones. Their
// further labels come with them as arrays.
func (a *audit) Objects(ctx context.Context, visit func(store.Row[store.StoredObject]) error) error {
	const op = "postgres: audit objects"
	type labelled struct {
		store.StoredObject
		large bool
	}
	return stream(ctx, a, op, func(row rows.Scanner) (o labelled, err error) {
		var semantics, provenances, digests []any
		o.StoredObject, err = rows.ScanObject(row, &o.large, list{&semantics}, list{&provenances}, list{&digests})
		for i := range semantics {
			l, labelErr := rows.ScanLabel(values{semantics[i], provenances[i], digests[i]}, o.Ref)
			o.Labels = append(o.Labels, l)
			if err == nil {
				err = labelErr
			}
		}
		return o, err
	}, func(o labelled) string { return rows.ObjectWhere(o.StoredObject) }, func(row store.Row[labelled]) error {
		if row.Value.large {
			whole, err := a.Object(ctx, row.Value.Ref)
			if err != nil {
				return err
			}
			row.Value.Bytes = whole.Value.Bytes
		}
		return visit(store.Row[store.StoredObject]{Value: row.Value.StoredObject, Fault: row.Fault, Name: rows.ObjectWhere})
	}, fmt.Sprintf("SELECT octet_length(o.bytes) > %d, l.semantics, l.provenances, l.digests, o.hash, o.semantic_id, o.provenance, "+
		"CASE WHEN octet_length(o.bytes) <= %d THEN o.bytes ELSE '' END, o.digest FROM world.objects o LEFT JOIN "+
		"(SELECT hash, array_agg(semantic_id ORDER BY semantic_id, provenance) AS semantics, array_agg(provenance ORDER BY semantic_id, provenance) AS provenances, "+
		"array_agg(digest ORDER BY semantic_id, provenance) AS digests FROM world.labels GROUP BY hash) l ON l.hash = o.hash", inlineBytes, inlineBytes))
}

// list reads an array, or none for NULL.
type list struct{ to *[]any }

// Scan implements sql.Scanner.
func (l list) Scan(v any) error {
	all, ok := v.([]any)
	if !ok && v != nil {
		return fmt.Errorf("an array holds %T", v)
	}
	*l.to = all
	return nil
}

// Ledgers implements store.Audit.
func (a *audit) Ledgers(ctx context.Context, visit func(store.Row[store.Ledger]) error) error {
	const op = "postgres: audit spend"
	type total struct {
		spendRow
		next int64
	}
	var l store.Row[store.Ledger]
	flush := func() error {
		if l.Name == nil {
			return nil
		}
		return visit(l)
	}
	err := stream(ctx, a, op, func(row rows.Scanner) (t total, err error) {
		r := &t.spendRow
		err = rows.Whole(row, r, spendWhere, spendRow.digest, &t.next, &r.episode, &r.spent.Effect, &r.spent.Scope, &r.spent.Total, &r.ceiling)
		return t, err
	}, func(t total) string { return spendWhere(t.spendRow) }, func(row store.Row[total]) error {
		t := row.Value
		if l.Name == nil || t.episode != l.Value.Episode {
			if err := flush(); err != nil {
				return err
			}
			l = store.Row[store.Ledger]{Value: store.Ledger{Episode: t.episode, Next: t.next}, Name: rows.LedgerWhere}
		}
		if row.Fault != nil && l.Fault == nil {
			l.Fault, l.Name = row.Fault, func(store.Ledger) string { return row.Where() }
		}
		l.Value.Spent = append(l.Value.Spent, t.spent)
		return nil
	}, "SELECT (SELECT coalesce(max(ordinal) + 1, 0) FROM world.intents i WHERE i.episode = s.episode), "+spendColumns+
		" FROM world.spend s ORDER BY episode, effect, scope")
	if err == nil {
		err = flush()
	}
	return err
}
