package coordinator

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/broker/law"
	"world/coordinator/capsule"
	"world/coordinator/registry"
	"world/fault"
	"world/store"
)

// Deadlines bounds the parts of a call. A zero field means the default.
type Deadlines struct {
	Plan    time.Duration // default 4 s
	Handler time.Duration // default 10 s
	Finish  time.Duration // default 2 s
	Commit  time.Duration // default 4 s, for the last transaction with its retries

	// Fresh is how old a snapshot may be that a call begins on without another look;
	// default 50 ms, and a negative one means that every call looks again.
	Fresh time.Duration
}

// Options is what a coordinator needs. Store and Runner are required.
type Options struct {
	Store     store.Store
	Runner    capsule.Runner
	Handlers  map[law.Effect]broker.Handler
	Home      store.HomeID     // this daemon's name; episodes with another home have no effects here
	Clock     func() time.Time // default time.Now
	Random    io.Reader        // source of task ids, default crypto/rand
	Log       zerolog.Logger
	Deadlines Deadlines
	Secrets   func() []string // texts that no stored failure may hold; may be nil
}

// Coordinator runs calls. It is safe for concurrent use.
type Coordinator struct {
	Options
	broker   *broker.Broker
	flights  flights
	episodes episodes
	revision atomic.Pointer[registry.Revision] // the last one read; refs make it safe to keep
	sources  sources
	recorded atomic.Int64 // greatest logical time that a call of this process recorded
	calls    sync.WaitGroup
}

// New returns a coordinator.
func New(o Options) *Coordinator {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	for d, standard := range map[*time.Duration]time.Duration{
		&o.Deadlines.Plan: 4 * time.Second, &o.Deadlines.Handler: broker.DefaultDeadline,
		&o.Deadlines.Finish: 2 * time.Second, &o.Deadlines.Commit: 4 * time.Second, &o.Deadlines.Fresh: 50 * time.Millisecond,
	} {
		if *d == 0 {
			*d = standard
		}
	}
	return &Coordinator{
		Options: o,
		broker: broker.New(broker.Options{
			Store: o.Store, Handlers: o.Handlers, Clock: o.Clock, Log: o.Log,
			Deadline: o.Deadlines.Handler, Secrets: o.Secrets,
		}),
		sources:  sources{from: o.Store},
		flights:  flights{running: map[store.InvocationID]*flight{}},
		episodes: episodes{turns: map[store.EpisodeID]*turn{}, stale: map[store.EpisodeID]store.Lease{}},
	}
}

// Indeterminate returns up to limit (1 to 500) intents of which it is not known
// whether their effect happened, oldest first: what serve names at start (D10).
// Nothing is ever done about them here.
func (c *Coordinator) Indeterminate(ctx context.Context, limit int) ([]store.Intent, error) {
	return c.Store.Indeterminate(ctx, limit)
}

// Wait returns when no call is running and no late handler is left, or with the
// context's error: a daemon that ends waits first. No call may begin meanwhile.
func (c *Coordinator) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { c.calls.Wait(); close(done) }()
	select {
	case <-done:
		return c.broker.Wait(ctx)
	case <-ctx.Done():
		return fault.Wrap("coordinator: wait", fault.Timeout, ctx.Err(), "calls are still running")
	}
}

// detached keeps the values of a context and leaves its end behind.
func detached(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), budget)
}
