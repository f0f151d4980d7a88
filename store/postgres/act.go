package postgres

import (
	"world/fault"
	"world/store"
	"world/store/rows"
)

// acting chains a host act. It stands alone, because one of its later changes may
// fail after an earlier one.
type acting struct {
	act   store.Act
	first bool        // genesis
	entry store.Entry // chained
}

func (a *acting) kind() kind { return alone }

func (a *acting) wants(w *wants) {
	w.head = true
	w.refs(a.act.Names(), a.act.Objects)
	for _, ch := range a.act.Changes {
		switch ch := ch.(type) {
		case store.MintSession:
			w.mints = true
			want(&w.sessions, ch.Session.Credential)
			want(&w.registry, store.EndName(ch.Session.Episode))
		case store.RevokeSession:
			want(&w.sessions, ch.Credential)
			want(&w.objects, ch.Revocation)
		case store.MoveRegistry:
			want(&w.registry, ch.Name)
			want(&w.objects, ch.To)
		case store.ReconcileIntent:
			want(&w.leases, ch.Episode)
			want(&w.intents, intentKey{ch.Episode, ch.Ordinal})
			want(&w.objects, ch.Reconciliation)
		case store.EndEpisode:
			want(&w.leases, ch.Episode)
			want(&w.ends, ch.Episode)
			want(&w.next, ch.Episode)
			want(&w.registry, store.EndName(ch.Episode))
			want(&w.objects, ch.Ending)
		}
	}
}

func (a *acting) decide(v *view, op string) error {
	switch {
	case v.clock.err != nil:
		return v.clock.err
	case a.first && v.head != nil:
		return fault.New(op, fault.Conflict, "the log has its genesis already")
	case !a.first:
		if err := v.genesis(op); err != nil {
			return err
		}
		if err := v.require(op, a.act.Names()); err != nil {
			return err
		}
	}
	v.keep(a.act.Objects)
	for _, ch := range a.act.Changes {
		if err := v.apply(op, ch); err != nil {
			return err
		}
	}
	a.entry = v.chain(a.act.Draft, "", a.act.At)
	return nil
}

func (v *view) apply(op string, ch store.Change) error {
	switch ch := ch.(type) {
	case store.MintSession:
		return v.mint(op, ch.Session)
	case store.RevokeSession:
		return v.revoke(op, ch)
	case store.MoveRegistry:
		return v.moveRegistry(op, ch)
	case store.ReconcileIntent:
		return v.reconcile(op, ch)
	case store.EndEpisode:
		return v.endEpisode(op, ch)
	}
	return fault.New(op, fault.Invalid, "unknown change %T", ch)
}

func (v *view) mint(op string, s store.Session) error {
	if _, ok := v.sessions[s.Credential]; ok {
		return fault.New(op, fault.Conflict, "the session exists already")
	}
	if _, ended := v.registry[store.EndName(s.Episode)]; ended {
		return store.EndedAlready(op, s.Episode)
	}
	v.lastSeq++
	minted := rows.Session{Seq: v.lastSeq, Session: s}
	v.sessions[s.Credential] = found[rows.Session]{row: minted}
	v.out.sessions.set(s.Credential, nil, minted)
	return nil
}

func (v *view) revoke(op string, ch store.RevokeSession) error {
	if err := v.require(op, []store.Ref{ch.Revocation}); err != nil {
		return err
	}
	r, ok := v.sessions[ch.Credential]
	switch {
	case !ok:
		return fault.New(op, fault.NotFound, "no such session")
	case r.err != nil:
		return r.err
	case r.row.Revocation != "":
		return fault.New(op, fault.Conflict, "the session is revoked already")
	}
	was := r.row
	r.row.Revocation = ch.Revocation
	v.sessions[ch.Credential] = r
	v.out.sessions.set(ch.Credential, &was, r.row)
	return nil
}

func (v *view) moveRegistry(op string, ch store.MoveRegistry) error {
	if err := v.require(op, []store.Ref{ch.To}); err != nil {
		return err
	}
	r, ok := v.registry[ch.Name]
	if r.err != nil {
		return r.err
	}
	if r.row.To != ch.From {
		return fault.New(op, fault.Conflict, "registry %q has moved", ch.Name)
	}
	to := store.HeadMove{Name: ch.Name, To: ch.To}
	if was := r.row; ok {
		v.out.registry.set(ch.Name, &was, to)
	} else {
		v.out.registry.set(ch.Name, nil, to)
	}
	v.registry[ch.Name] = found[store.HeadMove]{row: to}
	return nil
}

// reconcile closes an intent by an operator's word. A running effect is not for
// an operator to close: whoever thinks it lost gives the lease up first.
func (v *view) reconcile(op string, ch store.ReconcileIntent) error {
	if err := v.require(op, []store.Ref{ch.Reconciliation}); err != nil {
		return err
	}
	lease, err := v.held(op, ch.Lease)
	if err != nil {
		return err
	}
	key := intentKey{ch.Episode, ch.Ordinal}
	r, ok := v.intents[key]
	is := r.row
	switch {
	case r.err != nil:
		return r.err
	case !ok:
		return fault.New(op, fault.NotFound, "intent %s", store.IntentName(ch.Episode, ch.Ordinal))
	case is.Reconciled != "" || is.Outcome.Status == store.StatusSucceeded || is.Outcome.Status == store.StatusFailed:
		return fault.New(op, fault.Conflict, "intent %s is closed already", is.Name())
	case is.Outcome.Status == store.StatusOpen && is.Epoch == ch.Lease.Epoch:
		return fault.New(op, fault.InFlight, "intent %s is running", is.Name())
	}
	v.out.fence(lease)
	was := is
	is.Reconciled = ch.Reconciliation
	v.intents[key] = found[store.Intent]{row: is}
	v.out.closed.set(key, &was, is)
	return nil
}
