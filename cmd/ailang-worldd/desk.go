package main

import (
	"context"
	"errors"
	"time"

	"world/daemon/admin"
	"world/fault"
	"world/session/attended"
	"world/session/worktree"
	"world/store/sqlite"
)

// desks are the two ways to carry out an operator's word on a store: our own
// desk while nobody holds the writer lock, else the daemon that does.
type desks struct {
	local  func(attended.Desk) error
	daemon func(*admin.Client) error
}

// at takes the way that is open. A store without genesis has nothing to mint into.
func (d desks) at(ctx context.Context, l layout) error {
	if err := existing(l.db); err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, l.db, sqlite.Options{})
	if fault.Is(err, fault.Locked) {
		return d.ask(ctx, l, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(d.local(attended.Desk{
		Office: officeOf(s), Root: worktree.Root(l.workspaces), Wall: time.Now,
	}), s.Close())
}

// ask goes to the daemon of the state directory, and tells it which store is meant.
func (d desks) ask(ctx context.Context, l layout, locked error) error {
	r, err := sqlite.Open(ctx, l.db, sqlite.Options{ReadOnly: true, Readers: 1})
	if err != nil {
		return err
	}
	genesis, err := r.Entry(ctx, 0)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	client, err := admin.Dial(l.state, genesis.Hash)
	if err != nil {
		return fault.Wrap("cli: ask the daemon", fault.Locked, errors.Join(locked, err),
			"another process holds the store, and no daemon answers in the state directory; name the daemon's with --state-dir")
	}
	return errors.Join(d.daemon(client), client.Close())
}
