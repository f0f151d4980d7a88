package postgres

import (
	"context"
	"time"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// unsettled is the condition of the index of intents that nobody has closed, as
// queries must repeat it to be served from there.
const unsettled = "status IN ('', 'indeterminate') AND reconciled = ''"

// many returns the rows that a query finds.
func many[T any](ctx context.Context, s *Store, op string, scan func(rows.Scanner) (T, error), query string, args ...any) (list []T, err error) {
	err = s.run(ctx, into(&list, scan, query, args...))
	return list, asFault(ctx, op, err)
}

func collect[T any](ctx context.Context, q querier, scan func(rows.Scanner) (T, error), query string, args ...any) (list []T, err error) {
	err = into(&list, scan, query, args...).of(ctx, q)
	return list, err
}

// one returns the small row that a query finds, or NotFound naming its key.
func one[T any](ctx context.Context, s *Store, op string, scan func(rows.Scanner) (T, error), query string, key ...any) (v T, err error) {
	var list []T
	if err := s.ask(ctx, op, into(&list, scan, query, key...)); err != nil {
		return v, err
	}
	if len(list) == 0 {
		return v, fault.New(op, fault.NotFound, "%v", key)
	}
	return list[0], nil
}

const clockQuery = "SELECT " + rows.ClockColumns + " FROM world.clock WHERE id = 1"

// LastTime implements store.Reader.
func (s *Store) LastTime(ctx context.Context) (int64, error) {
	found, err := s.Look(ctx, store.Lookup{})
	return found.At, err
}

// Look implements store.Reader, in one round trip at most.
func (s *Store) Look(ctx context.Context, what store.Lookup) (store.Looked, error) {
	if found, ok := s.glance(ctx, what); ok {
		return found, nil
	}
	age, taken := s.glances.begin(), time.Now()
	var at []int64
	var sessions []rows.Session
	moves := make([][]store.HeadMove, len(what.Registries))
	var ledger store.Ledger
	keep := func(store.Ledger) {}
	queries := []query{into(&at, rows.ScanClock, clockQuery)}
	if what.Session != "" {
		queries = append(queries, into(&sessions, rows.ScanSession, sessionQuery, string(what.Session)))
	}
	for i, name := range what.Registries {
		queries = append(queries, into(&moves[i], rows.ScanRegistry, registryQuery, name))
	}
	if what.Ledger != "" {
		var known bool
		if ledger, known, keep = s.ledgerAt(what.Ledger); !known {
			queries = append(queries, ledgerQuery(&ledger, what.Ledger))
		}
	}
	if err := s.ask(ctx, "postgres: look", queries...); err != nil {
		return store.Looked{}, err
	}
	keep(ledger)
	if len(at) == 0 {
		return store.Looked{}, rows.Damaged("the clock is missing")
	}
	found := store.Looked{At: at[0], Registries: make([]store.Ref, len(moves)), Ledger: ledger, Taken: taken}
	if len(sessions) > 0 {
		found.Session = sessions[0].Session
	}
	for i, move := range moves {
		if len(move) > 0 {
			found.Registries[i] = move[0].To
		}
	}
	s.glances.keep(what, found, age)
	return found, nil
}

// Object implements store.Reader.
func (s *Store) Object(ctx context.Context, r store.Ref) (store.Object, error) {
	stored, err := s.object(ctx, "postgres: object", r)
	if err != nil {
		return store.Object{}, err
	}
	l := stored.Labels[0]
	o := store.NewObject(l.SemanticID, l.Provenance, stored.Bytes)
	if o.Ref() != r {
		return store.Object{}, rows.Damaged("object %s has bytes of another hash", r)
	}
	return o, nil
}

const objectByRef = "SELECT " + rows.ObjectColumns + " FROM world.objects WHERE hash = $1"

// object looks one object up, with its first label only.
func (s *Store) object(ctx context.Context, op string, r store.Ref) (o store.StoredObject, err error) {
	if _, err := store.ParseRef(string(r)); err != nil {
		return o, err
	}
	found, err := many(ctx, s, op, scanObject, objectByRef, rows.Blob(r))
	if err == nil && len(found) == 0 {
		err = fault.New(op, fault.NotFound, "object %s", r)
	}
	if err != nil {
		return o, err
	}
	return found[0], nil
}

func scanObject(row rows.Scanner) (store.StoredObject, error) { return rows.ScanObject(row) }

// Labels implements store.Reader. Labels are only ever added, so that the two
// reads need no common state.
func (s *Store) Labels(ctx context.Context, r store.Ref) ([]store.Label, error) {
	const op = "postgres: labels"
	o, err := s.object(ctx, op, r)
	if err != nil {
		return nil, err
	}
	further, err := many(ctx, s, op, func(row rows.Scanner) (store.Label, error) { return rows.ScanLabel(row, r) },
		"SELECT "+rows.LabelColumns+" FROM world.labels WHERE hash = $1 ORDER BY semantic_id, provenance", rows.Blob(r))
	return append(o.Labels, further...), err
}

// Head implements store.Reader.
func (s *Store) Head(ctx context.Context) (store.Head, error) {
	const op = "postgres: head"
	h, err := one(ctx, s, op, scanHead, "SELECT "+rows.HeadColumns+" FROM world.head WHERE id = 1")
	if fault.Is(err, fault.NotFound) {
		err = fault.New(op, fault.NotFound, "the log has no genesis yet")
	}
	return h, err
}

func scanHead(row rows.Scanner) (store.Head, error) { return rows.ScanHead(row) }

// Entry implements store.Reader.
func (s *Store) Entry(ctx context.Context, index int64) (store.Entry, error) {
	return one(ctx, s, "postgres: entry", rows.ScanEntry, "SELECT "+rows.EntryColumns+" FROM world.log WHERE idx = $1", index)
}

// Entries implements store.Reader.
func (s *Store) Entries(ctx context.Context, from int64, limit int) ([]store.Entry, error) {
	const op = "postgres: entries"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	return many(ctx, s, op, rows.ScanEntry, "SELECT "+rows.EntryColumns+" FROM world.log WHERE idx >= $1 ORDER BY idx LIMIT $2", from, limit)
}

// EntryOf implements store.Reader.
func (s *Store) EntryOf(ctx context.Context, id store.InvocationID) (store.Entry, error) {
	return one(ctx, s, "postgres: entry of", rows.ScanEntry,
		"SELECT "+rows.EntryColumns+" FROM world.log WHERE invocation = $1 AND invocation <> ''", string(id))
}

// EntryAbout implements store.Reader.
func (s *Store) EntryAbout(ctx context.Context, transition store.Ref) (store.Entry, error) {
	const op = "postgres: entry about"
	if err := store.CheckRefs(op, transition); err != nil {
		return store.Entry{}, err
	}
	e, err := one(ctx, s, op, rows.ScanEntry,
		"SELECT "+rows.EntryColumns+" FROM world.log WHERE transition_ref = $1 ORDER BY idx LIMIT 1", rows.Blob(transition))
	if fault.Is(err, fault.NotFound) {
		err = fault.New(op, fault.NotFound, "no entry about %s", transition)
	}
	return e, err
}
