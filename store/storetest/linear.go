package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"world/fault"
)

// spendOp is one operation on a budget: spend cost under a budget, or, with cost
// -1, read the total.
type spendOp struct{ cost, budget int64 }

// spendModel is the law of a budget as a register: a spend is granted exactly
// when it fits, and a read sees all that was granted before it.
var spendModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, output any) (bool, any) {
		total, op := state.(int64), input.(spendOp)
		if op.cost < 0 {
			return output.(int64) == total, total
		}
		if op.cost <= max(op.budget-total, 0) {
			return output.(int64) == 1, total + op.cost
		}
		return output.(int64) == 0, total
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " -> ", output) },
}

// linearizable lets eight callers spend and read one budget and asks whether
// some order of their operations, each between its call and its return, obeys
// the model.
func linearizable(t *testing.T, open Opener) {
	w := opened(t, open)
	lease := w.lease()
	start := time.Now()
	const callers, rounds = 8, 8
	history := make([][]porcupine.Operation, callers)
	var granted atomic.Int64
	for _, err := range crowd(callers, func(i int) error {
		for round := range rounds {
			op := spendOp{cost: int64(1 + (i+round)%3), budget: int64(8 * (round + 1))}
			if (i+round)%4 == 0 {
				op = spendOp{cost: -1}
			}
			call := time.Since(start).Nanoseconds()
			var out int64
			if op.cost < 0 {
				l, err := w.Ledger(w.ctx, episode)
				if err != nil {
					return err
				}
				out = l.Of(effect, scope)
			} else {
				in := w.intention(fmt.Sprintf("%d-%d", i, round), op.budget, lease)
				in.Cost = op.cost
				_, err := w.Intend(w.ctx, in)
				switch {
				case err == nil:
					out = 1
					granted.Add(op.cost)
				case !fault.Is(err, fault.OverBudget):
					return err
				}
			}
			history[i] = append(history[i], porcupine.Operation{ClientId: i, Input: op, Call: call, Output: out, Return: time.Since(start).Nanoseconds()})
		}
		return nil
	}) {
		ok(t, err)
	}
	var all []porcupine.Operation
	for _, h := range history {
		all = append(all, h...)
	}
	equal(t, "spend", w.total(), granted.Load()) // exact counts first
	if got := porcupine.CheckOperationsTimeout(spendModel, all, 20*time.Second); got != porcupine.Ok {
		t.Fatalf("the history of the budget is %v:\n%v", got, all)
	}
	// The model can say no: a read that misses what was granted is not lawful.
	bad := append(all, porcupine.Operation{ClientId: 99, Input: spendOp{cost: -1}, Output: int64(-1),
		Call: time.Since(start).Nanoseconds(), Return: time.Since(start).Nanoseconds() + 1})
	if got := porcupine.CheckOperationsTimeout(spendModel, bad, 20*time.Second); got != porcupine.Illegal {
		t.Fatalf("a false read is %v", got)
	}
}
