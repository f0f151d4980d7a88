package validate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"world/spec"
	"world/z3"
)

// try puts obligations to all solvers.
func (t *Task) try(ctx context.Context, o Options, slots chan struct{}, obligations proof) []Result {
	results := make([]Result, len(obligations))
	var all sync.WaitGroup
	for i, ob := range obligations {
		results[i] = Result{Obligation: ob, Tries: make([]Try, len(o.Solvers))}
		for j, solver := range o.Solvers {
			all.Go(func() {
				slots <- struct{}{}
				results[i].Tries[j] = t.one(ctx, solver, o.Limit, ob)
				<-slots
			})
		}
	}
	all.Wait()
	return results
}

// one asks one solver for the twin and for the goal, each in a fresh process.
func (t *Task) one(ctx context.Context, solver z3.Program, limit time.Duration, ob Obligation) (try Try) {
	where := ob.Func.Name + " " + ob.Name
	ask := func(extra string) (answer z3.Answer) {
		process, err := solver.Start(ctx, limit, where)
		if err != nil {
			try.Err = err
			return z3.Unknown
		}
		defer process.Close()
		answer, try.Err = process.CheckSat(append(t.prelude, spec.Chunk{File: where, Text: ob.hypotheses() + extra})...)
		return answer
	}
	if try.Twin = z3.Sat; len(ob.assume) > 0 || ob.occurs != "" {
		extra := ""
		if ob.occurs != "" {
			extra = "(assert " + ob.occurs + ")\n"
		}
		if try.Twin = ask(extra); try.Err != nil {
			return try
		}
	}
	begin := time.Now()
	try.Goal = ask(ob.negated())
	try.Took = time.Since(begin)
	return try
}

func (ob Obligation) hypotheses() string {
	var out strings.Builder
	for _, d := range ob.declares {
		fmt.Fprintf(&out, "(declare-const %s %s)\n", d.Symbol, d.Sort)
	}
	for _, a := range ob.assume {
		fmt.Fprintf(&out, "(assert %s)\n", a)
	}
	return out.String()
}

func (ob Obligation) negated() string { return "(assert (not " + ob.goal + "))\n" }
