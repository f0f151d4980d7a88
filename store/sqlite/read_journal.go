package sqlite

import (
	"context"
	"fmt"

	"world/store"
	"world/store/rows"
)

// Ledger implements store.Reader.
func (s *Store) Ledger(ctx context.Context, episode store.EpisodeID) (store.Ledger, error) {
	return recall(ctx, s, "sqlite: ledger",
		func(m *mirror) (store.Ledger, bool) { l, ok := m.ledgers[episode]; return l, ok },
		func(m *mirror, l store.Ledger) { hold(m.ledgers, episode, l) },
		func(c *conn) (store.Ledger, error) {
			l := store.Ledger{Episode: episode}
			err := c.each(func(row rows.Scanner) error {
				r, err := scanSpent(row, &l.Next)
				l.Spent = append(l.Spent, r.spent)
				return err
			}, "SELECT ("+nextSQL+"), "+spendColumns+" FROM spend WHERE episode = ?1 ORDER BY effect, scope", string(episode))
			return l, err
		})
}

// snapshot runs several reads on one state of the database.
func snapshot(c *conn, fn func() error) error {
	if _, err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer c.rollback()
	return fn()
}

// Intent implements store.Reader.
func (s *Store) Intent(ctx context.Context, episode store.EpisodeID, ordinal int64) (i store.Intent, err error) {
	err = s.readers.read(ctx, "sqlite: intent", func(c *conn) (err error) {
		i, err = readIntent(c, episode, ordinal)
		return err
	})
	return i, err
}

// Intents implements store.Reader.
func (s *Store) Intents(ctx context.Context, episode store.EpisodeID, from int64, limit int) (is []store.Intent, err error) {
	const op = "sqlite: intents"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = s.readers.read(ctx, op, func(c *conn) (err error) {
		is, err = many(c, rows.ScanIntent, eachIntent(rows.IntentColumns, "episode = ?1 AND ordinal >= ?2")+" ORDER BY ordinal LIMIT ?3",
			string(episode), from, limit)
		return err
	})
	return is, err
}

// IntentOf implements store.Reader.
func (s *Store) IntentOf(ctx context.Context, id store.InvocationID) (i store.Intent, err error) {
	err = s.readers.read(ctx, "sqlite: intent of", func(c *conn) (err error) {
		i, err = one(c, fmt.Sprintf("intent of invocation %q", id), rows.ScanIntent,
			eachIntent(rows.IntentColumns, "(episode, ordinal) = (SELECT episode, ordinal FROM claims WHERE invocation = ?1)"), string(id))
		if err == nil && i.Invocation != id {
			i, err = store.Intent{}, rows.Damaged("claim %q leads to the intent of another call", id)
		}
		return err
	})
	return i, err
}

// Indeterminate implements store.Reader. Without a live writer no epoch is
// current, so a reader beside a dead one sees everything that it left open.
func (s *Store) Indeterminate(ctx context.Context, limit int) (is []store.Intent, err error) {
	const op = "sqlite: indeterminate"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	running := s.writer != nil || s.file.written(s.path) || nameLocked(s.path)
	err = s.readers.read(ctx, op, func(c *conn) (err error) {
		is, err = many(c, rows.ScanIntent, "SELECT "+rows.IntentColumns+" FROM unsettled u WHERE "+
			"status = 'indeterminate' OR NOT ?1 OR NOT EXISTS (SELECT 1 FROM leases l WHERE l.episode = u.episode AND l.epoch = u.epoch)"+
			" ORDER BY at, episode, ordinal LIMIT ?2", running, limit)
		return err
	})
	return is, err
}

func readSession(c *conn, id store.CredentialID) (rows.Session, error) {
	return one(c, "session "+string(id), rows.ScanSession, "SELECT "+rows.SessionColumns+" FROM sessions WHERE credential = ?", string(id))
}

// Session implements store.Reader.
func (s *Store) Session(ctx context.Context, id store.CredentialID) (store.Session, error) {
	return recall(ctx, s, "sqlite: session",
		func(m *mirror) (store.Session, bool) { v, ok := m.sessions[id]; return v, ok },
		func(m *mirror, v store.Session) { hold(m.sessions, id, v) },
		func(c *conn) (store.Session, error) {
			r, err := readSession(c, id)
			return r.Session, err
		})
}

// Sessions implements store.Reader.
func (s *Store) Sessions(ctx context.Context, after store.CredentialID, limit int) (vs []store.Session, err error) {
	const op = "sqlite: sessions"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = s.readers.read(ctx, op, func(c *conn) error {
		return snapshot(c, func() (err error) {
			var last rows.Session
			if after != "" {
				if last, err = readSession(c, after); err != nil {
					return err
				}
			}
			vs, err = many(c, func(row rows.Scanner) (store.Session, error) {
				r, err := rows.ScanSession(row)
				return r.Session, err
			}, "SELECT "+rows.SessionColumns+" FROM sessions WHERE seq > ? ORDER BY seq LIMIT ?", last.Seq, limit)
			return err
		})
	})
	return vs, err
}

// Registry implements store.Reader.
func (s *Store) Registry(ctx context.Context, name string) (store.Ref, error) {
	return recall(ctx, s, "sqlite: registry",
		func(m *mirror) (store.Ref, bool) { to, ok := m.registries[name]; return to, ok },
		func(m *mirror, to store.Ref) { hold(m.registries, name, to) },
		func(c *conn) (store.Ref, error) {
			m, err := one(c, fmt.Sprintf("registry %q", name), rows.ScanRegistry, "SELECT "+rows.RegistryColumns+" FROM registry WHERE name = ?", name)
			return m.To, err
		})
}
