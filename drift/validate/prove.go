package validate

import (
	"context"
	"sync"
	"time"

	"world/drift/ssasmt"
	"world/fault"
	"world/z3"
)

// Options say how to try.
type Options struct {
	Solvers []z3.Program // each must prove every obligation; the first finds counterexamples
	Limit   time.Duration
	Jobs    int // questions at a time
}

// Verdict is what came of one function.
type Verdict struct {
	Func    *ssasmt.Func
	Results []Result // of the proof that held, or of the first one tried
	Against *Counterexample
}

// Result is one obligation tried by every solver.
type Result struct {
	Obligation
	Tries []Try // in the order of Options
}

// Try is what one solver made of an obligation.
type Try struct {
	Twin z3.Answer // to the hypotheses alone
	Goal z3.Answer // to hypotheses and negated goal
	Took time.Duration
	Err  error
}

// Proved reports whether every obligation was proved by every solver.
func (v Verdict) Proved() bool { return v.Err() == nil && proved(v.Results) }

// Refuted reports whether an input is known on which the function is wrong.
func (v Verdict) Refuted() bool { return v.Against != nil }

// Err returns why an obligation could not be tried, time-outs aside.
func (v Verdict) Err() error {
	for _, r := range v.Results {
		for _, t := range r.Tries {
			if t.Err != nil && !fault.Is(t.Err, fault.Timeout) {
				return t.Err
			}
		}
	}
	return nil
}

// Proved reports whether the solver answered as a proof needs.
func (t Try) Proved() bool { return t.Err == nil && t.Twin == z3.Sat && t.Goal == z3.Unsat }

func proved(results []Result) bool {
	for _, r := range results {
		for _, t := range r.Tries {
			if !t.Proved() {
				return false
			}
		}
	}
	return true
}

// Prove tries the named functions, all if there are none, in the unit's order.
func (t *Task) Prove(ctx context.Context, o Options, names ...string) []Verdict {
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	var verdicts []Verdict
	for _, f := range t.Unit.Funcs {
		if len(names) == 0 || wanted[f.Name] {
			verdicts = append(verdicts, Verdict{Func: f})
		}
	}
	slots := make(chan struct{}, max(1, o.Jobs))
	var all sync.WaitGroup
	for i := range verdicts {
		all.Go(func() { t.function(ctx, o, slots, &verdicts[i]) })
	}
	all.Wait()
	return verdicts
}

// function tries the proofs of one function, and looks for a counterexample if
// none holds.
func (t *Task) function(ctx context.Context, o Options, slots chan struct{}, v *Verdict) {
	p := newProver(v.Func, t.bridge)
	for n, obligations := range p.proofs() {
		results := t.try(ctx, o, slots, obligations)
		if n == 0 || proved(results) {
			v.Results = results
		}
		if proved(results) {
			return
		}
	}
	if v.Err() != nil {
		return
	}
	slots <- struct{}{}
	v.Against, _ = t.Refute(ctx, o.Solvers[0], o.Limit, v.Func.Name)
	<-slots
}
