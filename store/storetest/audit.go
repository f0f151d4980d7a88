package storetest

import (
	"fmt"
	"testing"

	"world/fault"
	"world/store"
)

// rows collects what a method of an audit visits, and fails on damaged rows.
func rows[T any](t testing.TB, visitAll func(func(store.Row[T]) error) error) []T {
	t.Helper()
	var all []T
	ok(t, visitAll(func(r store.Row[T]) error {
		if r.Fault != nil || r.Where() == "" {
			t.Errorf("row %q: %v", r.Where(), r.Fault)
		}
		all = append(all, r.Value)
		return nil
	}))
	return all
}

// tally is what an audit sees, as counts and the newest of each.
func (w *world) tally(t testing.TB, a store.Audit) string {
	t.Helper()
	objects := rows(t, func(v func(store.Row[store.StoredObject]) error) error { return a.Objects(w.ctx, v) })
	entries := rows(t, func(v func(store.Row[store.Entry]) error) error { return a.Entries(w.ctx, v) })
	claims := rows(t, func(v func(store.Row[store.Claim]) error) error { return a.Claims(w.ctx, v) })
	intents := rows(t, func(v func(store.Row[store.Intent]) error) error { return a.Intents(w.ctx, v) })
	ledgers := rows(t, func(v func(store.Row[store.Ledger]) error) error { return a.Ledgers(w.ctx, v) })
	sessions := rows(t, func(v func(store.Row[store.Session]) error) error { return a.Sessions(w.ctx, v) })
	registries := rows(t, func(v func(store.Row[store.HeadMove]) error) error { return a.Registries(w.ctx, v) })
	leases := rows(t, func(v func(store.Row[store.Lease]) error) error { return a.Leases(w.ctx, v) })
	head, err := a.Head(w.ctx)
	ok(t, err)
	at, err := a.LastTime(w.ctx)
	ok(t, err)
	lines, err := a.Engine(w.ctx)
	ok(t, err)
	for _, o := range objects {
		equal(t, "object", o.Ref, store.RefOf(o.Bytes))
	}
	return fmt.Sprint(len(objects), entries, claims, intents, ledgers, sessions, registries, leases, head.Value, at.Value, lines)
}

func auditSeesAll(t *testing.T, open Opener) {
	w := opened(t, open)
	o := text("world/session/v1", "a session")
	s := store.Session{Credential: credential(1), Object: o.Ref(), Episode: episode, ExpiresAt: 10}
	_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), Changes: []store.Change{
		store.MintSession{Session: s}, store.MoveRegistry{Name: "r", To: o.Ref()}}})
	ok(t, err)
	in, intent := w.intend("1")
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	ok(t, err)
	_, second := w.intend("2")
	ok(t, w.Keep(w.ctx, []store.Object{store.NewObject("another part", by, w.source.Bytes())}))

	a, err := w.Audit(w.ctx)
	ok(t, err)
	defer a.Close()
	first, err := w.Intent(w.ctx, episode, 0)
	ok(t, err)
	intents := rows(t, func(v func(store.Row[store.Intent]) error) error { return a.Intents(w.ctx, v) })
	equal(t, "intents", fmt.Sprint(intents), fmt.Sprint([]store.Intent{first, second}))
	entries := rows(t, func(v func(store.Row[store.Entry]) error) error { return a.Entries(w.ctx, v) })
	equal(t, "entries", fmt.Sprint(entries), fmt.Sprint(w.checkChain(t)))
	ledgers := rows(t, func(v func(store.Row[store.Ledger]) error) error { return a.Ledgers(w.ctx, v) })
	ledger, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	equal(t, "ledgers", fmt.Sprint(ledgers), fmt.Sprint([]store.Ledger{ledger}))
	sessions := rows(t, func(v func(store.Row[store.Session]) error) error { return a.Sessions(w.ctx, v) })
	equal(t, "sessions", fmt.Sprint(sessions), fmt.Sprint([]store.Session{s}))
	registries := rows(t, func(v func(store.Row[store.HeadMove]) error) error { return a.Registries(w.ctx, v) })
	equal(t, "registries", fmt.Sprint(registries), fmt.Sprint([]store.HeadMove{{Name: "r", To: o.Ref()}}))
	leases := rows(t, func(v func(store.Row[store.Lease]) error) error { return a.Leases(w.ctx, v) })
	equal(t, "leases", fmt.Sprint(leases), fmt.Sprint([]store.Lease{in.Lease}))
	claims := rows(t, func(v func(store.Row[store.Claim]) error) error { return a.Claims(w.ctx, v) })
	equal(t, "claims", len(claims), 2)
	objects := rows(t, func(v func(store.Row[store.StoredObject]) error) error { return a.Objects(w.ctx, v) })
	labels := 0
	for _, o := range objects {
		equal(t, "object", o.Ref, store.RefOf(o.Bytes))
		got, err := w.Labels(w.ctx, o.Ref)
		ok(t, err)
		equal(t, "labels", fmt.Sprint(o.Labels), fmt.Sprint(got))
		labels += len(got)
	}
	equal(t, "labels", labels, len(objects)+1)
	one, err := a.Object(w.ctx, w.source.Ref())
	ok(t, err)
	equal(t, "one object", string(one.Value.Bytes), string(w.source.Bytes()))
	_, err = a.Object(w.ctx, store.RefOf([]byte("nowhere")))
	wantKind(t, "no object", err, fault.NotFound)

	// An error of visit ends the visit and comes back.
	visits, stop := 0, fault.New("test", fault.Limit, "enough")
	err = a.Objects(w.ctx, func(store.Row[store.StoredObject]) error { visits++; return stop })
	wantKind(t, "visit", err, fault.Limit)
	equal(t, "visits", visits, 1)
}

// auditBounds holds that an audit sees one state, whatever is written beside it.
func auditBounds(t *testing.T, open Opener) {
	w := opened(t, open)
	in, intent := w.intend("1")
	a, err := w.Audit(w.ctx)
	ok(t, err)
	defer a.Close()
	before := w.tally(t, a)
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	ok(t, err)
	_, err = w.act(500, "later", store.MoveRegistry{Name: "r", To: w.source.Ref()})
	ok(t, err)
	w.intend("2")
	equal(t, "audit beside a writer", w.tally(t, a), before)
	newer, err := w.Audit(w.ctx)
	ok(t, err)
	defer newer.Close()
	if w.tally(t, newer) == before {
		t.Fatal("a newer audit sees nothing newer")
	}
}
