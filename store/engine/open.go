package engine

import (
	"context"
	"path/filepath"
	"time"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/sqlite"
)

// Options says how to open a store. The zero value opens one that exists, for writing.
type Options struct {
	ReadOnly bool // write nothing, lock nothing, apply no migration
	Create   bool // make a store where there is none
	Sealed   bool // open it though it is held or sealed (store.Seal)

	// Owner names the process to others who share a database, as
	// postgres.Options.Owner does; "" for a name made up. A file has one writer.
	Owner string
}

// Store is a store with the part by which a whole world moves.
type Store interface {
	store.Store
	store.Mover
}

// idle is how long a lease that another daemon asked for must be out of use: a
// call that loses it while it plans takes it anew.
const idle = time.Millisecond

// Open opens the store of a place. NotFound when there is none, Locked when
// another process writes the file, Unavailable when the database cannot be
// reached or the store is sealed; otherwise as the engines say.
func (p Place) Open(ctx context.Context, o Options) (Store, error) {
	if !o.Create && !(o.ReadOnly && p.Shared()) { // who reads a database finds out by itself
		if err := p.Exists(ctx); err != nil {
			return nil, err
		}
	}
	if p.Shared() {
		s, err := postgres.Open(ctx, p.url, postgres.Options{ReadOnly: o.ReadOnly, Sealed: o.Sealed, Owner: o.Owner, Idle: idle})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := sqlite.Open(ctx, p.file, sqlite.Options{ReadOnly: o.ReadOnly, Sealed: o.Sealed})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Exists refuses, kind NotFound, a place without a store, and kind Corrupt one
// where only a part of a store is left.
func (p Place) Exists(ctx context.Context) error {
	const op = "store: open"
	if !p.Shared() {
		exists, err := sqlite.Exists(p.file)
		if err == nil && !exists {
			err = fault.New(op, fault.NotFound, "%s is not a store; serve makes one", filepath.Base(p.file))
		}
		return err
	}
	s, err := postgres.Open(ctx, p.url, postgres.Options{ReadOnly: true, Readers: 1})
	switch {
	case err == nil:
		return s.Close()
	case fault.Is(err, fault.Version): // a writer migrates it, or refuses it in its own words
		return nil
	case fault.Is(err, fault.NotFound):
		return fault.Wrap(op, fault.NotFound, err, "there is no store in this database; serve makes one")
	}
	return err
}
