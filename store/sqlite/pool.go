package sqlite

import (
	"context"

	"world/fault"
	"world/store/batch"
)

// pool lends connections for reading.
type pool struct {
	idle   chan *conn
	closed chan struct{}
}

// newPool opens n connections.
func newPool(n int, open func() (*conn, error)) (*pool, error) {
	p := &pool{idle: make(chan *conn, n), closed: make(chan struct{})}
	for range n {
		c, err := open()
		if err != nil {
			for len(p.idle) > 0 {
				(<-p.idle).close()
			}
			return nil, err
		}
		p.idle <- c
	}
	return p, nil
}

// read lends a connection to fn. Each fn is one statement or opens its own
// transaction, so it sees one committed state.
func (p *pool) read(ctx context.Context, op string, fn func(c *conn) error) error {
	if err := p.check(ctx, op); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return batch.Ended(ctx, op)
	case <-p.closed:
		return fault.New(op, fault.Unavailable, "the store is closed")
	case c := <-p.idle:
		defer func() { p.idle <- c }()
		return asFault(op, fn(c))
	}
}

// check refuses a read whose caller is gone, and any after close.
func (p *pool) check(ctx context.Context, op string) error {
	select {
	case <-p.closed:
		return fault.New(op, fault.Unavailable, "the store is closed")
	default:
	}
	if ctx.Err() != nil {
		return batch.Ended(ctx, op)
	}
	return nil
}

// close waits for running reads.
func (p *pool) close() {
	close(p.closed)
	for range cap(p.idle) {
		(<-p.idle).close()
	}
}
