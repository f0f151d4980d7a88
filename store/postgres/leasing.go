package postgres

import (
	"time"

	"world/fault"
	"world/store"
)

// terms are how long leases last.
type terms struct {
	lease   time.Duration // how long one is held without being renewed
	handler time.Duration // how long after that an effect begun under it may go on
}

// give returns the row of a lease that owner has from now on.
func (t terms) give(r leaseRow, owner string, now int64) leaseRow {
	r.owner, r.until = owner, now+t.lease.Microseconds()
	r.free = r.until + t.handler.Microseconds()
	return r
}

// taking takes an episode's lease, or finds who has it and asks for it.
type taking struct {
	episode store.EpisodeID
	terms   terms
	taken   store.Lease
	refused error // the lease is another's: not an error of the transaction
}

func (t *taking) kind() kind     { return alone }
func (t *taking) wants(w *wants) { want(&w.leases, t.episode); w.holders = true }

func (t *taking) decide(v *view, op string) error {
	t.refused = nil
	r, ok := v.leases[t.episode]
	if r.err != nil {
		return r.err
	}
	was := r.row
	switch {
	case !ok:
		is := t.terms.give(leaseRow{Lease: store.Lease{Episode: t.episode, Epoch: 1}}, v.owner, v.now)
		v.out.leases.set(t.episode, nil, is)
		t.taken = is.Lease
		return nil
	case was.owner == v.owner && v.now < was.until:
		t.taken = was.Lease
		return nil
	case was.owner != "" && was.owner != v.owner && v.now < was.free:
		t.refused = fault.New(op, fault.InFlight, "episode %q is held by %s", t.episode, was.owner)
		if is := was; was.wanted != v.owner && v.now < was.until {
			is.wanted = v.owner
			v.out.leases.set(t.episode, &was, is)
		}
		return nil
	}
	if err := v.depose(was.owner); err != nil {
		return err
	}
	is := t.terms.give(was, v.owner, v.now)
	is.Epoch++
	is.wanted = ""
	v.out.leases.set(t.episode, &was, is)
	t.taken = is.Lease
	return nil
}

// depose begins a new term on the row of the writer that had a lease. Whatever it
// has sent or sends under the old one fails, wherever its messages may be: it
// finds out, asks what is still its own, and goes on. One that left has no row.
func (v *view) depose(owner string) error {
	holder, ok := v.holders[metaWriter+owner]
	if !ok {
		return nil
	}
	if holder.err != nil {
		return holder.err
	}
	at, err := holder.row.progress()
	if err != nil {
		return err
	}
	was := holder.row
	at.term++
	v.out.deposed.set(was.key, &was, at.row(was.key))
	return nil
}

// giving ends leases. One that is not the owner's any more is an error when it is
// the only one, and passed over when there are several.
type giving struct{ leases []store.Lease }

func (g *giving) kind() kind { return alone }

func (g *giving) wants(w *wants) {
	for _, l := range g.leases {
		want(&w.leases, l.Episode)
	}
}

func (g *giving) decide(v *view, op string) error {
	for _, l := range g.leases {
		r, ok := v.leases[l.Episode]
		switch {
		case r.err != nil && len(g.leases) == 1:
			return r.err
		case ok && r.err == nil && r.row.Epoch == l.Epoch && r.row.owner == v.owner:
			was := r.row
			v.out.leases.set(l.Episode, &was, leaseRow{Lease: store.Lease{Episode: l.Episode, Epoch: l.Epoch + 1}})
		case len(g.leases) == 1:
			return fault.New(op, fault.LeaseLost, "episode %q, epoch %d", l.Episode, l.Epoch)
		}
	}
	return nil
}

// renewing lengthens leases that are still the owner's, and finds which are not
// and which another has asked for.
type renewing struct {
	leases []store.Lease
	terms  terms
	lost   []store.Lease
	wanted []store.Lease
}

func (n *renewing) kind() kind { return alone }

func (n *renewing) wants(w *wants) {
	for _, l := range n.leases {
		want(&w.leases, l.Episode)
	}
}

func (n *renewing) decide(v *view, op string) error {
	n.lost, n.wanted = nil, nil
	for _, l := range n.leases {
		was, err := v.held(op, l)
		if err != nil {
			n.lost = append(n.lost, l)
			continue
		}
		if was.wanted != "" {
			n.wanted = append(n.wanted, l)
		}
		v.out.leases.set(l.Episode, &was, n.terms.give(was, v.owner, v.now))
	}
	return nil
}
