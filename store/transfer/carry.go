package transfer

import (
	"context"

	"world/fault"
	"world/store"
)

const (
	someRows  = 500     // of one transaction, at most
	someBytes = 8 << 20 // of its objects, from which on it is full
	tellEvery = 10_000  // rows between two words of progress
)

// carrier takes rows from a source and puts them into a copy, some at a time.
type carrier struct {
	ctx   context.Context
	to    Store
	tell  Progress
	load  store.Rows
	rows  int // in load
	bytes int
	total int64
}

// carry copies every table, each after those that it names.
func (c *carrier) carry(from Store) error {
	a, err := from.Audit(c.ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	seq := int64(0)
	for _, copied := range []func() error{
		func() error {
			return each(c, "objects", a.Objects, func(o store.StoredObject) {
				c.load.Objects = append(c.load.Objects, o)
				c.bytes += len(o.Bytes)
			})
		},
		func() error {
			return each(c, "claims", a.Claims, func(v store.Claim) { c.load.Claims = append(c.load.Claims, v) })
		},
		func() error {
			return each(c, "intents", a.Intents, func(v store.Intent) { c.load.Intents = append(c.load.Intents, v) })
		},
		func() error {
			return each(c, "log", a.Entries, func(v store.Entry) { c.load.Entries = append(c.load.Entries, v) })
		},
		func() error {
			return each(c, "spend", a.Ledgers, func(v store.Ledger) { c.load.Ledgers = append(c.load.Ledgers, v) })
		},
		func() error {
			return each(c, "sessions", a.Sessions, func(v store.Session) {
				seq++ // sessions are numbered from 1 without a gap
				c.load.Sessions = append(c.load.Sessions, store.PlacedSession{Seq: seq, Session: v})
			})
		},
		func() error {
			return each(c, "registry", a.Registries, func(v store.HeadMove) { c.load.Registries = append(c.load.Registries, v) })
		},
		func() error {
			return each(c, "leases", a.Leases, func(v store.Lease) { c.load.Leases = append(c.load.Leases, v) })
		},
		func() error { return c.ends(a) },
	} {
		if err := copied(); err != nil {
			return err
		}
	}
	return nil
}

// ends copies the two tables of one row, after everything that they tell of.
func (c *carrier) ends(a store.Audit) error {
	head, err := a.Head(c.ctx)
	if err != nil {
		return err
	}
	at, err := a.LastTime(c.ctx)
	if err != nil {
		return err
	}
	if err := whole(head); err != nil {
		return err
	}
	if err := whole(at); err != nil {
		return err
	}
	c.load.Head, c.load.At = &head.Value, at.Value
	c.rows++
	return c.put()
}

// each carries the rows of one kind.
func each[T any](c *carrier, kind string, rows func(context.Context, func(store.Row[T]) error) error, add func(T)) error {
	n := int64(0)
	err := rows(c.ctx, func(r store.Row[T]) error {
		if err := whole(r); err != nil {
			return err
		}
		add(r.Value)
		c.rows++
		if n++; n%tellEvery == 0 {
			c.tell(kind, n)
		}
		if c.rows < someRows && c.bytes < someBytes {
			return nil
		}
		return c.put()
	})
	if err == nil {
		err = c.put()
	}
	return err
}

// whole refuses a damaged row: a copy would hide the damage.
func whole[T any](r store.Row[T]) error {
	if r.Fault != nil {
		return fault.Wrap(op, fault.Corrupt, r.Fault, "the source is damaged at %s; fsck tells more", r.Where())
	}
	return nil
}

// put writes the load.
func (c *carrier) put() error {
	if c.rows == 0 {
		return nil
	}
	if err := c.to.Put(c.ctx, c.load); err != nil {
		return err
	}
	c.total += int64(c.rows)
	c.load, c.rows, c.bytes = store.Rows{}, 0, 0
	return nil
}
