package attended

import (
	"context"
	"time"

	"world/fault"
	"world/store"
)

// askPause is between two tries to get a lease that another daemon was asked for,
// or to end an episode whose last call is still running.
const askPause = 100 * time.Millisecond

// underLease does an act that needs the episode's lease. That may be another
// daemon's, which has been asked for it and gives it up when it is not in use; and
// calls of the episode may give up this process's own meanwhile: then it is taken
// once more.
func (d Desk) underLease(ctx context.Context, episode store.EpisodeID, act func(store.Lease) (store.Entry, error)) (store.Entry, error) {
	for again := true; ; {
		lease, err := d.Office.Store.Lease(ctx, episode)
		if fault.Is(err, fault.InFlight) && pause(ctx) {
			continue
		}
		if err != nil {
			return store.Entry{}, err
		}
		entry, err := act(lease)
		if again && fault.Is(err, fault.LeaseLost) {
			again = false
			continue
		}
		return entry, err
	}
}

// pause waits and reports whether there is time for another try.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(askPause):
		return true
	case <-ctx.Done():
		return false
	}
}
