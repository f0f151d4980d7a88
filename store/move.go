package store

import (
	"context"

	"world/fault"
)

// Seal says whether a store may be written. Append only: it is stored.
type Seal string

const (
	Unsealed Seal = ""        // it may
	Filling  Seal = "filling" // a copy is arriving; there is no whole world in it yet
	Held     Seal = "held"    // a copy of it is being made
	Sealed   Seal = "sealed"  // its world has moved to another store
)

// Refuse says why a store that is not Unsealed takes no writer, kind Unavailable.
func (s Seal) Refuse(op string) error {
	switch s {
	case Unsealed:
		return nil
	case Filling:
		return refuseSealed(op, "a copy into this store was not finished; finish it with store copy")
	case Held:
		return refuseSealed(op, "the store is held while it is copied; finish with store copy, or give up with store unseal")
	case Sealed:
		return refuseSealed(op, "the store is sealed: its world was copied to another; serve that one, or take this one back with store unseal")
	}
	return refuseSealed(op, "the store has a seal that this build does not know")
}

// Mover is the part of an engine by which a whole world moves to another store.
// A store whose seal is not Unsealed is opened for writing only on request, by
// who moves or unseals it.
type Mover interface {
	// Seal returns the seal.
	Seal(ctx context.Context) (Seal, error)

	// SetSeal changes the seal by compare and set: Conflict when it is not from.
	// With Held or Filling nothing that another process began to write can commit any more;
	// Locked, with nothing changed, while another process holds an episode's lease.
	SetSeal(ctx context.Context, from, to Seal) error

	// Put writes rows of another store as they are, in one transaction. What never
	// changes stays as it is when it is there; other rows are overwritten. Leases
	// come to be given up, so that what they left open is indeterminate. Only a
	// Filling store takes rows: Conflict otherwise.
	Put(ctx context.Context, rows Rows) error
}

// Rows are rows of a store, each kind in the order in which Audit visits them.
type Rows struct {
	Objects    []StoredObject
	Claims     []Claim
	Intents    []Intent
	Entries    []Entry
	Head       *Head
	Ledgers    []Ledger
	Sessions   []PlacedSession
	Registries []HeadMove
	Leases     []Lease
	At         int64 // greatest logical time, in unix seconds; 0 for none
}

// PlacedSession is a session with its place in mint order, from 1.
type PlacedSession struct {
	Seq int64
	Session
}

func refuseSealed(op, why string) error { return fault.New(op, fault.Unavailable, "%s", why) }
