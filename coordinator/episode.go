package coordinator

import (
	"context"
	"sync"

	"world/fault"
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

// lease takes the episode's lease from the store, for the holder of its turn.
func (c *Coordinator) lease(ctx context.Context, id store.EpisodeID) (store.Lease, error) {
	c.episodes.mu.Lock()
	stale, ok := c.episodes.stale[id]
	c.episodes.mu.Unlock()
	if ok {
		if err := c.abandon(ctx, stale); err != nil {
			return store.Lease{}, err
		}
	}
	return c.Store.Lease(ctx, id)
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
