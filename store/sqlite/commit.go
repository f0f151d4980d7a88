package sqlite

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	const op = "sqlite: commit"
	if err := s.writable(op); err != nil {
		return store.Entry{}, err
	}
	if err := f.Check(op); err != nil {
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
	place, err := findPlace(c, op, f.Names())
	if err != nil {
		return store.Entry{}, err
	}
	if err := f.Follows(op, place.head); err != nil {
		return store.Entry{}, err
	}
	if f.Intent != nil {
		err = putOutcome(c, op, f, place.next())
	} else if err = refuseClaimed(c, op, f.Claim.Invocation); err == nil {
		err = putClaim(c, f.Claim, none, place.next())
	}
	if err != nil {
		return store.Entry{}, err
	}
	if err := putObjects(c, f.Objects, place.subject(f.Draft)); err != nil {
		return store.Entry{}, err
	}
	return chain(c, place, f.Draft, f.Claim.Invocation, f.At)
}

// place is where the next entry goes.
type place struct {
	head  store.Head
	clock int64 // greatest logical time
}

// next is the index of the next entry.
func (p place) next() int64 { return p.head.Index + 1 }

// subject is what the next entry is about, when it is made of d.
func (p place) subject(d store.Draft) subject { return subject{d.Transition, p.next()} }

// findPlace tells the head and refuses what names an object that is not stored. A
// head that this connection wrote is known: should another have come to be, the
// log has an entry of the next index already, and refuses ours.
func findPlace(c *conn, op string, named []store.Ref) (place, error) {
	named = c.known.unknown(named)
	if at := c.known.place; at != nil && len(named) == 0 {
		return *at, nil
	}
	p := place{}
	stored := 0
	found, err := c.row(func(row rows.Scanner) (err error) {
		p.head, err = rows.ScanHead(row, &stored, &p.clock)
		return err
	}, "SELECT "+storedSQL(1, len(named))+", (SELECT at FROM clock WHERE id = 1), "+
		rows.HeadColumns+" FROM head WHERE id = 1", blobs(named)...)
	switch {
	case err != nil:
		return p, err
	case !found:
		return p, noGenesis()
	case stored < len(named):
		return p, notStored(c, op, named)
	}
	c.known.found(named)
	return p, nil
}

// putOutcome ends an intent. The conditions of the first write are the lease, the
// claim, and the intent as it was opened: its digest says that it is still open.
func putOutcome(c *conn, op string, f store.Finish, entry int64) error {
	open := *f.Intent
	open.Outcome, open.Reconciled = store.Outcome{}, ""
	ended := open
	ended.Outcome = f.Outcome
	if open.Invocation != f.Claim.Invocation || open.Epoch != f.Lease.Epoch {
		return whyNotEnded(c, op, f)
	}
	was, lease, claim := open.Digest(), f.Lease.Digest(), f.Claim.Digest()
	guards := []any{string(open.Episode), open.Ordinal, was[:], lease[:], string(f.Claim.Invocation), claim[:]}
	unclear := f.Outcome.Status == store.StatusIndeterminate
	var n int64
	var err error
	if unclear {
		is := ended.Digest()
		n, err = c.exec("UPDATE unsettled SET status = ?7, record = x'', detail = ?8, outcome_at = ?9, digest = ?10, entry = ?11 "+openedBy,
			append(guards, string(f.Outcome.Status), rows.Blob(f.Outcome.Detail), f.Outcome.At, is[:], entry)...)
	} else {
		n, err = c.exec("DELETE FROM unsettled "+openedBy, guards...)
	}
	switch {
	case err != nil:
		return err
	case n != 1:
		return whyNotEnded(c, op, f)
	case unclear:
		return nil
	}
	_, err = c.exec(insertSettled, append(rows.IntentArgs(ended), entry)...)
	return err
}

// openedBy finds the open intent of a call under its lease and its claim.
const openedBy = "WHERE episode = ?1 AND ordinal = ?2 AND digest = ?3 " +
	"AND EXISTS (SELECT 1 FROM leases WHERE episode = ?1 AND digest = ?4) " +
	"AND EXISTS (SELECT 1 FROM claims WHERE invocation = ?5 AND digest = ?6)"

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
	if _, err := c.exec(insertEntry, rows.EntryArgs(e)...); err != nil {
		return e, err
	}
	move, args := beginHead, rows.HeadArgs(e.Head())
	if p.head.Index >= 0 {
		move, args = moveHead, append(args, rows.Blob(p.head.Entry))
	}
	if n, err := c.exec(move, args...); err != nil {
		return e, err
	} else if n != 1 {
		return e, rows.Damaged("the head is not the last entry, %d", p.head.Index)
	}
	c.known.place = &place{e.Head(), p.clock}
	return e, tick(c, p.clock, at)
}

var insertEntry = "INSERT INTO log (" + rows.EntryColumns + ") VALUES " + values(1, 12)

const (
	beginHead = "INSERT INTO head (id, " + rows.HeadColumns + ") VALUES (1, ?, ?, ?, ?, ?)"
	moveHead  = "UPDATE head SET idx = ?, world = ?, state_root = ?, entry = ?, digest = ? WHERE id = 1 AND entry = ?"
)

// logged reports whether exactly this entry is in the log.
func logged(c *conn, e store.Entry) (bool, error) {
	got, err := readEntry(c, e.Index)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return got == e, err
}
