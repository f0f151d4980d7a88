package scale

import (
	"context"
	"fmt"
	"testing"
	"time"

	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

const (
	episodes  = 50    // that the calls of a store are spread over
	effectful = 4     // each so manieth call has an effect
	lost      = 100   // intents without an outcome in each store, large or small
	flushAt   = 4_000 // calls that are written together
)

// bulk is a store that is filled: the coordinator makes real calls on it, and their
// rows are written many calls at a time. It looks nothing up that a filling store
// cannot have, and is for one goroutine.
type bulk struct {
	*sqlite.Store
	rows    store.Rows
	head    store.Head
	ledgers map[store.EpisodeID]*store.Ledger
	latest  int64
	lose    bool       // the next effect gets no outcome
	putting chan error // what came of the rows that are being written, while calls go on
}

func (b *bulk) LastTime(context.Context) (int64, error) { return b.latest, nil }

func (b *bulk) Look(ctx context.Context, what store.Lookup) (store.Looked, error) {
	return store.Ask(ctx, b, what)
}

func (b *bulk) Claim(context.Context, store.InvocationID) (store.Claim, error) {
	return store.Claim{}, fault.New("bulk: claim", fault.NotFound, "every call is new")
}

func (b *bulk) Lease(_ context.Context, episode store.EpisodeID) (store.Lease, error) {
	return store.Lease{Episode: episode, Epoch: 1}, nil
}

func (b *bulk) GiveUp(context.Context, store.Lease) error { return nil }

func (b *bulk) Keep(_ context.Context, objects []store.Object) error { b.keep(objects); return nil }

func (b *bulk) Ledger(_ context.Context, episode store.EpisodeID) (store.Ledger, error) {
	return *b.ledger(episode), nil
}

func (b *bulk) ledger(episode store.EpisodeID) *store.Ledger {
	if b.ledgers[episode] == nil {
		b.ledgers[episode] = &store.Ledger{Episode: episode}
	}
	return b.ledgers[episode]
}

func (b *bulk) keep(objects []store.Object) {
	for _, o := range objects {
		b.rows.Objects = append(b.rows.Objects, store.StoredObject{Ref: o.Ref(), Bytes: o.Bytes(), Labels: []store.Label{o.Label()}})
	}
}

func (b *bulk) Intend(_ context.Context, in store.Intention) (store.Intent, error) {
	l := b.ledger(in.Claim.Episode)
	intent := store.Intent{Episode: in.Claim.Episode, Ordinal: l.Next, Invocation: in.Claim.Invocation, Effect: in.Effect, Scope: in.Scope,
		Cost: in.Cost, Request: in.Request, At: in.Claim.At, Epoch: in.Lease.Epoch}
	l.Next++
	l.Spent = []store.Spent{{Effect: in.Effect, Scope: in.Scope, Total: l.Of(in.Effect, in.Scope) + in.Cost}}
	b.rows.Claims = append(b.rows.Claims, in.Claim)
	b.keep(in.Objects)
	return intent, nil
}

func (b *bulk) Commit(_ context.Context, f store.Finish) (store.Entry, error) {
	b.latest = max(b.latest, f.At)
	if f.Intent != nil {
		intent := *f.Intent
		if b.lose {
			b.lose = false
			b.rows.Intents = append(b.rows.Intents, intent)
			return store.Entry{}, fault.New("bulk: commit", fault.LeaseLost, "this outcome is lost")
		}
		intent.Outcome = f.Outcome
		b.rows.Intents = append(b.rows.Intents, intent)
	} else {
		b.rows.Claims = append(b.rows.Claims, f.Claim)
	}
	b.keep(f.Objects)
	entry := store.Chain(b.head, f.Draft, f.Claim.Invocation)
	b.head = entry.Head()
	b.rows.Entries = append(b.rows.Entries, entry)
	return entry, nil
}

// flush writes what has come together, with the head and the sums as they are now.
// It waits only for the rows of the flush before it.
func (b *bulk) flush(ctx context.Context) error {
	head := b.head
	b.rows.Head, b.rows.At = &head, b.latest
	for episode, l := range b.ledgers {
		b.rows.Ledgers = append(b.rows.Ledgers, *l)
		b.rows.Leases = append(b.rows.Leases, store.Lease{Episode: episode, Epoch: 1})
	}
	err := b.wait()
	rows, done := b.rows, make(chan error, 1)
	go func() { done <- b.Put(ctx, rows) }()
	b.rows, b.putting = store.Rows{}, done
	return err
}

// wait returns what came of the last flush.
func (b *bulk) wait() error {
	if b.putting == nil {
		return nil
	}
	err := <-b.putting
	b.putting = nil
	return err
}

// build fills a store in a file with the entries of real calls.
func build(t *testing.T, path string, entries int64) *world {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	ok(t, err)
	defer s.Close()
	now := time.Now().Unix()
	_, err = registry.Bootstrap(ctx, s, coordtest.Builtins(), coordtest.Interpreter, now)
	ok(t, err)
	w := &world{path: path, entries: entries}
	office := session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
	for i := range episodes {
		m, err := office.Mint(ctx, session.Terms{Episode: store.EpisodeID(fmt.Sprintf("ep-%d", i)), TTL: 86400,
			Grants: []record.SessionGrant{coordtest.Grant(coordtest.Write, coordtest.Scope, 1<<40)}}, now)
		ok(t, err)
		w.sessions = append(w.sessions, session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential})
	}
	ok(t, s.SetSeal(ctx, store.Unsealed, store.Filling))
	b := &bulk{Store: s, ledgers: map[store.EpisodeID]*store.Ledger{}}
	b.head, err = s.Head(ctx)
	ok(t, err)
	c := w.calls(b)
	for n, left := 0, lost; b.head.Index+1 < entries; n++ {
		id := coordtest.Echo
		if n%effectful == 0 {
			id = coordtest.Act
			// They are spread evenly over the store.
			b.lose = int64(lost-left)*entries <= int64(lost)*b.head.Index
		}
		losing := b.lose
		if losing {
			left--
		}
		if err := w.call(ctx, c, n%episodes, id, fmt.Sprint("bulk-", n)); err != nil && !losing {
			t.Fatal(err)
		}
		if n%flushAt == flushAt-1 {
			ok(t, b.flush(ctx))
		}
	}
	ok(t, b.flush(ctx))
	ok(t, b.wait())
	ok(t, s.SetSeal(ctx, store.Filling, store.Unsealed))
	return w
}
