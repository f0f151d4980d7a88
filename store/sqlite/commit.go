package sqlite

import (
	"context"

	"world/fault"
	"world/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	const op = "sqlite: commit"
	if err := s.writable(op); err != nil {
		return store.Entry{}, err
	}
	if err := checkFinish(op, f); err != nil {
		return store.Entry{}, err
	}
	var entry store.Entry
	err := s.writer.do(ctx, op,
		func(c *conn) (err error) {
			entry, err = commit(c, op, f)
			return err
		},
		func(c *conn) (bool, error) { return logged(c, entry) })
	if err != nil {
		return store.Entry{}, err
	}
	return entry, nil
}

// commit reads once what it needs to know, then writes. The first write carries
// the guards and changes nothing when one of them fails.
func commit(c *conn, op string, f store.Finish) (store.Entry, error) {
	named := []store.Ref{f.Draft.TransitionFn, f.Draft.Interpreter, f.Draft.Transition, f.Draft.StateRoot}
	if f.Intent == nil {
		named = append(named, f.Claim.TransitionFn, f.Claim.Input, f.Claim.Session)
	} else {
		named = append(named, f.Outcome.Detail)
		if f.Outcome.Record != "" {
			named = append(named, f.Outcome.Record)
		}
	}
	place, err := findPlace(c, op, without(f.Objects, named...))
	if err != nil {
		return store.Entry{}, err
	}
	if err := f.Follows(op, place.head); err != nil {
		return store.Entry{}, err
	}
	if f.Intent != nil {
		err = putOutcome(c, op, f)
	} else if err = refuseClaimed(c, op, f.Claim.Invocation); err == nil {
		err = putClaim(c, f.Claim)
	}
	if err != nil {
		return store.Entry{}, err
	}
	if err := putObjects(c, f.Objects); err != nil {
		return store.Entry{}, err
	}
	return chain(c, place, f.Draft, f.Claim.Invocation, f.At)
}

// place is where the next entry goes.
type place struct {
	head  store.Head
	clock int64 // greatest logical time
}

// findPlace reads the head and refuses what names an object that is not stored.
func findPlace(c *conn, op string, named []store.Ref) (place, error) {
	p := place{}
	stored := 0
	found, err := c.row(func(row scanner) error {
		h := &p.head
		return whole(row, h, headWhere, store.Head.Digest, &stored, &p.clock, &h.Index, ref(&h.World), ref(&h.StateRoot), ref(&h.Entry))
	}, "SELECT "+storedSQL(len(named))+", (SELECT at FROM clock WHERE id = 1), "+
		headColumns+" FROM head WHERE id = 1", blobs(named)...)
	switch {
	case err != nil:
		return p, err
	case !found:
		return p, noGenesis()
	case stored < len(named):
		return p, notStored(c, op, named)
	}
	return p, nil
}

// putOutcome ends an intent. The conditions of the write are the lease, the
// claim, and the intent as it was opened: its digest says that it is still open.
func putOutcome(c *conn, op string, f store.Finish) error {
	open := *f.Intent
	open.Outcome, open.Reconciled = store.Outcome{}, ""
	ended := open
	ended.Outcome = f.Outcome
	if open.Invocation != f.Claim.Invocation || open.Epoch != f.Lease.Epoch {
		return whyNotEnded(c, op, f)
	}
	was, is, lease, claim := open.Digest(), ended.Digest(), f.Lease.Digest(), f.Claim.Digest()
	n, err := c.exec("UPDATE intents SET status = ?, record = ?, detail = ?, outcome_at = ?, digest = ? "+
		"WHERE episode = ? AND ordinal = ? AND digest = ? "+
		"AND EXISTS (SELECT 1 FROM leases WHERE episode = ? AND digest = ?) "+
		"AND EXISTS (SELECT 1 FROM claims WHERE invocation = ? AND digest = ?)",
		string(f.Outcome.Status), blob(f.Outcome.Record), blob(f.Outcome.Detail), f.Outcome.At, is[:],
		string(open.Episode), open.Ordinal, was[:], string(f.Lease.Episode), lease[:], string(f.Claim.Invocation), claim[:])
	if err != nil || n == 1 {
		return err
	}
	return whyNotEnded(c, op, f)
}

// whyNotEnded names the guard that held an outcome back.
func whyNotEnded(c *conn, op string, f store.Finish) error {
	if err := checkLease(c, op, f.Lease); err != nil {
		return err
	}
	intent, err := readIntent(c, f.Intent.Episode, f.Intent.Ordinal)
	if err != nil {
		return err
	}
	claim, err := readClaim(c, f.Claim.Invocation)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	switch {
	case claim != f.Claim || intent.Invocation != claim.Invocation:
		return fault.New(op, fault.Conflict, "invocation %q is claimed by another call", f.Claim.Invocation)
	case intent.Outcome.Status == store.StatusOpen && intent.Reconciled == "" && intent.Epoch != f.Lease.Epoch:
		return fault.New(op, fault.LeaseLost, "intent %s is of epoch %d", intent.Name(), intent.Epoch)
	}
	return fault.New(op, fault.Conflict, "intent %s has its outcome already, or is another", intent.Name())
}

// chain appends a draft to the log and moves the head onto it.
func chain(c *conn, p place, d store.Draft, id store.InvocationID, at int64) (store.Entry, error) {
	e := store.Chain(p.head, d, id)
	if _, err := c.exec("INSERT INTO log ("+entryColumns+") VALUES "+values(1, 12), entryArgs(e)...); err != nil {
		return e, err
	}
	if _, err := c.exec("INSERT INTO head (id, "+headColumns+") VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "+
		"idx = excluded.idx, world = excluded.world, state_root = excluded.state_root, entry = excluded.entry, digest = excluded.digest",
		headArgs(e.Head())...); err != nil {
		return e, err
	}
	return e, tick(c, p.clock, at)
}

// logged reports whether exactly this entry is in the log.
func logged(c *conn, e store.Entry) (bool, error) {
	got, err := readEntry(c, e.Index)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return got == e, err
}

func checkFinish(op string, f store.Finish) error {
	if err := checkClaim(op, f.Claim); err != nil {
		return err
	}
	if err := checkDraft(op, f.Draft, f.At); err != nil {
		return err
	}
	if err := checkObjects(op, f.Objects); err != nil {
		return err
	}
	if f.Intent == nil {
		return nil
	}
	if f.Lease.Episode != f.Intent.Episode || f.Claim.Episode != f.Intent.Episode {
		return fault.New(op, fault.Invalid, "the lease, the claim and the intent are of different episodes")
	}
	switch o := f.Outcome; o.Status {
	case store.StatusSucceeded, store.StatusFailed:
		return checkRefs(op, o.Record, o.Detail)
	case store.StatusIndeterminate:
		if o.Record != "" {
			return fault.New(op, fault.Invalid, "an indeterminate effect has no record")
		}
		return checkRefs(op, o.Detail)
	}
	return fault.New(op, fault.Invalid, "an outcome is succeeded, failed or indeterminate")
}

func checkDraft(op string, d store.Draft, at int64) error {
	if at < 0 || d.SemanticsEpoch < 0 {
		return fault.New(op, fault.Invalid, "a time or epoch is negative")
	}
	if d.WrittenBy == "" {
		return fault.New(op, fault.Invalid, "an entry says who wrote it")
	}
	return checkRefs(op, d.TransitionFn, d.Interpreter, d.Transition, d.StateRoot)
}
