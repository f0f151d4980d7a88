// Package batch lets changes that arrive together share one transaction (D17).
//
// It promises that one batch runs at a time, that a change is in exactly one
// batch or in none, and that Do returns only when its change's fate is known: a
// change that no batch took up when its context ended or the queue closed was
// never run. What a batch does, and that its members fail alone, is the engine's.
package batch

import (
	"context"
	"slices"
	"sync"
	"time"

	"world/fault"
)

// Change is one caller's part of a batch.
type Change[T any] struct {
	Ctx  context.Context
	Op   string
	Work T
	Err  error // set by the batch that ran it

	end chan struct{}
}

// Ended is the error of a change whose context ended before it was committed.
func Ended(ctx context.Context, op string) error {
	return fault.Wrap(op, fault.Timeout, context.Cause(ctx), "the call ended before it was committed")
}

// Queue runs changes in batches. Whoever finds it free leads: it runs what waits at
// that moment, its own change among that or after it. Without others nothing is
// handed to another goroutine, and nobody waits for company.
type Queue[T any] struct {
	gathering
	limit   int
	kind    func(T) int
	run     func([]*Change[T])
	lead    chan struct{} // one slot: the right to run a batch
	company bool          // the last batch had several changes; the lead's
	closed  chan struct{}
	mu      sync.Mutex
	waiting []*Change[T]
}

// New makes a queue whose batches have up to limit changes. run sets their errors.
func New[T any](limit int, run func([]*Change[T])) *Queue[T] {
	return NewOfKinds(limit, 0, func(T) int { return 0 }, run)
}

// NewOfKinds makes a queue whose batches are each of one kind: of whoever waits
// longest, so that no kind waits for more than the batches before it. Two batches
// of one kind each can cost less than two of both. When callers have shared a
// batch, the next one waits for them, as long as another comes within the patience.
func NewOfKinds[T any](limit int, patience time.Duration, kind func(T) int, run func([]*Change[T])) *Queue[T] {
	return &Queue[T]{gathering: gathering{patience: patience}, limit: limit, kind: kind, run: run,
		lead: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Do runs a change and returns its error. Timeout when ctx ended, and Unavailable
// when the queue closed, before a batch took it up.
func (q *Queue[T]) Do(ctx context.Context, op string, work T) error {
	if ctx.Err() != nil {
		return Ended(ctx, op)
	}
	ch := &Change[T]{Ctx: ctx, Op: op, Work: work, end: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, ch)
	q.arrived()
	q.mu.Unlock()
	for {
		select {
		case <-ch.end:
			return ch.Err
		default:
		}
		select {
		case <-q.closed:
			if q.withdraw(ch) {
				return fault.New(op, fault.Unavailable, "the store is closed")
			}
			<-ch.end
		case q.lead <- struct{}{}:
			q.serve()
		case <-ch.end:
		case <-ctx.Done():
			if q.withdraw(ch) {
				return Ended(ctx, op)
			}
			<-ch.end
		}
	}
}

// withdraw takes a change back that no leader has taken up.
func (q *Queue[T]) withdraw(ch *Change[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, ch)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// take takes up those who wait and are of the kind of the one who waits longest.
func (q *Queue[T]) take() (batch []*Change[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(ch *Change[T]) bool {
		taken := len(batch) == 0 || len(batch) < q.limit && q.kind(ch.Work) == q.kind(batch[0].Work)
		if taken {
			batch = append(batch, ch)
		}
		return taken
	})
	return batch
}

// serve runs a batch of what waits right now, then gives the lead up. When callers
// have shared a batch, it gathers first: they come back together. A panic ends the
// call of whoever leads, and leaves no other waiting for ever.
func (q *Queue[T]) serve() {
	defer func() { <-q.lead }()
	if q.company {
		q.gather()
	}
	batch := q.take()
	if len(batch) == 0 {
		return
	}
	q.company = len(batch) > 1
	broken := true
	defer func() {
		for _, ch := range batch {
			if broken {
				ch.Err = fault.New(ch.Op, fault.Uncertain, "the batch of this change broke off")
			}
			close(ch.end)
		}
	}()
	q.run(batch)
	q.expect(len(batch))
	broken = false
}

// Between runs fn while no batch runs, and not after Close.
func (q *Queue[T]) Between(fn func()) {
	select {
	case q.lead <- struct{}{}:
		fn()
		<-q.lead
	case <-q.closed:
	}
}

// Close waits for the running batch and runs no other. It is called once.
func (q *Queue[T]) Close() {
	close(q.closed)
	q.lead <- struct{}{}
}
