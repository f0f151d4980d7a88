package sqlite

import (
	"context"
	"fmt"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// eachIntent selects columns of all intents that meet a condition, settled or not.
func eachIntent(columns, condition string) string {
	return "SELECT " + columns + " FROM intents WHERE " + condition + " UNION ALL SELECT " + columns + " FROM unsettled WHERE " + condition
}

// one returns the row that a query finds, or NotFound naming what was looked for.
func one[T any](c *conn, what string, scan func(rows.Scanner) (T, error), query string, key ...any) (v T, err error) {
	found, err := c.row(func(row rows.Scanner) (err error) {
		v, err = scan(row)
		return err
	}, query, key...)
	if err == nil && !found {
		err = fault.New("sqlite: read", fault.NotFound, "%s", what)
	}
	return v, err
}

// many returns the rows that a query finds.
func many[T any](c *conn, scan func(rows.Scanner) (T, error), query string, key ...any) (vs []T, err error) {
	err = c.each(func(row rows.Scanner) error {
		v, err := scan(row)
		vs = append(vs, v)
		return err
	}, query, key...)
	return vs, err
}

func readHead(c *conn) (store.Head, error) {
	h, err := one(c, "head", func(row rows.Scanner) (store.Head, error) { return rows.ScanHead(row) }, "SELECT "+rows.HeadColumns+" FROM head WHERE id = 1")
	if fault.Is(err, fault.NotFound) {
		err = noGenesis()
	}
	return h, err
}

func noGenesis() error {
	return fault.New("sqlite: head", fault.NotFound, "the log has no genesis yet")
}

func readEntry(c *conn, index int64) (store.Entry, error) {
	return one(c, fmt.Sprintf("log entry %d", index), rows.ScanEntry, "SELECT "+rows.EntryColumns+" FROM log WHERE idx = ?", index)
}

func readClaim(c *conn, id store.InvocationID) (store.Claim, error) {
	return one(c, fmt.Sprintf("invocation %q", id), rows.ScanClaim, "SELECT "+rows.ClaimColumns+" FROM claims WHERE invocation = ?", string(id))
}

func readIntent(c *conn, episode store.EpisodeID, ordinal int64) (store.Intent, error) {
	return one(c, "intent "+store.IntentName(episode, ordinal), rows.ScanIntent,
		eachIntent(rows.IntentColumns, "episode = ?1 AND ordinal = ?2"), string(episode), ordinal)
}

func readClock(c *conn) (int64, error) {
	at, err := one(c, "clock", rows.ScanClock, "SELECT "+rows.ClockColumns+" FROM clock WHERE id = 1")
	if fault.Is(err, fault.NotFound) {
		err = rows.Damaged("the clock is missing")
	}
	return at, err
}

// LastTime implements store.Reader.
func (s *Store) LastTime(ctx context.Context) (int64, error) {
	return recall(ctx, s, "sqlite: last time",
		func(m *mirror) (int64, bool) { return m.clock.at, m.clock.known },
		func(m *mirror, at int64) { m.clock = instant{true, at} }, readClock)
}

// Look implements store.Reader.
func (s *Store) Look(ctx context.Context, what store.Lookup) (store.Looked, error) {
	return store.Ask(ctx, s, what)
}

// Head implements store.Reader.
func (s *Store) Head(ctx context.Context) (h store.Head, err error) {
	err = s.readers.read(ctx, "sqlite: head", func(c *conn) (err error) {
		h, err = readHead(c)
		return err
	})
	return h, err
}

// Entry implements store.Reader.
func (s *Store) Entry(ctx context.Context, index int64) (e store.Entry, err error) {
	err = s.readers.read(ctx, "sqlite: entry", func(c *conn) (err error) {
		e, err = readEntry(c, index)
		return err
	})
	return e, err
}

// Entries implements store.Reader.
func (s *Store) Entries(ctx context.Context, from int64, limit int) (es []store.Entry, err error) {
	const op = "sqlite: entries"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = s.readers.read(ctx, op, func(c *conn) (err error) {
		es, err = many(c, rows.ScanEntry, "SELECT "+rows.EntryColumns+" FROM log WHERE idx >= ? ORDER BY idx LIMIT ?", from, limit)
		return err
	})
	return es, err
}

// endedBy is the index of the entry that ended a call.
const endedBy = "SELECT coalesce(i.entry, u.entry, c.entry) FROM claims c " +
	"LEFT JOIN intents i ON i.episode = c.episode AND i.ordinal = c.ordinal " +
	"LEFT JOIN unsettled u ON u.episode = c.episode AND u.ordinal = c.ordinal WHERE c.invocation = ?"

// EntryOf implements store.Reader.
func (s *Store) EntryOf(ctx context.Context, id store.InvocationID) (e store.Entry, err error) {
	err = s.readers.read(ctx, "sqlite: entry of", func(c *conn) (err error) {
		e, err = one(c, fmt.Sprintf("entry of invocation %q", id), rows.ScanEntry, "SELECT "+rows.EntryColumns+" FROM log WHERE idx = ("+endedBy+")", string(id))
		if err == nil && e.Invocation != id {
			e, err = store.Entry{}, rows.Damaged("claim %q leads to the entry of another call", id)
		}
		return err
	})
	return e, err
}

// EntryAbout implements store.Reader.
func (s *Store) EntryAbout(ctx context.Context, transition store.Ref) (e store.Entry, err error) {
	const op = "sqlite: entry about"
	if err := store.CheckRefs(op, transition); err != nil {
		return e, err
	}
	err = s.readers.read(ctx, op, func(c *conn) (err error) {
		// Genesis may be about an object that was stored later.
		e, err = one(c, "entry about "+string(transition), rows.ScanEntry, "SELECT "+rows.EntryColumns+" FROM log "+
			"WHERE idx IN (0, (SELECT about FROM objects WHERE "+hashIs(1)+")) AND transition_ref = ?1 ORDER BY idx LIMIT 1", rows.Blob(transition))
		return err
	})
	return e, err
}

// Claim implements store.Reader.
func (s *Store) Claim(ctx context.Context, id store.InvocationID) (cl store.Claim, err error) {
	err = s.readers.read(ctx, "sqlite: claim", func(c *conn) (err error) {
		cl, err = readClaim(c, id)
		return err
	})
	return cl, err
}
