package broker_test

import (
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"world/broker"
	"world/broker/law"
	"world/coordinator/coordtest"
	"world/session"
	"world/store"
	"world/store/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a broker on a real store, with one session of episode ep.
type bench struct {
	*broker.Broker
	w       *coordtest.World
	store   store.Store
	live    session.Live
	input   store.Object
	planned store.Object
}

// newBench makes a broker that serves writes with a hand; the session has a
// budget of 4 writes.
func newBench(t *testing.T, hand broker.Handler, edit func(*broker.Options)) *bench {
	t.Helper()
	w := coordtest.New(t, nil, nil)
	o := broker.Options{
		Store: w.Store, Handlers: map[law.Effect]broker.Handler{coordtest.Write: hand}, Log: zerolog.Nop(),
		Clock: func() time.Time { return time.Unix(w.Now(), 0) },
	}
	if edit != nil {
		edit(&o)
	}
	return &bench{
		Broker: broker.New(o), w: w, store: w.Store,
		live:    w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Scope, 9), coordtest.Grant(coordtest.Write, coordtest.Scope, 4)),
		input:   store.NewObject(record.Input, "test", []byte(`{"in":1}`)),
		planned: store.NewObject(record.Plan, "test", []byte(`{"a plan":1}`)),
	}
}

// call is a call of the session, with lease and ledger as they are now.
func (b *bench) call(task string) broker.Call {
	b.w.T.Helper()
	lease, err := b.store.Lease(b.w.T.Context(), "ep")
	if err != nil {
		b.w.T.Fatal(err)
	}
	ledger, err := b.store.Ledger(b.w.T.Context(), "ep")
	if err != nil {
		b.w.T.Fatal(err)
	}
	source := store.NewObject(record.Source, "test", []byte("source"))
	if err := b.store.Keep(b.w.T.Context(), []store.Object{source}); err != nil {
		b.w.T.Fatal(err)
	}
	return broker.Call{
		Session: b.live.Record, Lease: lease, Ledger: ledger,
		Claim: store.Claim{
			Invocation: store.NewInvocationID(store.SurfaceMCP, "ep", task), Episode: "ep", Transition: "act",
			TransitionFn: source.Ref(), Input: b.input.Ref(), Session: b.live.Object, At: b.w.Now(),
		},
	}
}

// request binds a call and asks for one effect.
func (b *bench) request(t *testing.T, task string, triple law.Triple) (broker.Evidence, error) {
	t.Helper()
	invoker, err := b.Bind(b.call(task), declared)
	if err != nil {
		t.Fatal(err)
	}
	return invoker.Request(t.Context(), triple, []byte(`{"pay":"load"}`), b.input, b.planned)
}

func (b *bench) ledger(t *testing.T) store.Ledger {
	t.Helper()
	ledger, err := b.store.Ledger(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	return ledger
}
