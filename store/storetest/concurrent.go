package storetest

import (
	"fmt"
	"sync"
	"testing"

	"world/fault"
	"world/store"
)

// crowd runs fn on n goroutines at once and returns their errors.
func crowd(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			errs[i] = fn(i)
		}()
	}
	close(start)
	wg.Wait()
	return errs
}

func lastUnit(t *testing.T, open Opener) {
	w := opened(t, open)
	lease := w.lease()
	for round := range 10 {
		budget := int64(round + 1)
		errs := crowd(8, func(i int) error {
			_, err := w.Intend(w.ctx, w.intention(fmt.Sprintf("%d-%d", round, i), budget, lease))
			return err
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			wantKind(t, "loser", err, fault.OverBudget)
		}
		equal(t, "winners of the last unit", won, 1)
	}
	// Eight callers on six units: six intents, two refusals.
	errs := crowd(8, func(i int) error {
		_, err := w.Intend(w.ctx, w.intention(fmt.Sprintf("six-%d", i), 16, lease))
		return err
	})
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	equal(t, "winners of six units", won, 6)
	w.checkLedger(t)

	// One id for eight callers: one claim, and its loser spends nothing.
	before := w.total()
	errs = crowd(8, func(int) error {
		_, err := w.Intend(w.ctx, w.intention("one", 1000, lease))
		return err
	})
	won = 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantKind(t, "second claim", err, fault.Conflict)
	}
	equal(t, "claims of one id", won, 1)
	equal(t, "spend of one id", w.total(), before+1)
}

// manyCommitters lets good and bad changes arrive together, so that an engine
// which commits several at a time must let each succeed or fail alone.
func manyCommitters(t *testing.T, open Opener) {
	w := opened(t, open)
	lease := w.lease()
	const callers, rounds = 8, 20
	errs := crowd(callers, func(i int) error {
		for round := range rounds {
			task := fmt.Sprintf("%d-%d", i, round)
			switch i {
			case 0: // always refused, after some checks
				f := w.pure(task)
				f.Draft.StateRoot = store.RefOf([]byte("nowhere"))
				if _, err := w.Commit(w.ctx, f); !fault.Is(err, fault.Invalid) {
					return fmt.Errorf("spoilt call %s: %w", task, err)
				}
			case 1: // refused after it wrote: its second change fails
				_, err := w.act(1, task, store.MoveRegistry{Name: task, To: w.source.Ref()},
					store.MoveRegistry{Name: task, To: w.source.Ref()})
				if !fault.Is(err, fault.Conflict) {
					return fmt.Errorf("spoilt act %s: %w", task, err)
				}
			case 2, 3:
				if _, err := w.Commit(w.ctx, w.pure(task)); err != nil {
					return err
				}
			default:
				in := w.intention(task, 1000, lease)
				intent, err := w.Intend(w.ctx, in)
				if err != nil {
					return err
				}
				if _, err := w.Commit(w.ctx, w.finish(in, intent)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, err := range errs {
		ok(t, err)
	}
	entries := w.checkChain(t)
	equal(t, "entries", len(entries), 1+(callers-2)*rounds)
	calls := map[store.InvocationID]bool{}
	for _, e := range entries[1:] {
		if e.Invocation == "" || calls[e.Invocation] {
			t.Fatalf("entry %d: call %q is missing or there twice", e.Index, e.Invocation)
		}
		calls[e.Invocation] = true
	}
	equal(t, "spend", w.total(), (callers-4)*rounds)
	w.checkLedger(t)
	for round := range rounds {
		_, err := w.Registry(w.ctx, fmt.Sprintf("1-%d", round))
		wantKind(t, "registry of a refused act", err, fault.NotFound)
	}
}

func oneLeaseAProcess(t *testing.T, open Opener) {
	w := opened(t, open)
	leases := make([]store.Lease, 8)
	for _, err := range crowd(8, func(i int) (err error) {
		leases[i], err = w.Lease(w.ctx, episode)
		return err
	}) {
		ok(t, err)
	}
	for _, l := range leases {
		equal(t, "lease", l, leases[0])
	}
	_, err := w.Intend(w.ctx, w.intention("1", 1, leases[7]))
	ok(t, err)
}
