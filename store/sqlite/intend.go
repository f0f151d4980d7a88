package sqlite

import (
	"context"

	"world/broker/law"
	"world/fault"
	"world/store"
)

// Intend implements store.Store.
func (s *Store) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	const op = "sqlite: intend"
	if err := s.writable(op); err != nil {
		return store.Intent{}, err
	}
	if err := checkIntention(op, in); err != nil {
		return store.Intent{}, err
	}
	intent := store.Intent{
		Episode: in.Claim.Episode, Invocation: in.Claim.Invocation, Effect: in.Effect, Scope: in.Scope,
		Cost: in.Cost, Request: in.Request, At: in.Claim.At, Epoch: in.Lease.Epoch,
	}
	err := s.writer.do(ctx, op,
		func(c *conn) error { return intend(c, op, in, &intent) },
		func(c *conn) (bool, error) { // the claim is unique, and written with the rest
			claim, err := readClaim(c, in.Claim.Invocation)
			if fault.Is(err, fault.NotFound) {
				return false, nil
			}
			return claim == in.Claim, err
		})
	if err != nil {
		return store.Intent{}, err
	}
	return intent, nil
}

// intend checks every guard, then writes; it fills in the ordinal.
func intend(c *conn, op string, in store.Intention, intent *store.Intent) error {
	if err := checkLease(c, op, in.Lease); err != nil {
		return err
	}
	if err := refuseClaimed(c, op, in.Claim.Invocation); err != nil {
		return err
	}
	if err := requireObjects(c, op, in.Objects, in.Claim.TransitionFn, in.Claim.Input, in.Claim.Session, in.Request); err != nil {
		return err
	}
	var err error
	if intent.Ordinal, err = nextOrdinal(c, intent.Episode); err != nil {
		return err
	}
	if err := spend(c, op, in); err != nil {
		return err
	}
	if err := putClaim(c, in.Claim); err != nil {
		return err
	}
	if err := putObjects(c, in.Objects); err != nil {
		return err
	}
	if _, err := c.exec("INSERT INTO intents ("+intentColumns+") VALUES "+values(1, 15), intentArgs(*intent)...); err != nil {
		return err
	}
	return tick(c, in.Claim.At)
}

// spend adds the cost to the running total under the guard of the budget. The
// guard is the condition of the write; no row changed means over budget.
func spend(c *conn, op string, in store.Intention) error {
	r := spentRow{in.Claim.Episode, store.Spent{Effect: in.Effect, Scope: in.Scope}}
	key := []any{string(r.episode), string(in.Effect), string(in.Scope)}
	_, err := c.row(func(row scanner) (err error) {
		r, err = scanSpent(row)
		return err
	}, "SELECT "+spendColumns+" FROM spend WHERE episode = ? AND effect = ? AND scope = ?", key...)
	if err != nil {
		return err
	}
	before := r.spent.Total
	r.spent.Total = law.Plus(before, in.Cost)
	d := r.digest()
	n, err := c.exec("INSERT INTO spend (episode, effect, scope, total, digest) "+
		"SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?6 <= max(?7 - ?8, 0) "+
		"ON CONFLICT (episode, effect, scope) DO UPDATE SET total = excluded.total, digest = excluded.digest "+
		"WHERE total = ?8", append(key, r.spent.Total, d[:], in.Cost, in.Budget, before)...)
	if err == nil && n == 0 {
		err = fault.New(op, fault.OverBudget, "%s on %s: %d of %d calls spent", in.Effect, in.Scope, before, in.Budget)
	}
	return err
}

// nextOrdinal is dense within the episode: intents are never removed.
func nextOrdinal(c *conn, episode store.EpisodeID) (next int64, err error) {
	_, err = c.row(func(row scanner) error { return row.Scan(&next) },
		"SELECT coalesce(max(ordinal) + 1, 0) FROM intents WHERE episode = ?", string(episode))
	return next, err
}

func refuseClaimed(c *conn, op string, id store.InvocationID) error {
	found, err := c.row(func(scanner) error { return nil }, "SELECT 1 FROM claims WHERE invocation = ?", string(id))
	if err == nil && found {
		err = fault.New(op, fault.Conflict, "invocation %q is claimed already", id)
	}
	return err
}

func putClaim(c *conn, claim store.Claim) error {
	_, err := c.exec("INSERT INTO claims ("+claimColumns+") VALUES "+values(1, 8), claimArgs(claim)...)
	return err
}

// tick moves the greatest logical time forwards, never back.
func tick(c *conn, at int64) error {
	d := store.ClockDigest(at)
	_, err := c.exec("UPDATE clock SET at = ?1, digest = ?2 WHERE at < ?1", at, d[:])
	return err
}

func checkIntention(op string, in store.Intention) error {
	if err := checkClaim(op, in.Claim); err != nil {
		return err
	}
	switch {
	case in.Lease.Episode != in.Claim.Episode:
		return fault.New(op, fault.Invalid, "the lease is of another episode")
	case in.Cost < 0:
		return fault.New(op, fault.Invalid, "cost %d is negative", in.Cost)
	case in.Effect == "" || in.Scope == "":
		return fault.New(op, fault.Invalid, "effect or scope is empty")
	}
	if err := checkRefs(op, in.Request); err != nil {
		return err
	}
	return checkObjects(op, in.Objects)
}

func checkClaim(op string, c store.Claim) error {
	if c.Invocation == "" || len(c.Invocation) > 256 {
		return fault.New(op, fault.Invalid, "an invocation id is 1 to 256 bytes")
	}
	if _, err := store.ParseEpisodeID(string(c.Episode)); err != nil {
		return err
	}
	if _, err := store.ParseTransitionID(string(c.Transition)); err != nil {
		return err
	}
	if c.At < 0 {
		return fault.New(op, fault.Invalid, "time %d is negative", c.At)
	}
	return checkRefs(op, c.TransitionFn, c.Input, c.Session)
}

// checkRefs refuses refs that would not fit their columns.
func checkRefs(op string, refs ...store.Ref) error {
	for _, r := range refs {
		if _, err := store.ParseRef(string(r)); err != nil {
			return fault.Wrap(op, fault.Invalid, err, "a ref is missing or malformed")
		}
	}
	return nil
}

func (s *Store) writable(op string) error {
	if s.writer == nil {
		return fault.New(op, fault.Unavailable, "the store is open for reading only")
	}
	return nil
}
