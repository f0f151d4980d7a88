package coordinator

import (
	"context"
	"sync"
	"time"

	"world/fault"
	"world/session"
	"world/store"
)

// episodes puts the effectful calls of one episode one after another. The order
// within this process is a matter of manners; that no other process writes the
// episode's effects is the store's lease.
type episodes struct {
	mu    sync.Mutex
	turns map[store.EpisodeID]*turn
	stale map[store.EpisodeID]store.Lease // to be given up before the next use (see abandon)
}

// turn is a one-slot queue; it exists while someone is in it.
type turn struct {
	slot   chan struct{}
	people int
}

// wait takes the episode's turn, or gives up with ctx: nothing was done then.
func (e *episodes) wait(ctx context.Context, id store.EpisodeID) (leave func(), err error) {
	e.mu.Lock()
	t := e.turns[id]
	if t == nil {
		t = &turn{slot: make(chan struct{}, 1)}
		e.turns[id] = t
	}
	t.people++
	e.mu.Unlock()
	gone := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if t.people--; t.people == 0 {
			delete(e.turns, id)
		}
	}
	select {
	case t.slot <- struct{}{}:
		return func() { <-t.slot; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, fault.Wrap("coordinator: wait for episode", fault.Timeout, ctx.Err(), "the call ended while it waited for episode %s; nothing was done", id)
	}
}

// atHome refuses, before anything is written, the effects of an episode whose
// worktree lies with another daemon (D13). named is what its head of home names.
func (c *Coordinator) atHome(ctx context.Context, id store.EpisodeID, named store.Ref) error {
	home, err := session.HomeAt(ctx, &c.sources, id, named)
	if err == nil && home != "" && home != c.Home {
		err = fault.New("coordinator: home", fault.Unsupported,
			"episode %q has its worktree with daemon %q, and its effects are served there; nothing was done", id, home)
	}
	return err
}

// leasePause is between two tries to get a lease that another daemon holds. Each
// try asks for it, and the holder gives it up between two calls.
const leasePause = 20 * time.Millisecond

// lease takes the episode's lease from the store, for the holder of its turn. It
// waits for another daemon's as long as the call does.
func (c *Coordinator) lease(ctx context.Context, id store.EpisodeID) (store.Lease, error) {
	c.episodes.mu.Lock()
	stale, ok := c.episodes.stale[id]
	c.episodes.mu.Unlock()
	if ok {
		if err := c.abandon(ctx, stale); err != nil {
			return store.Lease{}, err
		}
	}
	for {
		lease, err := c.Store.Lease(ctx, id)
		if !fault.Is(err, fault.InFlight) {
			return lease, err
		}
		select {
		case <-time.After(leasePause):
		case <-ctx.Done():
			return lease, err
		}
	}
}

// abandon gives up a lease under which an intent was left open, so that it counts
// as indeterminate and not as running (D10). Should even that fail, the lease is
// remembered, and nothing of the episode runs before it is given up.
func (c *Coordinator) abandon(ctx context.Context, lease store.Lease) error {
	ctx, cancel := detached(ctx, c.Deadlines.Commit)
	defer cancel()
	err := c.Store.GiveUp(ctx, lease)
	if fault.Is(err, fault.LeaseLost) {
		err = nil // another epoch is current: the open intent is indeterminate already
	}
	c.episodes.mu.Lock()
	defer c.episodes.mu.Unlock()
	if err != nil {
		c.Log.Error().Err(err).Str("episode", string(lease.Episode)).Msg("lease not given up")
		c.episodes.stale[lease.Episode] = lease
		return err
	}
	delete(c.episodes.stale, lease.Episode)
	return nil
}
