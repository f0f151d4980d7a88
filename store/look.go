package store

import (
	"context"
	"time"

	"world/fault"
)

// Lookup names rows to be read together; what is zero is not read.
type Lookup struct {
	Session    CredentialID
	Registries []string
	Ledger     EpisodeID

	// Within is how old an answer may be, for a reader that stands on it for as long
	// anyway; 0 asks for the present. What this process has changed is never missing.
	Within time.Duration
}

// Looked is what a Lookup found.
type Looked struct {
	At         int64   // LastTime, in unix seconds
	Session    Session // zero when there is none
	Registries []Ref   // in the order of the names, "" for one without a head
	Ledger     Ledger
	Taken      time.Time // before any of it was read, by this process's clock
}

// Ask answers a Lookup by one read after another, for an engine that gains
// nothing by taking them together.
func Ask(ctx context.Context, r Reader, what Lookup) (Looked, error) {
	found := Looked{Registries: make([]Ref, len(what.Registries)), Taken: time.Now()}
	var err error
	if found.At, err = r.LastTime(ctx); err != nil {
		return Looked{}, err
	}
	if what.Session != "" {
		if found.Session, err = orNone(r.Session(ctx, what.Session)); err != nil {
			return Looked{}, err
		}
	}
	for i, name := range what.Registries {
		if found.Registries[i], err = orNone(r.Registry(ctx, name)); err != nil {
			return Looked{}, err
		}
	}
	if what.Ledger != "" {
		if found.Ledger, err = r.Ledger(ctx, what.Ledger); err != nil {
			return Looked{}, err
		}
	}
	return found, nil
}

// orNone takes a missing item as a zero one.
func orNone[T any](v T, err error) (T, error) {
	if fault.Is(err, fault.NotFound) {
		var none T
		return none, nil
	}
	return v, err
}
