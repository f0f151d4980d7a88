package postgres

import (
	"world/broker/law"
	"world/fault"
	"world/store"
)

// change is one caller's part of a transaction.
type change interface {
	// wants names what decide depends on.
	wants(w *wants)
	// decide applies the change to a view. It checks every guard first, so that an
	// error has changed nothing; a change that stands alone may fail half way.
	decide(v *view, op string) error
	// kind says with which changes it may share a transaction.
	kind() kind
}

// kind is of changes that share transactions. A transaction of one kind has few
// parts, each with many rows, and its statement is one of few.
type kind int

const (
	alone kind = iota // needs a transaction of its own
	keeps
	opens
	finishes
)

func kindOf(ch change) int { return int(ch.kind()) }

// keeping stores objects without an entry.
type keeping struct{ objects []store.Object }

func (k *keeping) kind() kind     { return keeps }
func (k *keeping) wants(w *wants) { w.refs(nil, k.objects) }
func (k *keeping) decide(v *view, _ string) error {
	v.keep(k.objects)
	return nil
}

// opening is transaction 1.
type opening struct {
	in     store.Intention
	intent store.Intent // opened
}

func (o *opening) kind() kind { return opens }

func (o *opening) key() spendKey { return spendOf(o.in.Claim.Episode, o.in.Effect, o.in.Scope) }

func (o *opening) wants(w *wants) {
	want(&w.leases, o.in.Lease.Episode)
	want(&w.spend, o.key())
	want(&w.next, o.in.Claim.Episode)
	want(&w.claims, o.in.Claim.Invocation)
	if o.in.Credential != "" {
		want(&w.callers, o.in.Credential)
	}
	w.refs(o.in.Names(), o.in.Objects)
}

func (o *opening) decide(v *view, op string) error {
	in := o.in
	if v.clock.err != nil {
		return v.clock.err
	}
	if err := v.require(op, in.Names()); err != nil {
		return err
	}
	lease, err := v.held(op, in.Lease)
	if err != nil {
		return err
	}
	if _, claimed := v.claims[in.Claim.Invocation]; claimed {
		return fault.New(op, fault.Conflict, "invocation %q is claimed already", in.Claim.Invocation)
	}
	if err := v.authorized(op, in); err != nil {
		return err
	}
	was, spent := v.spend[o.key()]
	if was.err != nil {
		return was.err
	}
	total := was.row.spent.Total
	if in.Cost > law.Seed(in.Budget, total) {
		return fault.New(op, fault.OverBudget, "%s on %s: %d of %d calls spent", in.Effect, in.Scope, total, in.Budget)
	}
	v.out.fence(lease)
	is := spendRow{in.Claim.Episode, store.Spent{Effect: in.Effect, Scope: in.Scope, Total: law.Plus(total, in.Cost)}, max(was.row.ceiling, in.Budget, 0)}
	if before := was.row; spent {
		v.out.spend.set(o.key(), &before, is)
	} else {
		v.out.spend.set(o.key(), nil, is)
	}
	v.spend[o.key()] = found[spendRow]{row: is}
	o.intent = in.Opened()
	o.intent.Ordinal = v.next[in.Claim.Episode]
	v.next[in.Claim.Episode]++
	v.claim(in.Claim)
	v.keep(in.Objects)
	v.out.opened = append(v.out.opened, o.intent)
	v.tick(in.Claim.At)
	return nil
}

// authorized refuses a call whose session has ended. That it has not is a
// condition of the transaction.
func (v *view) authorized(op string, in store.Intention) error {
	if in.Credential == "" {
		return nil
	}
	session := v.sessions[in.Credential]
	if session.err != nil {
		return session.err
	}
	if err := in.Authorized(op, session.row.Session); err != nil {
		return err
	}
	want(&v.out.callers, session.row)
	return nil
}

func (v *view) claim(c store.Claim) {
	v.claims[c.Invocation] = found[store.Claim]{row: c}
	v.out.claims = append(v.out.claims, c)
}

// finishing is transaction 2.
type finishing struct {
	f     store.Finish
	entry store.Entry // chained
}

func (f *finishing) kind() kind { return finishes }

func (f *finishing) wants(w *wants) {
	w.head = true
	want(&w.claims, f.f.Claim.Invocation)
	w.refs(f.f.Names(), f.f.Objects)
	if i := f.f.Intent; i != nil {
		want(&w.leases, f.f.Lease.Episode)
		want(&w.intents, intentKey{i.Episode, i.Ordinal})
	}
}

func (f *finishing) decide(v *view, op string) error {
	if v.clock.err != nil {
		return v.clock.err
	}
	if err := v.require(op, f.f.Names()); err != nil {
		return err
	}
	if err := v.genesis(op); err != nil {
		return err
	}
	if err := f.f.Follows(op, v.head.row); err != nil {
		return err
	}
	if f.f.Intent != nil {
		if err := f.end(v, op); err != nil {
			return err
		}
	} else if _, claimed := v.claims[f.f.Claim.Invocation]; claimed {
		return fault.New(op, fault.Conflict, "invocation %q is claimed already", f.f.Claim.Invocation)
	} else {
		v.claim(f.f.Claim)
	}
	v.keep(f.f.Objects)
	f.entry = v.chain(f.f.Draft, f.f.Claim.Invocation, f.f.At)
	return nil
}

// end closes the intent, if it is this call's, open, and of the lease's epoch.
func (f *finishing) end(v *view, op string) error {
	lease, err := v.held(op, f.f.Lease)
	if err != nil {
		return err
	}
	claim := v.claims[f.f.Claim.Invocation]
	key := intentKey{f.f.Intent.Episode, f.f.Intent.Ordinal}
	row, ok := v.intents[key]
	is := row.row
	switch {
	case row.err != nil:
		return row.err
	case claim.err != nil:
		return claim.err
	case !ok:
		return fault.New(op, fault.NotFound, "intent %s", f.f.Intent.Name())
	case claim.row != f.f.Claim || is.Invocation != claim.row.Invocation:
		return fault.New(op, fault.Conflict, "invocation %q is claimed by another call", f.f.Claim.Invocation)
	case is.Outcome.Status != store.StatusOpen || is.Reconciled != "":
		return fault.New(op, fault.Conflict, "intent %s has its outcome already", is.Name())
	case is.Epoch != f.f.Lease.Epoch:
		return fault.New(op, fault.LeaseLost, "intent %s is of epoch %d", is.Name(), is.Epoch)
	}
	v.out.fence(lease)
	was := is
	is.Outcome = f.f.Outcome
	v.intents[key] = found[store.Intent]{row: is}
	v.out.closed.set(key, &was, is)
	return nil
}
