package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/rows"
)

// Intend implements store.Store.
func (s *Store) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	const op = "sqlite: intend"
	if err := s.writable(op); err != nil {
		return store.Intent{}, err
	}
	if err := in.Check(op); err != nil {
		return store.Intent{}, err
	}
	intent := in.Opened()
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

// intend reads once what it needs to know, then writes. The first write carries
// the guards and changes nothing when one of them fails.
func intend(c *conn, op string, in store.Intention, intent *store.Intent) error {
	if err := authorized(c, op, in); err != nil {
		return err
	}
	now := ledgerRow{spent: spentRow{in.Claim.Episode, store.Spent{Effect: in.Effect, Scope: in.Scope}}}
	named := c.known.unknown(in.Names())
	again, err := len(named) == 0 && now.recall(c), error(nil)
	if again {
		again, err = spendAgain(c, in, now)
	}
	if err == nil && !again {
		if err = now.read(c, named); err != nil {
			return err
		}
		if now.stored < len(named) {
			return notStored(c, op, named)
		}
		c.known.found(named)
		err = spend(c, op, in, now)
	}
	if err != nil {
		return err
	}
	intent.Ordinal = now.next
	if err := putClaim(c, in.Claim, intent.Ordinal, none); err != nil {
		return err
	}
	if err := putObjects(c, in.Objects, nobody); err != nil {
		return err
	}
	if _, err := c.exec(insertOpen, append(rows.IntentArgs(*intent), int64(none))...); err != nil {
		return err
	}
	return tick(c, now.clock, in.Claim.At)
}

// authorized refuses a call whose session has ended.
func authorized(c *conn, op string, in store.Intention) error {
	if in.Credential == "" {
		return nil
	}
	s, ok := c.known.session(in.Credential)
	if !ok {
		found, err := readSession(c, in.Credential)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		s = found.Session
	}
	return in.Authorized(op, s)
}

// ledgerRow is what an intent is decided by, read in one statement.
type ledgerRow struct {
	next   int64    // ordinal; dense, because intents are never removed, and unique whatever this says
	clock  int64    // greatest logical time
	stored int      // how many of the named objects there are
	spent  spentRow // total 0 when nothing was spent yet
}

func (l *ledgerRow) read(c *conn, named []store.Ref) error {
	var digest []byte
	episode := string(l.spent.episode)
	_, err := c.row(func(row rows.Scanner) error {
		return row.Scan(&l.stored, &l.next, &l.clock, &l.spent.spent.Total, &digest)
	}, "SELECT "+storedSQL(4, len(named))+", "+
		"("+nextSQL+"), (SELECT at FROM clock WHERE id = 1), coalesce(s.total, 0), s.digest "+
		"FROM (SELECT 1) LEFT JOIN spend s ON s.episode = ?1 AND s.effect = ?2 AND s.scope = ?3",
		append([]any{episode, string(l.spent.spent.Effect), string(l.spent.spent.Scope)}, blobs(named)...)...)
	if err != nil || digest == nil {
		return err
	}
	return rows.Matches(digest, l.spent.digest(), func() string { return spentWhere(l.spent) })
}

// recall answers as read does, from the mirror.
func (l *ledgerRow) recall(c *conn) bool {
	clock := c.known.clock()
	ledger, ok := c.known.ledger(l.spent.episode)
	at, found := slices.BinarySearchFunc(ledger.Spent, l.spent.spent, bySpent)
	if !clock.known || !ok || !found {
		return false
	}
	l.clock, l.next, l.spent.spent = clock.at, ledger.Next, ledger.Spent[at]
	return true
}

// spendAgain adds the cost to a running total that was recalled, and reports
// whether it did. That the row is as recalled is one of its guards; when any of
// them fails, reading will tell which.
func spendAgain(c *conn, in store.Intention, now ledgerRow) (bool, error) {
	r, before := now.spent, now.spent.spent.Total
	r.spent.Total = law.Plus(before, in.Cost)
	was, is, lease := now.spent.digest(), r.digest(), in.Lease.Digest()
	n, err := c.exec("UPDATE spend SET total = ?4, digest = ?5, ordinal = ?6 "+
		"WHERE episode = ?1 AND effect = ?2 AND scope = ?3 AND digest = ?7 AND total = ?12 AND ?8 <= max(?9 - total, 0) "+
		"AND EXISTS (SELECT 1 FROM leases WHERE episode = ?1 AND digest = ?10) "+
		"AND NOT EXISTS (SELECT 1 FROM claims WHERE invocation = ?11)",
		string(r.episode), string(in.Effect), string(in.Scope), r.spent.Total, is[:], now.next, was[:], in.Cost, in.Budget,
		lease[:], string(in.Claim.Invocation), before)
	if err != nil || n != 1 {
		return false, err
	}
	c.known.spent(r, now.next)
	return true, nil
}

