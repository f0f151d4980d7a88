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
		try.Twin, try.Err = t.ask(process, ob, ob.possible())
		if try.Err != nil {
			return try
		}
	}
	begin := time.Now()
	try.Goal, try.Err = t.ask(process, ob, ob.negated())
	try.Took = time.Since(begin)
	return try
}

// ask puts one question about an obligation to a solver, from the very beginning.
func (t *Task) ask(process *z3.Process, ob Obligation, question string) (z3.Answer, error) {
	asked := ob.hypotheses() + question
	prelude, err := needed(t.prelude, append(ob.terms(), asked)...)
	if err != nil {
		return "", err
	}
	return process.CheckSat(slices.Concat(
		[]spec.Chunk{{File: "the reset", Text: "(reset)\n(set-option :produce-models true)\n"}},
		prelude,
		[]spec.Chunk{{File: ob.where(), Text: asked}})...)
}

// terms are those whose values show a counterexample.
func (ob Obligation) terms() []string {
	var out []string
	for _, s := range ob.show {
		out = append(out, s.term)
	}
	return out
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
