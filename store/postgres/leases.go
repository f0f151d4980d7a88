package postgres

import (
	"context"
	"sync"
	"time"

	"world/fault"
	"world/store"
)

// leases are what this process holds. The rows decide; this only spares asking.
type leases struct {
	lane  *lane
	terms terms
	idle  time.Duration
	wake  chan struct{}
	quit  chan struct{}
	ended chan struct{}
	slot  chan struct{} // leases change hands one at a time

	mu   sync.Mutex
	held map[store.EpisodeID]*holding
}

type holding struct {
	epoch  int64
	until  time.Time // by this process's clock, earlier than the row's
	used   time.Time // when it was last handed out or written under
	open   int       // intents opened under it and not ended
	wanted bool
}

func newLeases(l *lane, t terms, idle time.Duration) *leases {
	return &leases{lane: l, terms: t, idle: idle, wake: make(chan struct{}, 1), quit: make(chan struct{}),
		ended: make(chan struct{}), slot: make(chan struct{}, 1), held: map[store.EpisodeID]*holding{}}
}

// Lease implements store.Store. The detail of InFlight names who holds it, and the
// holder has been asked for it.
func (s *Store) Lease(ctx context.Context, episode store.EpisodeID) (store.Lease, error) {
	const op = "postgres: lease"
	if err := s.writable(op); err != nil {
		return store.Lease{}, err
	}
	if _, err := store.ParseEpisodeID(string(episode)); err != nil {
		return store.Lease{}, err
	}
	if ctx.Err() != nil {
		return store.Lease{}, asFault(ctx, op, ctx.Err())
	}
	return s.leases.take(ctx, op, episode)
}

func (k *leases) take(ctx context.Context, op string, episode store.EpisodeID) (store.Lease, error) {
	if l, ok := k.holds(episode); ok {
		return l, nil
	}
	select {
	case k.slot <- struct{}{}:
		defer func() { <-k.slot }()
	case <-ctx.Done():
		return store.Lease{}, asFault(ctx, op, ctx.Err())
	}
	if l, ok := k.holds(episode); ok {
		return l, nil
	}
	asked := time.Now()
	t := &taking{episode: episode, terms: k.terms}
	err := k.lane.do(ctx, op, t)
	if err == nil {
		err = t.refused
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		if fault.Is(err, fault.InFlight) {
			delete(k.held, episode)
		}
		return store.Lease{}, err
	}
	if h := k.held[episode]; h == nil || h.epoch != t.taken.Epoch {
		k.held[episode] = &holding{epoch: t.taken.Epoch}
		k.held[episode].until = asked.Add(k.terms.lease)
	}
	k.held[episode].used = asked
	return t.taken, nil
}

// holds hands out a lease that this process has, as far as it knows.
func (k *leases) holds(episode store.EpisodeID) (store.Lease, bool) { return k.find(episode, true) }

// has is holds for someone who only looks.
func (k *leases) has(episode store.EpisodeID) (store.Lease, bool) { return k.find(episode, false) }

func (k *leases) find(episode store.EpisodeID, use bool) (store.Lease, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.held[episode]
	now := time.Now()
	if h == nil || !now.Before(h.until) {
		return store.Lease{}, false
	}
	if use {
		h.used = now
	}
	return store.Lease{Episode: episode, Epoch: h.epoch}, true
}

// GiveUp implements store.Store.
func (s *Store) GiveUp(ctx context.Context, lease store.Lease) error {
	const op = "postgres: give up lease"
	if err := s.writable(op); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return asFault(ctx, op, ctx.Err())
	}
	return s.leases.give(ctx, op, lease)
}

func (k *leases) give(ctx context.Context, op string, lease store.Lease) error {
	select {
	case k.slot <- struct{}{}:
		defer func() { <-k.slot }()
	case <-ctx.Done():
		return asFault(ctx, op, ctx.Err())
	}
	err := k.lane.do(ctx, op, &giving{[]store.Lease{lease}})
	if err == nil || fault.Is(err, fault.LeaseLost) {
		k.forget(lease)
	}
	return err
}

func (k *leases) forget(l store.Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.held[l.Episode]; h != nil && h.epoch == l.Epoch {
		delete(k.held, l.Episode)
	}
}

// opened and closed count the intents that are open under a lease; one that is
// lost is forgotten, so that the next call takes it anew.
func (k *leases) opened(l store.Lease, err error) { k.count(l, +1, err) }
func (k *leases) closed(l store.Lease, err error) {
	if fault.Is(err, fault.Conflict) {
		err = nil
	}
	k.count(l, -1, err)
}

func (k *leases) count(l store.Lease, n int, err error) {
	if fault.Is(err, fault.LeaseLost) {
		k.forget(l)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.held[l.Episode]
	if h == nil || h.epoch != l.Epoch {
		return
	}
	h.used = time.Now()
	if err == nil {
		h.open = max(h.open+n, 0)
	}
	if h.wanted && h.open == 0 {
		k.stir()
	}
}

// stir wakes the keeper of the leases.
func (k *leases) stir() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}
