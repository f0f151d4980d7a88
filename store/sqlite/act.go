package sqlite

import (
	"context"
	"fmt"

	"world/fault"
	"world/store"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, act store.Act) (store.Entry, error) {
	return s.act(ctx, "sqlite: begin", act, func(c *conn, op string) (place, error) {
		_, err := readHead(c)
		switch {
		case err == nil:
			return place{}, fault.New(op, fault.Conflict, "the log has its genesis already")
		case !fault.Is(err, fault.NotFound):
			return place{}, err
		}
		return place{head: store.Void}, nil
	})
}

// Act implements store.Store.
func (s *Store) Act(ctx context.Context, act store.Act) (store.Entry, error) {
	return s.act(ctx, "sqlite: act", act, func(c *conn, op string) (place, error) {
		d := act.Draft
		return findPlace(c, op, without(act.Objects, d.TransitionFn, d.Interpreter, d.Transition, d.StateRoot))
	})
}

// act chains an act onto the place that find finds, after its guards.
func (s *Store) act(ctx context.Context, op string, act store.Act, find func(*conn, string) (place, error)) (store.Entry, error) {
	if err := s.writable(op); err != nil {
		return store.Entry{}, err
	}
	if err := checkDraft(op, act.Draft, act.At); err != nil {
		return store.Entry{}, err
	}
	if err := checkObjects(op, act.Objects); err != nil {
		return store.Entry{}, err
	}
	var entry store.Entry
	err := s.writer.do(ctx, op, func(c *conn) error {
		at, err := find(c, op)
		if err != nil {
			return err
		}
		if err := putObjects(c, act.Objects); err != nil {
			return err
		}
		for _, ch := range act.Changes {
			if err := apply(c, op, act, ch); err != nil {
				return err
			}
		}
		entry, err = chain(c, at, act.Draft, "", act.At)
		return err
	}, func(c *conn) (bool, error) { return logged(c, entry) })
	if err != nil {
		return store.Entry{}, err
	}
	return entry, nil
}

func apply(c *conn, op string, act store.Act, ch store.Change) error {
	switch ch := ch.(type) {
	case store.MintSession:
		return mint(c, op, act, ch.Session)
	case store.RevokeSession:
		return revoke(c, op, ch)
	case store.MoveRegistry:
		return moveRegistry(c, op, ch)
	case store.ReconcileIntent:
		return reconcile(c, op, ch)
	}
	return fault.New(op, fault.Invalid, "unknown change %T", ch)
}

func mint(c *conn, op string, act store.Act, s store.Session) error {
	if _, err := store.ParseCredentialID(string(s.Credential)); err != nil {
		return err
	}
	if _, err := store.ParseEpisodeID(string(s.Episode)); err != nil {
		return err
	}
	if s.Revocation != "" || s.CreatedAt < 0 || s.ExpiresAt < s.CreatedAt {
		return fault.New(op, fault.Invalid, "a session is minted live and ends after it begins")
	}
	comes := false
	for _, o := range act.Objects {
		comes = comes || o.Ref() == s.Object
	}
	if !comes {
		return fault.New(op, fault.Invalid, "the session's object is not among the act's objects")
	}
	_, err := readSession(c, s.Credential)
	if err == nil {
		return fault.New(op, fault.Conflict, "the session exists already")
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	var seq int64
	if _, err := c.row(func(row scanner) error { return row.Scan(&seq) }, "SELECT coalesce(max(seq), 0) + 1 FROM sessions"); err != nil {
		return err
	}
	_, err = c.exec("INSERT INTO sessions ("+sessionColumns+") VALUES "+values(1, 8), sessionArgs(sessionRow{seq, s})...)
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
	r.session.Revocation = ch.Revocation
	d := r.digest()
	n, err := c.exec("UPDATE sessions SET revocation = ?, digest = ? WHERE seq = ? AND revocation = x''", blob(ch.Revocation), d[:], r.seq)
	if err == nil && n != 1 {
		err = fault.New(op, fault.Conflict, "the session is revoked already")
	}
	return err
}

func moveRegistry(c *conn, op string, ch store.MoveRegistry) error {
	if ch.Name == "" || len(ch.Name) > 128 {
		return fault.New(op, fault.Invalid, "a registry's name is 1 to 128 bytes")
	}
	if err := requireObject(c, op, ch.To); err != nil {
		return err
	}
	to := store.HeadMove{Name: ch.Name, To: ch.To}
	d := to.Digest()
	query := "UPDATE registry SET object = ?2, digest = ?3 WHERE name = ?1 AND object = ?4"
	args := []any{ch.Name, blob(ch.To), d[:], blob(ch.From)}
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
	if ch.Lease.Episode != ch.Episode {
		return fault.New(op, fault.Invalid, "the lease is of another episode")
	}
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
	d := i.Digest()
	n, err := c.exec("UPDATE intents SET reconciled = ?, digest = ? WHERE episode = ? AND ordinal = ? AND "+unsettled,
		blob(i.Reconciled), d[:], string(i.Episode), i.Ordinal)
	if err == nil && n != 1 {
		err = fmt.Errorf("intent %s changed under its own transaction", i.Name())
	}
	return err
}