// spend adds the cost to the running total. Its guards are the conditions of the
// write: the budget, the lease, and that nobody has claimed the id.
func spend(c *conn, op string, in store.Intention, now ledgerRow) error {
	r, before := now.spent, now.spent.spent.Total
	r.spent.Total = law.Plus(before, in.Cost)
	d, lease := r.digest(), in.Lease.Digest()
	n, err := c.exec("INSERT INTO spend ("+spendColumns+", ordinal) "+
		"SELECT ?1, ?2, ?3, ?4, ?5, ?11 WHERE ?6 <= max(?7 - ?8, 0) "+
		"AND EXISTS (SELECT 1 FROM leases WHERE episode = ?1 AND digest = ?9) "+
		"AND NOT EXISTS (SELECT 1 FROM claims WHERE invocation = ?10) "+
		"ON CONFLICT (episode, effect, scope) DO UPDATE SET total = excluded.total, digest = excluded.digest, ordinal = excluded.ordinal",
		string(r.episode), string(in.Effect), string(in.Scope), r.spent.Total, d[:], in.Cost, in.Budget, before,
		lease[:], string(in.Claim.Invocation), now.next)
	if err != nil {
		return err
	}
	if n == 1 {
		c.known.spent(r, now.next)
		return nil
	}
	if err := checkLease(c, op, in.Lease); err != nil {
		return err
	}
	if err := refuseClaimed(c, op, in.Claim.Invocation); err != nil {
		return err
	}
	return fault.New(op, fault.OverBudget, "%s on %s: %d of %d calls spent", in.Effect, in.Scope, before, in.Budget)
}

// nextSQL is an expression for the ordinal of the next intent of episode ?1. Each
// intent has spent, if only 0.
const nextSQL = "SELECT coalesce(max(ordinal) + 1, 0) FROM spend WHERE episode = ?1"

// nextOrdinal is the ordinal of an episode's next intent.
func nextOrdinal(c *conn, episode store.EpisodeID) (next int64, err error) {
	_, err = c.row(func(row rows.Scanner) error { return row.Scan(&next) }, nextSQL, string(episode))
	return next, err
}

func refuseClaimed(c *conn, op string, id store.InvocationID) error {
	found, err := c.row(func(rows.Scanner) error { return nil }, "SELECT 1 FROM claims WHERE invocation = ?", string(id))
	if err == nil && found {
		err = fault.New(op, fault.Conflict, "invocation %q is claimed already", id)
	}
	return err
}

// putClaim takes an invocation id, for the intent of an ordinal or else for the
// entry that ends the call.
func putClaim(c *conn, claim store.Claim, ordinal, entry int64) error {
	_, err := c.exec(insertClaim, append(rows.ClaimArgs(claim), ordinal, entry)...)
	return err
}

var (
	insertClaim   = "INSERT INTO claims (" + rows.ClaimColumns + ", ordinal, entry) VALUES " + values(1, 10)
	insertOpen    = "INSERT INTO unsettled (" + rows.IntentColumns + ", entry) VALUES " + values(1, 16)
	insertSettled = "INSERT INTO intents (" + rows.IntentColumns + ", entry) VALUES " + values(1, 16)
)

// settle moves an intent, as it is now, out of the unsettled ones.
func settle(c *conn, i store.Intent) error {
	_, err := c.exec("INSERT INTO intents ("+rows.IntentColumns+", entry) SELECT "+strings.Repeat("?, ", 15)+"entry "+
		"FROM unsettled WHERE episode = ?1 AND ordinal = ?2", rows.IntentArgs(i)...)
	if err != nil {
		return err
	}
	n, err := c.exec("DELETE FROM unsettled WHERE episode = ? AND ordinal = ?", string(i.Episode), i.Ordinal)
	if err == nil && n != 1 {
		err = fmt.Errorf("intent %s changed under its own transaction", i.Name())
	}
	return err
}

// tick moves the greatest logical time forwards, never back.
func tick(c *conn, clock, at int64) error {
	if at <= clock {
		return nil
	}
	d := store.ClockDigest(at)
	_, err := c.exec("UPDATE clock SET at = ?, digest = ? WHERE id = 1", at, d[:])
	c.known.news.clock = instant{true, at}
	if c.known.place != nil {
		c.known.place.clock = at
	}
	return err
}

func (s *Store) writable(op string) error {
	if s.writer == nil {
		return fault.New(op, fault.Unavailable, "the store is open for reading only")
	}
	return nil
}
