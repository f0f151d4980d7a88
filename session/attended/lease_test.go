package attended_test

import (
	"context"
	"sync/atomic"
	"testing"

	"world/fault"
	"world/session/attended"
	"world/store"
)

// elsewhere is a store whose lease another daemon gives up when it was asked twice.
type elsewhere struct {
	store.Store
	asked atomic.Int64
}

func (e *elsewhere) Lease(ctx context.Context, id store.EpisodeID) (store.Lease, error) {
	if e.asked.Add(1) <= 2 {
		return store.Lease{}, fault.New("test: lease", fault.InFlight, "held by another")
	}
	return e.Store.Lease(ctx, id)
}

// TestReconcileWaitsForALeaseElsewhere asks another daemon for it.
func TestReconcileWaitsForALeaseElsewhere(t *testing.T) {
	_, _, d := unknown(t)
	s := &elsewhere{Store: d.Office.Store}
	d.Office.Store = s
	terminal, _ := sit(t, nil, "y\n")
	done, err := d.Reconcile(t.Context(), terminal, attended.Word{ID: "effect:ep:0", Verdict: "failed", Note: "looked"})
	if err != nil || done.Intent != "effect:ep:0" || s.asked.Load() != 3 {
		t.Errorf("%+v, %v, asked %d times", done, err, s.asked.Load())
	}
}
