package replay_test

import (
	"context"
	"fmt"
	"testing"

	"world/coordinator/coordtest"
	"world/coordinator/replay"
	"world/fault"
	"world/store"
)

// reading is a store whose nth reading fails.
type reading struct {
	store.Store
	n, at int
	kind  fault.Kind
}

func read[T any](r *reading, run func() (T, error)) (T, error) {
	if r.n++; r.n == r.at {
		var none T
		return none, fault.New("test", r.kind, "injected")
	}
	return run()
}

func (r *reading) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	return read(r, func() (store.Object, error) { return r.Store.Object(ctx, ref) })
}
func (r *reading) EntryOf(ctx context.Context, id store.InvocationID) (store.Entry, error) {
	return read(r, func() (store.Entry, error) { return r.Store.EntryOf(ctx, id) })
}
func (r *reading) Claim(ctx context.Context, id store.InvocationID) (store.Claim, error) {
	return read(r, func() (store.Claim, error) { return r.Store.Claim(ctx, id) })
}
func (r *reading) Intent(ctx context.Context, e store.EpisodeID, n int64) (store.Intent, error) {
	return read(r, func() (store.Intent, error) { return r.Store.Intent(ctx, e, n) })
}
func (r *reading) IntentOf(ctx context.Context, id store.InvocationID) (store.Intent, error) {
	return read(r, func() (store.Intent, error) { return r.Store.IntentOf(ctx, id) })
}
func (r *reading) Intents(ctx context.Context, e store.EpisodeID, from int64, limit int) ([]store.Intent, error) {
	return read(r, func() ([]store.Intent, error) { return r.Store.Intents(ctx, e, from, limit) })
}

// TestReport_mastra17466 fails the nth reading of a replay, for every n:
// mastra-ai/mastra#17466 saw a replay call live tools. Here a piece of evidence
// that is missing is a divergence, a store that cannot be read is an error, and
// nothing falls through to a handler.
func TestReport_mastra17466(t *testing.T) {
	hand := &coordtest.Hand{}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 5))
	for _, call := range []struct {
		id   store.TransitionID
		args string
	}{{coordtest.Act, `{"after":true}`}, {coordtest.Act, `{"cost":3}`}, {coordtest.Echo, `{"p":1}`}} {
		reply := w.Must(live, call.id, "", call.args)
		ran := len(hand.Jobs())
		for _, kind := range []fault.Kind{fault.Unavailable, fault.NotFound} {
			n := 1
			for ; ; n++ {
				r := &reading{Store: w.Store, at: n, kind: kind}
				report, err := replay.Replay(t.Context(), r, coordtest.Runner{}, reply.Invocation)
				if r.n < n {
					if err != nil || report.Verdict != replay.Same {
						t.Errorf("control: %s, %v", report.Verdict, err)
					}
					break
				}
				name := fmt.Sprintf("%s %s: reading %d %s", call.id, call.args, n, kind)
				switch {
				case kind == fault.Unavailable && !fault.Is(err, kind):
					t.Errorf("%s: %+v, %v", name, report, err)
				case kind == fault.NotFound && err == nil && report.Verdict == replay.Same:
					t.Errorf("%s goes unseen", name)
				}
			}
			if n < 6 {
				t.Errorf("%s %s: %d readings: too few to prove anything", call.id, call.args, n-1)
			}
		}
		if len(hand.Jobs()) != ran {
			t.Errorf("replay called the handler")
		}
	}
}
