package crash

import (
	"context"
	"testing"
	"time"

	"world/ci/crash/scene"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// TestEveryStoreOperationFails fails the Nth operation that a call asks of its
// store, for N from 1 until none fails: before it is done, and after it, when only
// the answer is lost. The call comes to its end each time, with one effect.
func TestEveryStoreOperationFails(t *testing.T) {
	for _, engine := range engines {
		for name, mode := range map[string]coordtest.Faulty{
			"unavailable": {Kind: fault.Unavailable}, "uncertain and undone": {Kind: fault.Uncertain}, "uncertain and done": {Kind: fault.Uncertain, Done: true},
		} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				w := begin(t, engine, 1)
				w.owners["caller"] = true
				seen := map[string]bool{}
				n, lost := 1, 0
				w.with("caller", func(ctx context.Context, s store.Store) {
					for failed := true; failed; n++ {
						f := mode
						f.Store, f.At = s, n
						c := w.one()
						// A slow machine would read again before a call, and so ask for more.
						w.livesOn(&f, scene.Script{Owner: "caller", Callers: [][]scene.Call{{c}}, Fresh: time.Hour})
						end := w.calls[c.Task].ends
						if len(end) != 1 || end[0].Say != "done" && end[0].Say != "lost" {
							t.Errorf("operation %d, %v: %+v", n, f.Hit, end)
						}
						lost += count(end, "lost")
						for _, op := range f.Hit {
							seen[op] = true
						}
						failed = len(f.Hit) > 0
					}
				})
				w.settle()
				v := w.judge(nil)
				t.Logf("%d operations failed, %d calls lost; %+v", n-2, lost, v)
				if v.intents != n-1 || n < 8 || !seen["intend"] || !seen["commit"] || lost > 2 {
					t.Errorf("%d intents of %d calls, %d lost, with failures of %v", v.intents, n-1, lost, seen)
				}
			})
		}
	}
}

func count(lines []scene.Line, say string) (n int) {
	for _, l := range lines {
		if l.Say == say {
			n++
		}
	}
	return n
}

// TestReport_wshobson598 lets each operation fail on which the denial of a call
// rests, in each way in which it can: wshobson/agents#598 saw a rule of denial that
// erred be passed over, so that access opened. Whatever errs, nothing happens and
// nothing is spent. The same call happens, with nothing failing, for whoever may.
// Report 29 of reference/reports.md: an erring rule of denial is skipped.
func TestReport_wshobson598(t *testing.T) {
	kinds := []fault.Kind{fault.NotFound, fault.Corrupt, fault.Internal, fault.Unavailable, fault.OverBudget, fault.Conflict, fault.Denied}
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 0)
			tried := 0
			w.with("caller", func(ctx context.Context, s store.Store) {
				w.mint(ctx, s, "poor", day, 1, 1)
				w.mint(ctx, s, "rich", day, 1, 0)
				w.livesOn(s, scene.Script{Callers: [][]scene.Call{{w.one()}}}) // all that the first may spend
				for _, mode := range []coordtest.Faulty{{}, {On: true}, {Done: true}} {
					for _, kind := range kinds {
						for n, failed := 1, true; failed; n++ {
							f := mode
							f.Store, f.At, f.Kind = s, n, kind
							w.refusedOn(&f, kind)
							failed = len(f.Hit) > 0
							tried += len(f.Hit)
						}
					}
				}
				ledger, err := s.Ledger(ctx, "poor")
				if err != nil || ledger.Next != 1 || len(w.readMarks()) != 1 {
					t.Errorf("of %d failures some opened the way: %+v, %v, %v", tried, ledger, w.readMarks(), err)
				}
				c := w.one()
				c.Session = 1
				w.know(c)
				if said := w.livesOn(s, scene.Script{Callers: [][]scene.Call{{c}}}); count(said, "done") != 1 || len(w.readMarks()) != 2 {
					t.Errorf("with nothing failing: %+v", said)
				}
			})
			if tried < 100 {
				t.Errorf("%d failures: too few to prove anything", tried)
			}
			w.settle()
			w.judge(nil)
		})
	}
}

// refusedOn makes a call that the law denies on a store that fails.
func (w *world) refusedOn(s store.Store, kind fault.Kind) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := w.one()
	reply, err := scene.Once(ctx, s, w.marks, w.sessions[0], c)
	if err == nil && !reply.Failed {
		w.t.Errorf("%s with %s was let through: %+v", c.Task, kind, reply)
	}
}
