package sqlite

import (
	"context"
	"slices"
	"strings"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// metaSeal is the key of the seal in the engine's bookkeeping; no row means none.
const metaSeal = "seal"

var _ store.Mover = (*Store)(nil)

// Seal implements store.Mover.
func (s *Store) Seal(ctx context.Context) (seal store.Seal, err error) {
	err = s.readers.read(ctx, "sqlite: seal", func(c *conn) error {
		seal, err = readSeal(c)
		return err
	})
	return seal, err
}

func readSeal(c *conn) (seal store.Seal, err error) {
	_, err = c.row(func(row rows.Scanner) error {
		return rows.Whole(row, &seal, func(store.Seal) string { return `meta "seal"` },
			func(seal store.Seal) store.Digest { return store.MetaDigest(metaSeal, string(seal)) }, &seal)
	}, "SELECT value, digest FROM meta WHERE key = ?", metaSeal)
	return seal, err
}

// SetSeal implements store.Mover. This process alone writes the file, so that a
// held one needs no other fence.
func (s *Store) SetSeal(ctx context.Context, from, to store.Seal) error {
	const op = "sqlite: set seal"
	if err := s.writable(op); err != nil {
		return err
	}
	return s.writer.do(ctx, op, func(c *conn) error {
		if err := wantSeal(c, op, from); err != nil {
			return err
		}
		if to == store.Unsealed {
			_, err := c.exec("DELETE FROM meta WHERE key = ?", metaSeal)
			return err
		}
		d := store.MetaDigest(metaSeal, string(to))
		_, err := c.exec("INSERT INTO meta (key, value, digest) VALUES (?, ?, ?) "+
			"ON CONFLICT (key) DO UPDATE SET value = excluded.value, digest = excluded.digest", metaSeal, string(to), d[:])
		return err
	}, func(c *conn) (bool, error) {
		now, err := readSeal(c)
		return now == to, err
	})
}

func wantSeal(c *conn, op string, want store.Seal) error {
	now, err := readSeal(c)
	if err == nil && now != want {
		err = fault.New(op, fault.Conflict, "the store's seal is %q and not %q", now, want)
	}
	return err
}

// Put implements store.Mover.
func (s *Store) Put(ctx context.Context, r store.Rows) error {
	const op = "sqlite: put"
	if err := s.writable(op); err != nil {
		return err
	}
	return s.writer.do(ctx, op, func(c *conn) error {
		if err := wantSeal(c, op, store.Filling); err != nil {
			return err
		}
		c.known.news.unknown, c.known.place = true, nil
		return put(c, r)
	}, func(*conn) (bool, error) { return false, nil }) // it may be put again
}

// changing are the columns of an intent that its end overwrites.
const changing = "status = excluded.status, record = excluded.record, detail = excluded.detail, " +
	"outcome_at = excluded.outcome_at, reconciled = excluded.reconciled, digest = excluded.digest"

func put(c *conn, r store.Rows) error {
	var failed error
	row := func(query string, args ...any) {
		if failed == nil {
			_, failed = c.exec(query, args...)
		}
	}
	about := map[store.Ref]int64{} // the first entry about what is not marked yet
	for _, e := range slices.Backward(r.Entries) {
		about[e.Transition] = e.Index
	}
	for _, o := range r.Objects {
		if failed == nil {
			failed = putStored(c, o, about)
		}
	}
	for _, cl := range r.Claims {
		row(insertClaim+" ON CONFLICT DO NOTHING", append(rows.ClaimArgs(cl), none, none)...)
	}
	for _, i := range r.Intents {
		putIntent(row, i)
		row("UPDATE claims SET ordinal = ? WHERE invocation = ? AND episode = ?", i.Ordinal, string(i.Invocation), string(i.Episode))
		row("UPDATE spend SET ordinal = max(ordinal, ?) WHERE episode = ? AND effect = ? AND scope = ?", i.Ordinal, string(i.Episode), string(i.Effect), string(i.Scope))
	}
	for _, e := range r.Entries {
		row(insertEntry+" ON CONFLICT DO NOTHING", rows.EntryArgs(e)...)
		if index, there := about[e.Transition]; there && index == e.Index && failed == nil {
			failed = mark(c, subject{e.Transition, e.Index})
		}
		if e.Invocation != "" {
			row("UPDATE claims SET entry = ? WHERE invocation = ? AND ordinal < 0", e.Index, string(e.Invocation))
			for _, table := range []string{"intents", "unsettled"} {
				row("UPDATE "+table+" SET entry = ? WHERE (episode, ordinal) = (SELECT episode, ordinal FROM claims WHERE invocation = ?)", e.Index, string(e.Invocation))
			}
		}
	}
	if r.Head != nil {
		row("INSERT OR REPLACE INTO head (id, "+rows.HeadColumns+") VALUES (1, ?, ?, ?, ?, ?)", rows.HeadArgs(*r.Head)...)
	}
	for _, l := range r.Ledgers {
		for _, sp := range l.Spent {
			d := sp.Digest(l.Episode)
			row("INSERT OR REPLACE INTO spend ("+spendColumns+", ordinal) SELECT ?1, ?2, ?3, ?4, ?5, "+
				"coalesce((SELECT max(ordinal) FROM ("+eachIntent("ordinal", "episode = ?1 AND effect = ?2 AND scope = ?3")+")), -1)",
				string(l.Episode), string(sp.Effect), string(sp.Scope), sp.Total, d[:])
		}
	}
	for _, p := range r.Sessions {
		row("INSERT OR REPLACE INTO sessions ("+rows.SessionColumns+") VALUES "+values(1, 8), rows.SessionArgs(rows.Session(p))...)
	}
	for _, m := range r.Registries {
		d := m.Digest()
		row("INSERT OR REPLACE INTO registry ("+rows.RegistryColumns+") VALUES (?, ?, ?)", m.Name, rows.Blob(m.To), d[:])
	}
	for _, l := range r.Leases { // opening the copy for writing ends what is open under them
		d := l.Digest()
		row("INSERT OR REPLACE INTO leases ("+leaseColumns+") VALUES (?, ?, ?)", string(l.Episode), l.Epoch, d[:])
	}
	if r.At > 0 {
		d := store.ClockDigest(r.At)
		row("UPDATE clock SET at = ?, digest = ? WHERE id = 1", r.At, d[:])
	}
	return failed
}

// putIntent keeps an intent where it belongs, with the entry that it may have already.
func putIntent(row func(string, ...any), i store.Intent) {
	args, table := append(rows.IntentArgs(i), none), "unsettled"
	if i.Reconciled != "" || i.Outcome.Status == store.StatusSucceeded || i.Outcome.Status == store.StatusFailed {
		table = "intents"
	}
	row("INSERT INTO "+table+" ("+rows.IntentColumns+", entry) VALUES ("+strings.Repeat("?, ", 15)+
		"coalesce((SELECT entry FROM unsettled WHERE episode = ?1 AND ordinal = ?2), ?16)) "+
		"ON CONFLICT (episode, ordinal) DO UPDATE SET "+changing, args...)
	if table == "intents" {
		row("DELETE FROM unsettled WHERE episode = ? AND ordinal = ?", string(i.Episode), i.Ordinal)
	}
}

// putStored keeps an object with all its labels, the first one first. One that is new
// and that an entry is about is marked, and about forgets it.
func putStored(c *conn, o store.StoredObject, about map[store.Ref]int64) error {
	for i, l := range o.Labels {
		if i > 0 {
			d := store.LabelDigest(o.Ref, l)
			if _, err := c.exec("INSERT INTO labels (hash, semantic_id, provenance, digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
				rows.Blob(o.Ref), l.SemanticID, l.Provenance, d[:]); err != nil {
				return err
			}
			continue
		}
		d := store.ObjectDigest(o.Ref, l)
		index, marked := about[o.Ref]
		if !marked {
			index = none
		}
		n, err := c.exec(insertObjects[1], rows.Blob(o.Ref), l.SemanticID, l.Provenance, d[:], index, o.Bytes)
		if err == nil && n == 0 {
			_, err = c.exec(insertTwin, rows.Blob(o.Ref), l.SemanticID, l.Provenance, d[:], o.Bytes)
		} else if marked {
			delete(about, o.Ref)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
