package sqlite

import (
	"context"

	"world/fault"
	"world/store/batch"
)

// batchLimit is how many waiting changes share one transaction at most.
const batchLimit = 64

// work is what one change does.
type work struct {
	run  func(c *conn) error         // checks all guards before it writes
	done func(c *conn) (bool, error) // whether run is visible, asked after a lost COMMIT
}

type change = batch.Change[work]

// writer owns the one connection that writes. Changes that wait at the same time
// share a transaction and its sync, and each still succeeds or fails alone.
type writer struct {
	c       *conn
	commit  func() error // COMMIT; tests lose its reply
	queue   *batch.Queue[work]
	cleaner *checkpointer
}

func startWriter(c, checkpoints *conn) *writer {
	w := &writer{c: c, commit: c.commit}
	w.queue = batch.New(batchLimit, w.run)
	w.cleaner = startCheckpointer(checkpoints, w.queue.Between, func() { w.fence(nil) })
	return w
}

// do runs a change and returns when it is durable or has changed nothing.
func (w *writer) do(ctx context.Context, op string, run func(*conn) error, done func(*conn) (bool, error)) error {
	return asFault(op, w.queue.Do(ctx, op, work{run, done}))
}

// run runs a batch, its members together or, when that cannot be, one by one.
// A panic leaves no transaction open.
func (w *writer) run(members []*change) {
	broken := true
	defer func() {
		if broken {
			w.c.rollback()
		}
	}()
	if !w.attempt(members) {
		for _, ch := range members {
			w.attempt([]*change{ch})
		}
	}
	broken = false
}

// attempt runs a batch in one transaction. It reports false, with nothing
// changed, when the batch must be run again one by one: a member failed after
// it had written, or its caller left before COMMIT was sent.
func (w *writer) attempt(members []*change) bool {
	if err := w.c.begin(); err != nil {
		w.c.rollback()
		for _, ch := range members {
			ch.Err = err
		}
		return true
	}
	writes := false
	for _, ch := range members {
		before := w.c.changed
		ch.Err = ch.Work.run(w.c)
		wrote := w.c.changed != before
		if ch.Err != nil && (wrote || w.c.failed) {
			w.c.rollback()
			return len(members) == 1
		}
		writes = writes || wrote
	}
	for _, ch := range members {
		if ch.Err == nil && ch.Ctx.Err() != nil {
			w.c.rollback()
			ch.Err = batch.Ended(ch.Ctx, ch.Op)
			return len(members) == 1
		}
	}
	if !writes {
		w.c.rollback()
		return true
	}
	if err := w.commit(); err != nil {
		w.resolve(members, err)
	}
	w.cleaner.wrote(w.c.changed)
	return true
}

// resolve answers for a batch whose COMMIT reported an error. Reading would not
// do: the log may hold a rows.Whole transaction that a crash now would bring back. So
// it writes a fence after it: once that is durable, what is visible is so for
// good, and what is not can never be (D17).
func (w *writer) resolve(members []*change, cause error) {
	w.c.rollback()
	visible, err := w.fence(members)
	for i, ch := range members {
		switch {
		case ch.Err != nil:
		case err != nil:
			ch.Err = fault.Wrap(ch.Op, fault.Uncertain, cause, "it is not known whether this was committed")
		case !visible[i]:
			ch.Err = fault.Wrap(ch.Op, fault.Unavailable, cause, "this was not committed")
		}
	}
}

// fence writes a commit behind all others and tells which members it found
// visible. It runs between batches or in one.
func (w *writer) fence(members []*change) (visible []bool, err error) {
	if err := w.c.begin(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.c.rollback()
		}
	}()
	visible = make([]bool, len(members))
	for i, ch := range members {
		if ch.Err != nil {
			continue
		}
		if visible[i], err = ch.Work.done(w.c); err != nil {
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

// close waits for the running transaction, then lets the file go.
func (w *writer) close() error {
	w.queue.Close()
	w.cleaner.close()
	return w.c.close()
}
