package coordinator_test

import (
	"context"
	"testing"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// looking is a store in which looking an intent up goes as the test says.
type looking struct {
	store.Store
	intentOf func(store.Intent, error) (store.Intent, error)
}

func (l *looking) IntentOf(ctx context.Context, id store.InvocationID) (store.Intent, error) {
	return l.intentOf(l.Store.IntentOf(ctx, id))
}

// TestUnfinished sends an id again whose call was cut. What is damaged, what
// cannot be reached and what another daemon ended meanwhile are told apart.
func TestUnfinished(t *testing.T) {
	gone := func(kind fault.Kind) func(store.Intent, error) (store.Intent, error) {
		return func(store.Intent, error) (store.Intent, error) {
			return store.Intent{}, fault.New("test", kind, "injected")
		}
	}
	for name, tt := range map[string]struct {
		intentOf func(store.Intent, error) (store.Intent, error)
		want     fault.Kind
	}{
		"as it is":                     {func(i store.Intent, err error) (store.Intent, error) { return i, err }, fault.Indeterminate},
		"the store cannot be reached":  {gone(fault.Unavailable), fault.Unavailable},
		"a claim that nothing follows": {gone(fault.NotFound), fault.Corrupt},
		"ended by another just now": {func(i store.Intent, err error) (store.Intent, error) {
			i.Outcome.Status = store.StatusSucceeded
			return i, err
		}, fault.InFlight},
	} {
		hand := &coordtest.Hand{}
		w := world(t, hand, nil)
		live := writer(w, 2)
		cutShort(t, w, live, "task", `{}`)
		options := w.Options
		options.Store = &looking{w.Store, tt.intentOf}
		w.C = coordinator.New(options)
		if _, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`); !fault.Is(err, tt.want) || len(hand.Jobs()) != 0 {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
