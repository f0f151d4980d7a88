package sqlite

import (
	"cmp"
	"context"
	"fmt"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, act store.Act) (store.Entry, error) {
	genesis, err := s.act(ctx, "sqlite: begin", act, func(c *conn, op string) (place, error) {
		_, err := readHead(c)
		switch {
		case err == nil:
			return place{}, fault.New(op, fault.Conflict, "the log has its genesis already")
		case !fault.Is(err, fault.NotFound):
			return place{}, err
		}
		return place{head: store.Void}, nil
	})
	if err == nil {
		s.writer.cleaner.moveAll() // a world does not hang on its log
	}
	return genesis, err
}

// Act implements store.Store.
func (s *Store) Act(ctx context.Context, act store.Act) (store.Entry, error) {
	return s.act(ctx, "sqlite: act", act, func(c *conn, op string) (place, error) {
		return findPlace(c, op, act.Names())
	})
}

// act chains an act onto the place that find finds, after its guards.
func (s *Store) act(ctx context.Context, op string, act store.Act, find func(*conn, string) (place, error)) (store.Entry, error) {
	if err := s.writable(op); err != nil {
		return store.Entry{}, err
	}
	if err := act.Check(op); err != nil {
		return store.Entry{}, err
	}
	var entry store.Entry
	err := s.writer.do(ctx, op, func(c *conn) error {
		at, err := find(c, op)
		if err != nil {
			return err
		}
		if err := putObjects(c, act.Objects, at.subject(act.Draft)); err != nil {
			return err
		}
		c.known.news.acted = c.known.news.acted || len(act.Changes) > 0
		for _, ch := range act.Changes {
			if err := apply(c, op, ch); err != nil {
				return err
			}
		}
		entry, err = chain(c, at, act.Draft, "", act.At)
		return err
	}, func(c *conn) (bool, error) { return logged(c, entry) })
	if err != nil {
		return store.Entry{}, err
	}
	for _, ch := range act.Changes {
		if end, ok := ch.(store.EndEpisode); ok {
			s.forget(end.Episode)
		}
	}
	return entry, nil
}

func apply(c *conn, op string, ch store.Change) error {
	switch ch := ch.(type) {
	case store.MintSession:
		return mint(c, op, ch.Session)
	case store.RevokeSession:
		return revoke(c, op, ch)
	case store.MoveRegistry:
		return moveRegistry(c, op, ch)
	case store.ReconcileIntent:
		return reconcile(c, op, ch)
	case store.EndEpisode:
		return endEpisode(c, op, ch)
	}
	panic(fmt.Sprintf("sqlite: change %T passed its check", ch))
}

func mint(c *conn, op string, s store.Session) error {
	_, err := readSession(c, s.Credential)
	if err == nil {
		return fault.New(op, fault.Conflict, "the session exists already")
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	if ended, err := c.any(registryName, store.EndName(s.Episode)); err != nil || ended {
		return cmp.Or(err, store.EndedAlready(op, s.Episode))
	}
	var seq int64
	if _, err := c.row(func(row rows.Scanner) error { return row.Scan(&seq) }, "SELECT coalesce(max(seq), 0) + 1 FROM sessions"); err != nil {
		return err
	}
	_, err = c.exec("INSERT INTO sessions ("+rows.SessionColumns+") VALUES "+values(1, 8), rows.SessionArgs(rows.Session{Seq: seq, Session: s})...)
	return err
}

func revoke(c *conn, op string, ch store.RevokeSession) error {
	if err := requireObject(c, op, ch.Revocation); err != nil {
		return err
	}
	r, err := readSession(c, ch.Credential)
	if err != nil {
		return err
	}
	r.Revocation = ch.Revocation
	d := r.Digest()
	n, err := c.exec("UPDATE sessions SET revocation = ?, digest = ? WHERE seq = ? AND revocation = x''", rows.Blob(ch.Revocation), d[:], r.Seq)
	if err == nil && n != 1 {
		err = fault.New(op, fault.Conflict, "the session is revoked already")
	}
	return err
}

func moveRegistry(c *conn, op string, ch store.MoveRegistry) error {
	if err := requireObject(c, op, ch.To); err != nil {
		return err
	}
	to := store.HeadMove{Name: ch.Name, To: ch.To}
	d := to.Digest()
	query := "UPDATE registry SET object = ?2, digest = ?3 WHERE name = ?1 AND object = ?4"
	args := []any{ch.Name, rows.Blob(ch.To), d[:], rows.Blob(ch.From)}
	if ch.From == "" {
		query = "INSERT INTO registry (name, object, digest) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING"
		args = args[:3]
	}
	n, err := c.exec(query, args...)
	if err == nil && n != 1 {
		err = fault.New(op, fault.Conflict, "registry %q has moved", ch.Name)
	}
	return err
}

// reconcile closes an intent by an operator's word. A running effect is not for
// an operator to close: whoever thinks it lost gives the lease up first.
func reconcile(c *conn, op string, ch store.ReconcileIntent) error {
	if err := requireObject(c, op, ch.Reconciliation); err != nil {
		return err
	}
	if err := checkLease(c, op, ch.Lease); err != nil {
		return err
	}
	i, err := readIntent(c, ch.Episode, ch.Ordinal)
	if err != nil {
		return err
	}
	switch {
	case i.Reconciled != "" || i.Outcome.Status == store.StatusSucceeded || i.Outcome.Status == store.StatusFailed:
		return fault.New(op, fault.Conflict, "intent %s is closed already", i.Name())
	case i.Outcome.Status == store.StatusOpen && i.Epoch == ch.Lease.Epoch:
		return fault.New(op, fault.InFlight, "intent %s is running", i.Name())
	}
	i.Reconciled = ch.Reconciliation
	return settle(c, i)
}
