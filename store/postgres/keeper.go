package postgres

import (
	"context"
	"time"

	"world/store"
)

// unusedTerms is after how many lease times without use a lease is given up: a
// process does not renew for ever what nobody asks it for.
const unusedTerms = 30

// start begins to renew what is held.
func (k *leases) start() { go k.keep() }

// stop ends renewing and gives up what is held.
func (k *leases) stop() {
	close(k.quit)
	<-k.ended
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	if all := k.all(); len(all) > 0 {
		k.lane.do(ctx, "postgres: close", &giving{all})
	}
}

// keep renews leases three times in their life, and gives up what another process
// asked for once it is not in use.
func (k *leases) keep() {
	defer close(k.ended)
	timer := time.NewTimer(k.terms.lease / 3)
	defer timer.Stop()
	renewed := time.Now()
	for {
		select {
		case <-k.quit:
			return
		case <-k.wake:
		case <-timer.C:
		}
		if time.Since(renewed) >= k.terms.lease/3 {
			renewed = time.Now()
			k.renew()
		}
		timer.Reset(min(k.letGo(), time.Until(renewed.Add(k.terms.lease/3))))
	}
}

func (k *leases) all() []store.Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]store.Lease, 0, len(k.held))
	for episode, h := range k.held {
		list = append(list, store.Lease{Episode: episode, Epoch: h.epoch})
	}
	return list
}

func (k *leases) renew() {
	all := k.all()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), k.terms.lease)
	defer cancel()
	asked := time.Now()
	n := &renewing{leases: all, terms: k.terms}
	if k.lane.do(ctx, "postgres: renew leases", n) != nil {
		return // what ends meanwhile is lost, which its users will be told
	}
	for _, l := range n.lost {
		k.forget(l)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range all {
		if h := k.held[l.Episode]; h != nil && h.epoch == l.Epoch {
			h.until = asked.Add(k.terms.lease)
		}
	}
	for _, l := range n.wanted {
		if h := k.held[l.Episode]; h != nil && h.epoch == l.Epoch {
			h.wanted = true
		}
	}
}

// letGo gives up what is asked for, or has not been used for long, and is not in
// use. It returns when to look again.
func (k *leases) letGo() time.Duration {
	next := k.terms.lease
	now := time.Now()
	var idle []store.Lease
	k.mu.Lock()
	for episode, h := range k.held {
		limit := unusedTerms * k.terms.lease
		if h.wanted {
			limit = k.idle
		}
		switch rest := h.used.Add(limit).Sub(now); {
		case h.open > 0:
		case rest > 0:
			next = min(next, rest)
		default:
			idle = append(idle, store.Lease{Episode: episode, Epoch: h.epoch})
			delete(k.held, episode)
		}
	}
	k.mu.Unlock()
	for _, l := range idle {
		ctx, cancel := context.WithTimeout(context.Background(), k.terms.lease)
		k.give(ctx, "postgres: give up lease", l) // if it fails, the lease ends unrenewed
		cancel()
	}
	return next
}

// endEarlier ends the leases of an earlier process of this name: it is dead, and
// its handlers with it.
func (k *leases) endEarlier(ctx context.Context, q querier) error {
	found, err := q.Query(ctx, "SELECT "+leaseColumns+" FROM world.leases WHERE owner = $1 AND owner <> '' ORDER BY episode", k.lane.owner)
	if err != nil {
		return err
	}
	defer found.Close()
	var left []store.Lease
	for found.Next() {
		r, err := scanLease(found)
		if err != nil {
			return err
		}
		left = append(left, r.Lease)
	}
	if err := found.Err(); err != nil || len(left) == 0 {
		return err
	}
	return k.lane.do(ctx, "postgres: open", &giving{left})
}
