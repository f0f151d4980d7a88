package sqlite

import (
	"context"
	"slices"
	"sync"

	"world/fault"
)

// batchLimit is how many waiting changes share one transaction at most.
const batchLimit = 64

// change is one caller's transaction.
type change struct {
	ctx  context.Context
	op   string
	run  func(c *conn) error         // checks all guards before it writes
	done func(c *conn) (bool, error) // whether run is visible, asked after a lost COMMIT
	err  error
	end  chan struct{}
}

// writer owns the one connection that writes. Whoever finds it free leads: it
// runs its own change and all that wait at that moment in one transaction with
// one sync, and each still succeeds or fails alone. Without others nothing is
// handed to another goroutine.
type writer struct {
	c       *conn
	commit  func() error  // COMMIT; tests lose its reply
	lead    chan struct{} // one slot: the right to use c
	mu      sync.Mutex
	waiting []*change
	closed  chan struct{}
	cleaner *checkpointer
}

func startWriter(c, checkpoints *conn) *writer {
	w := &writer{c: c, commit: c.commit, lead: make(chan struct{}, 1), closed: make(chan struct{})}
	w.cleaner = startCheckpointer(checkpoints, w.between)
	return w
}

// do runs a change and returns when it is durable or has changed nothing.
func (w *writer) do(ctx context.Context, op string, run func(*conn) error, done func(*conn) (bool, error)) error {
	if ctx.Err() != nil {
		return ended(op, ctx)
	}
	ch := &change{ctx: ctx, op: op, run: run, done: done, end: make(chan struct{})}
	w.mu.Lock()
	w.waiting = append(w.waiting, ch)
	w.mu.Unlock()
	for {
		select {
		case <-ch.end:
			return asFault(op, ch.err)
		default:
		}
		select {
		case <-w.closed:
			if w.withdraw(ch) {
				return fault.New(op, fault.Unavailable, "the store is closed")
			}
			<-ch.end
		case w.lead <- struct{}{}:
			w.serve()
			<-w.lead
		case <-ch.end:
		case <-ctx.Done():
			if w.withdraw(ch) {
				return ended(op, ctx)
			}
			<-ch.end
		}
	}
}

// withdraw takes a change back that no leader has taken up.
func (w *writer) withdraw(ch *change) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, ch)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// serve runs what waits right now, and waits for nothing.
func (w *writer) serve() {
	w.mu.Lock()
	n := min(len(w.waiting), batchLimit)
	batch := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	w.mu.Unlock()
	if n == 0 {
		return
	}
	if !w.attempt(batch) {
		for _, ch := range batch {
			w.attempt([]*change{ch})
		}
	}
	for _, ch := range batch {
		close(ch.end)
	}
}

// attempt runs a batch in one transaction. It reports false, with nothing
// changed, when the batch must be run again one by one: a member failed after
// it had written, or its caller left before COMMIT was sent.
func (w *writer) attempt(batch []*change) bool {
	if err := w.c.begin(); err != nil {
		w.c.rollback()
		for _, ch := range batch {
			ch.err = err
		}
		return true
	}
	writes := false
	for _, ch := range batch {
		before := w.c.changed
		ch.err = ch.run(w.c)
		wrote := w.c.changed != before
		if ch.err != nil && (wrote || w.c.failed) {
			w.c.rollback()
			return len(batch) == 1
		}
		writes = writes || wrote
	}
	for _, ch := range batch {
		if ch.err == nil && ch.ctx.Err() != nil {
			w.c.rollback()
			ch.err = ended(ch.op, ch.ctx)
			return len(batch) == 1
		}
	}
	if !writes {
		w.c.rollback()
		return true
	}
	if err := w.commit(); err != nil {
		w.resolve(batch, err)
	}
	w.cleaner.wrote(w.c.changed)
	return true
}

// resolve answers for a batch whose COMMIT reported an error. Reading would not
// do: the log may hold a whole transaction that a crash now would bring back. So
// it writes a fence after it: once that is durable, what is visible is so for
// good, and what is not can never be (D17).
func (w *writer) resolve(batch []*change, cause error) {
	w.c.rollback()
	visible, err := w.fence(batch)
	for i, ch := range batch {
		switch {
		case ch.err != nil:
		case err != nil:
			ch.err = fault.Wrap(ch.op, fault.Uncertain, cause, "it is not known whether this was committed")
		case !visible[i]:
			ch.err = fault.Wrap(ch.op, fault.Unavailable, cause, "this was not committed")
		}
	}
}

func (w *writer) fence(batch []*change) (visible []bool, err error) {
	if err := w.c.begin(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.c.rollback()
		}
	}()
	visible = make([]bool, len(batch))
	for i, ch := range batch {
		if ch.err != nil {
			continue
		}
		if visible[i], err = ch.done(w.c); err != nil {
			return nil, err
		}
	}
	n, err := readMeta(w.c, metaFence)
	if err != nil {
		return nil, err
	}
	if err := writeMeta(w.c, metaFence, n+1); err != nil {
		return nil, err
	}
	return visible, w.commit()
}

// between runs fn while no transaction is open, and not after close.
func (w *writer) between(fn func()) {
	select {
	case w.lead <- struct{}{}:
		fn()
		<-w.lead
	case <-w.closed:
	}
}

// close waits for the running transaction, then lets the file go. Nobody leads
// after it.
func (w *writer) close() error {
	close(w.closed)
	w.lead <- struct{}{}
	w.cleaner.close()
	return w.c.close()
}
