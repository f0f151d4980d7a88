package transfer

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/fsck"
)

// Store is what a transfer needs of either end.
type Store interface {
	store.Reader
	store.Auditor
	store.Mover
}

// Progress is told now and then how many rows of a kind have arrived or, with a
// kind that fsck names, were checked.
type Progress func(kind string, rows int64)

// Report is what came of a transfer.
type Report struct {
	Head  store.Head
	Rows  int64       // written
	Check fsck.Report // of the copy
}

const op = "store: transfer"

// Run moves the world of one store into another, which is empty or holds what an
// earlier run of the same transfer left. Conflict: the other is neither; Locked: a
// daemon still works on the source. Corrupt: the source is damaged, or the proof
// failed; then the source stays held and the copy unfinished. The report of a
// failed proof has its findings.
func Run(ctx context.Context, from, to Store, tell Progress) (Report, error) {
	if tell == nil {
		tell = func(string, int64) {}
	}
	if err := begin(ctx, from, to); err != nil {
		return Report{}, err
	}
	c := carrier{ctx: ctx, to: to, tell: tell}
	if err := c.carry(from); err != nil {
		return Report{}, err
	}
	r := Report{Rows: c.total}
	var err error
	if r.Head, r.Check, err = prove(ctx, from, to, tell); err != nil {
		return r, err
	}
	return r, end(ctx, from, to)
}

// begin holds the source and opens the copy for rows.
func begin(ctx context.Context, from, to Store) error {
	source, err := from.Seal(ctx)
	if err != nil {
		return err
	}
	target, err := to.Seal(ctx)
	if err != nil {
		return err
	}
	switch {
	case source == store.Filling:
		return fault.New(op, fault.Conflict, "the source is itself an unfinished copy")
	case target != store.Unsealed && target != store.Filling:
		return fault.New(op, fault.Conflict, "the target is held or sealed: it is the source of another copy")
	}
	if err := fits(ctx, from, to, target); err != nil {
		return err
	}
	// The target comes first: one that cannot be filled holds no source up.
	if target == store.Unsealed {
		if err := to.SetSeal(ctx, store.Unsealed, store.Filling); err != nil {
			return err
		}
	}
	if source == store.Unsealed {
		return from.SetSeal(ctx, store.Unsealed, store.Held)
	}
	return nil
}

// fits refuses a source without a world, and a target that holds another one or
// one that is served.
func fits(ctx context.Context, from, to Store, target store.Seal) error {
	genesis, err := from.Entry(ctx, 0)
	if err != nil {
		return err
	}
	switch there, err := to.Entry(ctx, 0); {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case target == store.Unsealed && there == genesis:
		return fault.New(op, fault.Conflict, "the target holds this world already, and may have gone on since")
	case there != genesis:
		return fault.New(op, fault.Conflict, "the target holds another world")
	}
	return nil
}

// end seals the source first, so that at no time two stores may go on.
func end(ctx context.Context, from, to Store) error {
	seal, err := from.Seal(ctx)
	if err != nil {
		return err
	}
	if seal == store.Held {
		if err := from.SetSeal(ctx, store.Held, store.Sealed); err != nil {
			return err
		}
	}
	return to.SetSeal(ctx, store.Filling, store.Unsealed)
}
