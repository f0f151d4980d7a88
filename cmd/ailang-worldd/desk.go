package main

import (
	"context"
	"errors"
	"time"

	"world/daemon/admin"
	"world/fault"
	"world/session/attended"
	"world/store/engine"
)

// desks are the two ways to carry out an operator's word on a store: our own
// desk, or the daemon's. A file is written by one process, so a daemon that holds
// it is asked. A database takes both; the daemon of a state directory that was
// named is asked first, because it has the leases and the worktrees.
type desks struct {
	tree   bool // our own desk makes a worktree
	local  func(attended.Desk) error
	daemon func(*admin.Client) error
}

// at takes the way that is open. A store without genesis has nothing to mint into.
func (d desks) at(ctx context.Context, l layout) error {
	if l.db.Shared() && l.state != "" {
		if client, err := answering(ctx, l); err == nil {
			return errors.Join(d.daemon(client), client.Close())
		}
	}
	s, err := l.db.Open(ctx, engine.Options{})
	if fault.Is(err, fault.Locked) {
		return d.ask(ctx, l, err)
	}
	if err != nil {
		return err
	}
	desk := attended.Desk{Office: officeOf(s), Root: worktreesOf(l), Wall: time.Now, Forget: l.forget}
	if d.tree {
		if desk.Home, err = l.home(); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return errors.Join(d.local(desk), s.Close())
}

// ask goes to the daemon of the state directory, because it holds the store.
func (d desks) ask(ctx context.Context, l layout, locked error) error {
	client, err := answering(ctx, l)
	if err != nil {
		return fault.Wrap("cli: ask the daemon", fault.Locked, errors.Join(locked, err),
			"another process holds the store, and no daemon answers in the state directory; name the daemon's with --state-dir")
	}
	return errors.Join(d.daemon(client), client.Close())
}

// answering connects to the daemon of the state directory, to ask about this store.
func answering(ctx context.Context, l layout) (*admin.Client, error) {
	r, err := l.db.Open(ctx, engine.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	genesis, err := r.Entry(ctx, 0)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return admin.Dial(l.state, genesis.Hash)
}
