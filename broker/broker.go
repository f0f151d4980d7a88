package broker

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"world/broker/law"
	"world/store"
)

const (
	// DefaultDeadline is how long a handler has.
	DefaultDeadline = 10 * time.Second

	// grace is how long a handler has after its deadline to say how it ended.
	grace = time.Second
	// writeBudget bounds one transaction, of a call already detached from its caller.
	writeBudget = 4 * time.Second
)

// Options is what a broker needs. Store and Clock are required.
type Options struct {
	Store    store.Store
	Handlers map[law.Effect]Handler
	Clock    func() time.Time
	Log      zerolog.Logger
	Deadline time.Duration   // of a handler, DefaultDeadline when zero
	Secrets  func() []string // texts that no stored failure may hold; may be nil
}

// Broker decides, records, runs and records again. It keeps nothing in memory
// that a decision rests on: grants come from the call, spend from the store.
type Broker struct {
	Options
	late sync.WaitGroup // handlers that did not answer in time
}

// New returns a broker.
func New(o Options) *Broker {
	if o.Deadline == 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Secrets == nil {
		o.Secrets = func() []string { return nil }
	}
	return &Broker{Options: o}
}

// Unhandled returns the declared effects that have no handler here, each once, in order.
func (b *Broker) Unhandled(declared []law.Triple) []law.Effect {
	var missing []law.Effect
	for _, t := range declared {
		if b.Handlers[t.Effect] == nil && (len(missing) == 0 || !has(missing, t.Effect)) {
			missing = append(missing, t.Effect)
		}
	}
	return missing
}

// Wait returns when every handler that missed its deadline has ended, or with
// the context's error.
func (b *Broker) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { b.late.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// detached keeps the values of a context and leaves its end behind.
func detached(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), budget)
}

func has(effects []law.Effect, effect law.Effect) bool {
	for _, e := range effects {
		if e == effect {
			return true
		}
	}
	return false
}
