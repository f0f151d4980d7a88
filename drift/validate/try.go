package validate

import (
	"context"
	"fmt"
	"slices"
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

// one asks one solver for the twin and for the goal, reset in between: a second
// start would take longer than most proofs.
func (t *Task) one(ctx context.Context, solver z3.Program, limit time.Duration, ob Obligation) (try Try) {
	process, err := solver.Start(ctx, limit, ob.where())
	if err != nil {
		return Try{Err: err}
	}
	defer process.Close()
	if try.Twin = z3.Sat; len(ob.assume) > 0 || ob.occurs != "" {
		try.Twin, try.Err = process.CheckSat(t.script(ob, ob.possible())...)
		if try.Err != nil {
			return try
		}
	}
	begin := time.Now()
	try.Goal, try.Err = process.CheckSat(t.script(ob, ob.negated())...)
	try.Took = time.Since(begin)
	return try
}

// script is everything that a solver needs for one question about an obligation,
// from the very beginning.
func (t *Task) script(ob Obligation, ask string) []spec.Chunk {
	return slices.Concat(
		[]spec.Chunk{{File: "the reset", Text: "(reset)\n(set-option :produce-models true)\n"}},
		t.prelude,
		[]spec.Chunk{{File: ob.where(), Text: ob.hypotheses() + ask}})
}

func (ob Obligation) where() string { return ob.Func.Name + " " + ob.Name }

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

func (ob Obligation) possible() string {
	if ob.occurs == "" {
		return ""
	}
	return "(assert " + ob.occurs + ")\n"
}

func (ob Obligation) negated() string { return "(assert (not " + ob.goal + "))\n" }
