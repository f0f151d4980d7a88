package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"world/ci/crash/scene"
	"world/coordinator/coordtest"
	"world/fault/stop"
	"world/store"
)

const (
	budgets = 2  // of episodes that both owners' callers fight over
	units   = 40 // of each
	deaths  = 3  // of each owner, before it may live to the end
)

// TestBudgetLinearizable lets two processes of eight callers each spend the same
// budgets on one database, and kills each of them several times on the way; its
// successor sends again what was not answered. Counts are exact, and the history
// of each budget is one that a single counter could have.
func TestBudgetLinearizable(t *testing.T) {
	build(t)
	random := source("budget")
	for round := range max(1, *kills/500) {
		spendTogether(t, random)
		if t.Failed() {
			t.Fatalf("round %d of -seed %d", round, *seed)
		}
	}
}

func spendTogether(t *testing.T, random *rand.Rand) {
	t.Helper()
	w := begin(t, "postgres", 0)
	w.with("driver", func(ctx context.Context, s store.Store) {
		for i := range budgets {
			w.mint(ctx, s, store.EpisodeID(fmt.Sprintf("shared-%d", i)), day, units, 0)
		}
	})
	owners := []*owner{{name: "left"}, {name: "right"}}
	for _, o := range owners {
		w.owners[o.name] = true
		o.live(t, w, random)
	}
	for left, right := owners[0], owners[1]; !left.done || !right.done; {
		select {
		case <-left.ends():
			left.succeed(t, w, random)
		case <-right.ends():
			right.succeed(t, w, random)
		}
	}
	w.settle()
	v := w.judge(func(ctx context.Context, s store.Store) { w.judgeCounts(ctx, s) })
	t.Logf("%+v after %d and %d deaths", v, owners[0].died, owners[1].died)
	// The budget may be gone before the last of them.
	if got := owners[0].died + owners[1].died; got < deaths {
		t.Errorf("%d deaths, want %d or so", got, 2*deaths)
	}
	for i := range w.sessions {
		history := w.history(i)
		if got := porcupine.CheckOperationsTimeout(counter, history, time.Minute); got != porcupine.Ok {
			t.Errorf("the history of %s is %v:\n%v", w.sessions[i].Record.Episode, got, history)
		}
	}
}

// owner is one of the processes and its successors.
type owner struct {
	*process
	name string
	mine []string // tasks of its callers
	died int
	done bool
}

// live starts the process, or its successor.
func (o *owner) live(t *testing.T, w *world, random *rand.Rand) {
	script := scene.Script{Store: w.where, Owner: o.name, Marks: w.marks, Sessions: w.sessions, Patience: patience, Spend: true, Callers: make([][]scene.Call, 8)}
	for n, c := range w.unanswered() {
		if slices.Contains(o.mine, c.Task) {
			script.Callers[n%8] = append(script.Callers[n%8], c)
		}
	}
	for i := range script.Callers {
		for n := range units + 1 {
			c := w.one()
			c.Session = i % budgets
			if n%4 == 3 {
				c.Args = `{"cost":3}`
			}
			w.know(c)
			o.mine = append(o.mine, c.Task)
			script.Callers[i] = append(script.Callers[i], c)
		}
	}
	at := ""
	if o.died < deaths {
		at = fmt.Sprintf("%s@%d", stop.Points()[random.IntN(len(stop.Points()))], 1+random.IntN(5))
	}
	o.process = start(t, script, at)
}

// ends tells when the process has ended, never for one that has no successor.
func (o *owner) ends() <-chan struct{} {
	if o.done {
		return nil
	}
	return o.ended
}

// succeed buries a process that has ended, and starts its successor if there is
// something left to do.
func (o *owner) succeed(t *testing.T, w *world, random *rand.Rand) {
	if o.bury(w); !o.done {
		o.live(t, w, random)
	}
}

// bury takes over what a process said that has ended. One that was not killed is
// done: nothing is left to spend, and all of its calls are answered.
func (o *owner) bury(w *world) {
	w.t.Helper()
	if o.done = !o.killed(); !o.done {
		o.died++
	}
	w.hear(o.said())
}

// judgeCounts holds the sums: every unit is spent, by as many intents as were
// granted, and each call has an answer.
func (w *world) judgeCounts(ctx context.Context, s store.Store) {
	w.t.Helper()
	if left := w.unanswered(); len(left) > 0 {
		w.t.Errorf("without an answer: %v", left)
	}
	granted := make([]int64, len(w.sessions))
	for _, c := range w.calls {
		if len(c.ends) > 0 && !c.ends[0].Denied {
			granted[c.Session] += cost(c.Call)
		}
	}
	for i, live := range w.sessions {
		ledger, err := s.Ledger(ctx, live.Record.Episode)
		ok(w.t, err)
		if spent := ledger.Of(coordtest.Write, coordtest.Scope); spent != units || granted[i] != units {
			w.t.Errorf("%s: %d units are spent and %d were granted of %d", live.Record.Episode, spent, granted[i], units)
		}
	}
}

func cost(c scene.Call) int64 {
	if c.Args == scene.One {
		return 1
	}
	return 3
}

// history is what happened to one budget: each call from when it was first sent to
// when its end was known, kills and successors between. One that was answered as
// indeterminate was granted: its intent is durable.
func (w *world) history(session int) []porcupine.Operation {
	var all []porcupine.Operation
	for n := 1; n <= w.made; n++ {
		c := w.calls[taskName(n)]
		if c.Session != session || len(c.ends) == 0 {
			continue
		}
		all = append(all, porcupine.Operation{ClientId: n, Call: c.at, Return: c.ends[0].At,
			Input: cost(c.Call), Output: !c.ends[0].Denied})
	}
	return all
}

// counter is a budget: a call is granted exactly when what is left covers it.
var counter = porcupine.Model{
	Init: func() any { return int64(units) },
	Step: func(state, input, output any) (bool, any) {
		left, cost := state.(int64), input.(int64)
		if output.(bool) {
			return cost <= left, left - cost
		}
		return cost > left, left
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("spend %d: granted %v", input, output) },
}

// TestCounterSees holds the model to histories that no budget can have.
func TestCounterSees(t *testing.T) {
	op := func(call, end, cost int64, granted bool) porcupine.Operation {
		return porcupine.Operation{ClientId: int(call), Call: call, Return: end, Input: cost, Output: granted}
	}
	for name, tt := range map[string]struct {
		history []porcupine.Operation
		lawful  bool
	}{
		"all of it":              {[]porcupine.Operation{op(1, 2, units, true), op(3, 4, 1, false)}, true},
		"one more":               {[]porcupine.Operation{op(1, 2, units, true), op(3, 4, 1, true)}, false},
		"denied too early":       {[]porcupine.Operation{op(1, 2, 1, false), op(3, 4, units, true)}, false},
		"denied beside":          {[]porcupine.Operation{op(1, 4, 1, false), op(2, 5, units, true)}, true},
		"denied and never spent": {[]porcupine.Operation{op(1, 2, 1, false)}, false},
	} {
		if got := porcupine.CheckOperations(counter, tt.history); got != tt.lawful {
			t.Errorf("%s: lawful %v", name, got)
		}
	}
}
