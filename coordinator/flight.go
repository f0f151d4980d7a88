package coordinator

import (
	"context"
	"sync"

	"world/fault"
	"world/store"
)

// flights knows which invocation ids run in this process. It is a courtesy to
// callers that ask twice; what holds an id once and for ever is the store's claim.
type flights struct {
	mu      sync.Mutex
	running map[store.InvocationID]*flight
}

// flight is one running call.
type flight struct {
	transition store.TransitionID
	input      store.Ref
	done       chan struct{}
}

// board begins the flight of a call once no other of its id runs, and returns
// what ends it. Conflict at once when the id runs with another transition or
// other arguments; InFlight when ctx ends while its twin still runs (R17).
func (f *flights) board(ctx context.Context, a *admitted) (land func(), err error) {
	mine := &flight{transition: a.desc.ID, input: a.input.Ref(), done: make(chan struct{})}
	for {
		f.mu.Lock()
		other := f.running[a.id]
		if other == nil {
			f.running[a.id] = mine
			f.mu.Unlock()
			return func() { f.land(a.id, mine) }, nil
		}
		f.mu.Unlock()
		if other.transition != mine.transition || other.input != mine.input {
			return nil, conflict(a.id)
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, inFlight(a.id)
		}
	}
}

func (f *flights) land(id store.InvocationID, mine *flight) {
	f.mu.Lock()
	delete(f.running, id)
	f.mu.Unlock()
	close(mine.done)
}

func conflict(id store.InvocationID) error {
	return fault.New("coordinator: invoke", fault.Conflict, "%s was used already with another transition or other arguments", id)
}

func inFlight(id store.InvocationID) error {
	return fault.New("coordinator: invoke", fault.InFlight, "%s is in flight; resend the same id", id)
}
