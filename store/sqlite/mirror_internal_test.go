package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store"
)

// spender is a store with one episode, and what spends in it.
type spender struct {
	*Store
	t     *testing.T
	o     store.Object
	draft store.Draft
	lease store.Lease
	calls int
}

func newSpender(t *testing.T) *spender {
	t.Helper()
	p := &spender{Store: openInternal(t), t: t, o: store.NewObject("test", "test", []byte("object"))}
	p.draft = store.Draft{TransitionFn: p.o.Ref(), Interpreter: p.o.Ref(), WrittenBy: "test", Transition: p.o.Ref(), StateRoot: p.o.Ref()}
	_, err := p.Begin(t.Context(), store.Act{Objects: []store.Object{p.o}, Draft: p.draft, At: 1})
	p.ok(err)
	p.lease, err = p.Lease(t.Context(), "ep")
	p.ok(err)
	return p
}

func (p *spender) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// spend makes an intent of one call on a scope at a time.
func (p *spender) spend(scope law.Scope, at int64) error {
	p.calls++
	claim := store.Claim{Invocation: store.NewInvocationID(store.SurfaceMCP, "ep", fmt.Sprint(p.calls)), Episode: "ep", Transition: "t",
		TransitionFn: p.o.Ref(), Input: p.o.Ref(), Session: p.o.Ref(), At: at}
	_, err := p.Intend(p.t.Context(), store.Intention{Claim: claim, Effect: "e", Scope: scope, Cost: 1, Budget: 9, Request: p.o.Ref(), Lease: p.lease})
	return err
}

// sees holds what readers are told to what a store beside it reads from the file.
func (p *spender) sees(when string) {
	p.t.Helper()
	ctx := p.t.Context()
	beside, err := Open(ctx, p.path, Options{ReadOnly: true})
	p.ok(err)
	defer beside.Close()
	told := func(r store.Reader) string {
		l, lerr := r.Ledger(ctx, "ep")
		at, aerr := r.LastTime(ctx)
		to, rerr := r.Registry(ctx, "name")
		v, serr := r.Session(ctx, credential)
		return fmt.Sprint(l, lerr, at, aerr, to, fault.KindOf(rerr), v, fault.KindOf(serr))
	}
	for range 2 { // the second time from the mirror
		if got, want := told(p), told(beside); got != want {
			p.t.Errorf("%s: readers are told %s, and the file says %s", when, got, want)
		}
	}
}

const credential = store.CredentialID("00000000000000000000000000000000000000000000000000000000000000aa")

// TestMirror asks for what every call asks for after each kind of commit.
func TestMirror(t *testing.T) {
	p := newSpender(t)
	ctx := t.Context()
	act := func(at int64, changes ...store.Change) {
		t.Helper()
		_, err := p.Act(ctx, store.Act{Objects: []store.Object{p.o}, Draft: p.draft, At: at, Changes: changes})
		p.ok(err)
	}
	p.sees("empty")
	p.ok(p.spend("s", 3))
	p.sees("an intent")
	p.ok(p.spend("a", 4))
	p.sees("another scope")
	act(9, store.MintSession{Session: store.Session{Credential: credential, Object: p.o.Ref(), Episode: "ep", ExpiresAt: 10}},
		store.MoveRegistry{Name: "name", To: p.o.Ref()})
	p.sees("a session and a registry head")
	act(5, store.RevokeSession{Credential: credential, Revocation: p.o.Ref()})
	p.sees("a revocation, earlier by its clock")
	p.ok(p.spend("s", 20))
	_, err := p.Act(ctx, store.Act{Objects: []store.Object{p.o}, Draft: p.draft, At: 15})
	p.ok(err)
	p.sees("an act behind the time of an intent")
	p.writer.commit = func() error { p.writer.commit = p.writer.c.commit; return errLost }
	if err := p.spend("s", 21); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("a COMMIT that never was: %v", err)
	}
	p.sees("what was not committed")
	p.writer.commit = func() error {
		p.writer.commit = p.writer.c.commit
		_, err := p.writer.c.exec("COMMIT")
		p.ok(err)
		return errLost
	}
	p.ok(p.spend("s", 22))
	p.sees("what was committed without a word")
	p.ok(p.SetSeal(ctx, store.Unsealed, store.Filling))
	p.ok(p.Put(ctx, store.Rows{At: 30, Ledgers: []store.Ledger{{Episode: "ep", Spent: []store.Spent{{Effect: "e", Scope: "s", Total: 5}}}}}))
	p.sees("rows of another store")
}

// TestMirrorBesideCommits reads while a commit goes through: what was read before
// it is not kept.
func TestMirrorBesideCommits(t *testing.T) {
	p := newSpender(t)
	at, err := recall(t.Context(), p.Store, "test",
		func(m *mirror) (int64, bool) { return m.clock.at, m.clock.known && m.clock.at > 99 },
		func(m *mirror, at int64) { m.clock = instant{true, at} },
		func(c *conn) (int64, error) {
			before, err := readClock(c)
			p.ok(err)
			p.ok(p.spend("s", 7))
			return before, nil
		})
	if err != nil || at != 1 {
		t.Fatalf("the reader saw %d, %v", at, err)
	}
	p.sees("a commit in between")

	// A ledger that is read while the commit that changes it is on its way.
	p.writer.commit = func() error {
		p.writer.commit = p.writer.c.commit
		_, err := p.Ledger(t.Context(), "ep")
		p.ok(err)
		return p.writer.c.commit()
	}
	p.mirror.publish(&news{unknown: true})
	p.ok(p.spend("s", 8))
	p.sees("read between the write and its commit")
}

// TestMirrorGuardsNothing damages the row beneath a mirrored ledger: readers are
// told what was committed, and the call that spends fails.
func TestMirrorGuardsNothing(t *testing.T) {
	p := newSpender(t)
	p.ok(p.spend("s", 3))
	_, err := p.Ledger(t.Context(), "ep")
	p.ok(err)
	undo := besides(t, p.Store, "UPDATE spend SET total = 0")
	defer undo()
	if l, err := p.Ledger(t.Context(), "ep"); err != nil || l.Of("e", "s") != 1 {
		t.Fatalf("ledger %v, %v", l, err)
	}
	if err := p.spend("s", 4); !fault.Is(err, fault.Corrupt) {
		t.Fatalf("spending on a damaged total: %v", err)
	}
}

// TestMirrorIsSmall: it holds so many rows of a kind and no more, and a store that
// is read only has none.
func TestMirrorIsSmall(t *testing.T) {
	p := newSpender(t)
	for i := range mirrored + 10 {
		_, err := p.Ledger(t.Context(), store.EpisodeID(fmt.Sprint("ep-", i)))
		p.ok(err)
	}
	if n := len(p.mirror.ledgers); n > mirrored || n == 0 {
		t.Errorf("%d ledgers are mirrored", n)
	}
	p.ok(p.Close())
	if _, err := p.Ledger(t.Context(), "ep-1"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a closed store answers: %v", err)
	}
	r, err := Open(t.Context(), filepath.Join(filepath.Dir(p.path), "world.db"), Options{ReadOnly: true})
	p.ok(err)
	defer r.Close()
	if r.mirror != nil {
		t.Error("who does not write mirrors what another may change")
	}
}
