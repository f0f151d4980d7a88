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

// commit checks every guard, then writes.
func commit(c *conn, op string, f store.Finish) (store.Entry, error) {
	fail := func(err error) (store.Entry, error) { return store.Entry{}, err }
	named := []store.Ref{f.Draft.TransitionFn, f.Draft.Interpreter, f.Draft.Transition, f.Draft.StateRoot}
	var intent store.Intent
	var err error
	if f.Intent == nil {
		err = refuseClaimed(c, op, f.Claim.Invocation)
		named = append(named, f.Claim.TransitionFn, f.Claim.Input, f.Claim.Session)
	} else {
		intent, err = closing(c, op, f)
		named = append(named, f.Outcome.Detail)
		if f.Outcome.Record != "" {
			named = append(named, f.Outcome.Record)
		}
	}
	if err != nil {
		return fail(err)
	}
	if err := requireObjects(c, op, f.Objects, named...); err != nil {
		return fail(err)
	}
	head, err := readHead(c)
	if err != nil {
		return fail(err)
	}
	if f.Intent == nil {
		err = putClaim(c, f.Claim)
	} else {
		err = putOutcome(c, op, intent)
	}
	if err != nil {
		return fail(err)
	}
	if err := putObjects(c, f.Objects); err != nil {
		return fail(err)
	}
	return chain(c, head, f.Draft, f.Claim.Invocation, f.At)
}

// closing returns the open intent that a finish ends, with its outcome in it.
func closing(c *conn, op string, f store.Finish) (store.Intent, error) {
	if err := checkLease(c, op, f.Lease); err != nil {
		return store.Intent{}, err
	}
	intent, err := readIntent(c, f.Intent.Episode, f.Intent.Ordinal)
	if err != nil {
		return intent, err
	}
	claim, err := readClaim(c, f.Claim.Invocation)
	if fault.Is(err, fault.NotFound) {
		return intent, fault.New(op, fault.Conflict, "invocation %q was never claimed", f.Claim.Invocation)
	}
	if err != nil {
		return intent, err
	}
	switch {
	case claim != f.Claim || intent.Invocation != f.Claim.Invocation:
		return intent, fault.New(op, fault.Conflict, "invocation %q is claimed by another call", f.Claim.Invocation)
	case intent.Outcome.Status != store.StatusOpen || intent.Reconciled != "":
		return intent, fault.New(op, fault.Conflict, "intent %s has its outcome already", intent.Name())
	case intent.Epoch != f.Lease.Epoch:
		return intent, fault.New(op, fault.LeaseLost, "intent %s is of epoch %d", intent.Name(), intent.Epoch)
	}
	intent.Outcome = f.Outcome
	return intent, nil
}

// putOutcome ends an intent; the condition of the write lets it happen once.
func putOutcome(c *conn, op string, i store.Intent) error {
	d := i.Digest()
	n, err := c.exec("UPDATE intents SET status = ?, record = ?, detail = ?, outcome_at = ?, digest = ? "+
		"WHERE episode = ? AND ordinal = ? AND status = '' AND reconciled = x''",
		string(i.Outcome.Status), blob(i.Outcome.Record), blob(i.Outcome.Detail), i.Outcome.At, d[:], string(i.Episode), i.Ordinal)
	if err == nil && n != 1 {
		err = fault.New(op, fault.Conflict, "intent %s has its outcome already", i.Name())
	}
	return err
}

// chain appends a draft to the log and moves the head onto it.
func chain(c *conn, head store.Head, d store.Draft, id store.InvocationID, at int64) (store.Entry, error) {
	e := store.Chain(head, d, id)
	if _, err := c.exec("INSERT INTO log ("+entryColumns+") VALUES "+values(1, 12), entryArgs(e)...); err != nil {
		return e, err
	}
	if _, err := c.exec("INSERT INTO head (id, "+headColumns+") VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "+
		"idx = excluded.idx, world = excluded.world, state_root = excluded.state_root, entry = excluded.entry, digest = excluded.digest",
		headArgs(e.Head())...); err != nil {
		return e, err
	}
	return e, tick(c, at)
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
