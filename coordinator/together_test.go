package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
)

// together makes n calls of one episode at once and returns their replies.
func together(t *testing.T, w *coordtest.World, n int, live session.Live) []coordinator.Reply {
	t.Helper()
	replies := make([]coordinator.Reply, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			reply, err := w.Invoke(t.Context(), live, coordtest.Act, fmt.Sprint("task", i), `{}`)
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
			replies[i] = reply
		})
	}
	all.Wait()
	return replies
}

// TestLastUnits races callers for the last units of budget, once in one process
// and once through two coordinators that share only the store, as far as one
// process can stand for two: there the guard in the database decides.
func TestLastUnits(t *testing.T) {
	for _, test := range []struct{ callers, budget int }{{2, 1}, {8, 6}} {
		t.Run(fmt.Sprintf("%d on %d", test.callers, test.budget), func(t *testing.T) {
			hand := &coordtest.Hand{}
			w := world(t, hand, nil)
			live := writer(w, int64(test.budget))
			before := head(t, w)
			ran, denied := 0, 0
			for _, reply := range together(t, w, test.callers, live) {
				switch {
				case !reply.Failed:
					ran++
				case reply.Denial == "denied:budget":
					denied++
				}
			}
			if ran != test.budget || denied != test.callers-test.budget || len(hand.Jobs()) != test.budget {
				t.Errorf("%d ran, %d denied, %d handled", ran, denied, len(hand.Jobs()))
			}
			if total, intents := spent(t, w, "ep"); total != int64(test.budget) || intents != int64(test.budget) {
				t.Errorf("spent %d by %d intents", total, intents)
			}
			if got := head(t, w) - before; got != int64(test.callers) {
				t.Errorf("%d entries for %d calls", got, test.callers)
			}
			if counts := replays(t, w); counts.Same != test.callers {
				t.Errorf("replay counts %+v", counts)
			}
		})
	}
}

// TestOneAfterAnother checks that effects of one episode never overlap, that
// those of another are free, and that pure calls wait for nobody.
func TestOneAfterAnother(t *testing.T) {
	began, goOn := make(chan store.EpisodeID, 4), make(chan struct{})
	var mu sync.Mutex
	inside := map[store.EpisodeID]int{}
	hand := &coordtest.Hand{Before: func(_ context.Context, job broker.Job) {
		mu.Lock()
		if inside[job.Episode]++; inside[job.Episode] > 1 {
			t.Errorf("two effects of %s at once", job.Episode)
		}
		mu.Unlock()
		began <- job.Episode
		<-goOn
		mu.Lock()
		inside[job.Episode]--
		mu.Unlock()
	}}
	w := world(t, hand, nil)
	live := writer(w, 5)
	other := w.Mint("ep2", coordtest.Grant(coordtest.Write, coordtest.Scope, 5))
	var all sync.WaitGroup
	for _, l := range []session.Live{live, live, other} {
		all.Go(func() { w.Must(l, coordtest.Act, "", `{}`) })
	}
	if first, second := <-began, <-began; first == second {
		t.Errorf("%s and %s run at once", first, second)
	}
	if reply := w.Must(live, coordtest.Echo, "", `{}`); reply.Failed {
		t.Errorf("a pure call beside a held effect: %+v", reply)
	}
	close(goOn)
	all.Wait()
	if n := len(hand.Jobs()); n != 3 {
		t.Errorf("%d handled", n)
	}
	replays(t, w)
}

// TestHeadMovesNeverConflict checks D9: calls of many episodes chain onto
// whatever head they find.
func TestHeadMovesNeverConflict(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	var all sync.WaitGroup
	for i := range 6 {
		live := w.Mint(store.EpisodeID(fmt.Sprint("ep", i)), coordtest.Grant(coordtest.Write, coordtest.Scope, 5))
		all.Go(func() {
			for range 4 {
				if reply, err := w.Invoke(t.Context(), live, coordtest.Act, "", `{}`); err != nil || reply.Failed {
					t.Errorf("%+v, %v", reply, err)
				}
			}
		})
	}
	all.Wait()
	entries, err := w.Store.Entries(t.Context(), 0, 500)
	if err != nil || len(entries) != 1+6+24 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries[1:] {
		if e.Prev != entries[i].Hash || e.Index != int64(i+1) {
			t.Errorf("entry %d does not follow", e.Index)
		}
	}
	replays(t, w)
}

// TestWait checks that a daemon that ends waits for its calls.
func TestWait(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	hand := &coordtest.Hand{Before: func(context.Context, broker.Job) { close(began); <-goOn }}
	w := world(t, hand, nil)
	live := writer(w, 5)
	done := make(chan struct{})
	go func() { defer close(done); w.Must(live, coordtest.Act, "", `{}`) }()
	<-began
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.C.Wait(now); !fault.Is(err, fault.Timeout) {
		t.Errorf("wait beside a running call: %v", err)
	}
	close(goOn)
	if err := w.C.Wait(t.Context()); err != nil {
		t.Errorf("wait: %v", err)
	}
	<-done
}

// TestLeaseIsKept checks that an episode keeps its lease from call to call: a
// new epoch each time would be one more durable write.
func TestLeaseIsKept(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := writer(w, 5)
	epochs := map[int64]bool{}
	for range 3 {
		w.Must(live, coordtest.Act, "", `{}`)
		lease, err := w.Store.Lease(t.Context(), "ep")
		if err != nil {
			t.Fatal(err)
		}
		epochs[lease.Epoch] = true
	}
	if len(epochs) != 1 {
		t.Errorf("epochs %v", epochs)
	}
}

// outdated is a store whose ledger is read before the last spend.
type outdated struct {
	store.Store
	stale *store.Ledger
}

func (o *outdated) Ledger(ctx context.Context, id store.EpisodeID) (store.Ledger, error) {
	if stale := o.stale; stale != nil {
		o.stale = nil
		return *stale, nil
	}
	return o.Store.Ledger(ctx, id)
}

func (o *outdated) Look(ctx context.Context, what store.Lookup) (store.Looked, error) {
	return store.Ask(ctx, o, what)
}

// TestGuardRefuses checks a call that was seeded with less spend than there is:
// the guard in the database has the last word, and the denial that follows is
// recorded at the ordinal of its own decision, so that it replays.
func TestGuardRefuses(t *testing.T) {
	o := &outdated{}
	hand := &coordtest.Hand{}
	w := world(t, hand, func(options *coordinator.Options) { o.Store, options.Store = options.Store, o })
	live := writer(w, 1)
	before, err := w.Store.Ledger(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	w.Must(live, coordtest.Act, "", `{}`)
	o.stale = &before
	reply := w.Must(live, coordtest.Act, "", `{}`)
	if call := recorded(t, w, reply.Entry); reply.Denial != "denied:budget" || call.Record.Ordinal != 1 || len(hand.Jobs()) != 1 {
		t.Errorf("%+v at ordinal %d, %d handled", reply, call.Record.Ordinal, len(hand.Jobs()))
	}
	if counts := replays(t, w); counts.Same != 2 {
		t.Errorf("replay counts %+v", counts)
	}
}
