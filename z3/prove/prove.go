// Package prove tries the theorems of a book with one or several solvers.
//
// It promises that a theorem is called proved by a solver only if that solver
// answered unsat to its negated goal, sat to its hypotheses alone, and, once per
// theorem, minimal cores in which every hypothesis occurs. Every question is put
// to a solver that has just been started or reset. It does not promise that the solvers are right.
package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"world/fault"
	"world/spec"
	"world/z3"
)

// Options say how to try.
type Options struct {
	Solvers []z3.Program  // each must prove every theorem; the first one finds cores
	Limit   time.Duration // for one question
	Jobs    int           // questions at a time
}

// Result is one theorem in one encoding.
type Result struct {
	Theorem  spec.Theorem
	Encoding spec.Encoding
	Tries    []Try // one a solver, in the order of Options
}

// Try is what one solver made of it.
type Try struct {
	Twin   z3.Answer     // to the hypotheses alone
	Goal   z3.Answer     // to hypotheses and negated goal
	Took   time.Duration // for the goal
	Unused []string      // hypotheses that the proof does not need
	Model  string        // a counterexample, when there is one
	Err    error         // why there is no answer: time-out, or worse
}

// Proved reports whether every solver proved it.
func (r Result) Proved() bool {
	return !slices.ContainsFunc(r.Tries, func(t Try) bool { return !t.Proved() })
}

// Proved reports whether this solver proved it, of hypotheses that can hold.
func (t Try) Proved() bool {
	return t.Err == nil && t.Twin == z3.Sat && t.Goal == z3.Unsat && len(t.Unused) == 0
}

// Tried reports whether there was a real attempt: any answer, or a time-out.
func (t Try) Tried() bool { return t.Err == nil || fault.Is(t.Err, fault.Timeout) }

// All tries theorems in each of their encodings and returns the results in
// order. A failed try is in its result, not an error of All.
func All(ctx context.Context, book *spec.Book, theorems []spec.Theorem, o Options) []Result {
	var results []Result
	for _, t := range theorems {
		for _, enc := range t.Encodings {
			results = append(results, Result{t, enc, make([]Try, len(o.Solvers))})
		}
	}
	slots := make(chan struct{}, max(o.Jobs, 1))
	var wg sync.WaitGroup
	for i := range results {
		r := &results[i]
		for k := range o.Solvers {
			core := k == 0 && r.Encoding == r.Theorem.Encodings[0] && len(r.Theorem.Hypotheses) > 0
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				r.Tries[k] = one(ctx, book, *r, o.Solvers[k], o.Limit, core)
			})
		}
	}
	wg.Wait()
	return results
}

// one asks all questions about one result of one process, reset in between: a
// second process start would cost more than most proofs.
func one(ctx context.Context, book *spec.Book, r Result, solver z3.Program, limit time.Duration, core bool) (t Try) {
	s, err := solver.Start(ctx, limit, fmt.Sprintf("%s (%s)", r.Theorem.ID, r.Encoding))
	if err != nil {
		return Try{Err: err}
	}
	defer s.Close()
	script := append([]spec.Chunk{reset}, book.Script(r.Encoding, spec.Sort, r.Theorem.RestsOn...)...)
	script = append(script, r.Theorem.Twin())
	if t.Twin, t.Err = s.CheckSat(script...); t.Err != nil {
		return t
	}
	start := time.Now()
	t.Goal, t.Err = s.CheckSat(append(script, r.Theorem.Goal())...)
	t.Took = time.Since(start)
	switch {
	case t.Err != nil:
	case t.Goal == z3.Sat:
		t.Model, t.Err = model(s, r.Theorem)
	case t.Goal == z3.Unsat && core:
		t.Unused, t.Err = unused(s, book, r.Theorem)
	}
	return t
}

var reset = spec.Chunk{File: "the reset", Text: "(reset)\n"}

// model asks for the values of the theorem's constants.
func model(s *z3.Process, t spec.Theorem) (string, error) {
	if len(t.Constants) == 0 {
		return "", nil
	}
	names := "(get-value (" + strings.Join(t.Constants, " ") + "))\n"
	answers, err := s.Ask(spec.Chunk{File: "the model", Text: names})
	if err != nil || len(answers) != 1 {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimPrefix(answers[0].String(), "("), ")"), nil
}

// unused returns the hypotheses that no encoding's proof needs: some are there
// for 64 bits only.
func unused(s *z3.Process, book *spec.Book, t spec.Theorem) ([]string, error) {
	var left []string
	for _, h := range t.Hypotheses {
		left = append(left, h.Name)
	}
	for _, enc := range t.Encodings {
		if len(left) == 0 {
			break
		}
		needed, err := core(s, book, t, enc)
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(needed, name) })
	}
	return left, nil
}

// core returns the names of a minimal set of assertions that is unsatisfiable.
func core(s *z3.Process, book *spec.Book, t spec.Theorem, enc spec.Encoding) ([]string, error) {
	options := spec.Chunk{File: "the options", Text: "(set-option :produce-unsat-cores true)\n(set-option :smt.core.minimize true)\n"}
	text := append([]spec.Chunk{reset, options}, book.Script(enc, spec.Sort, t.RestsOn...)...)
	if a, err := s.CheckSat(append(text, t.Named())...); err != nil || a != z3.Unsat {
		return nil, err
	}
	answers, err := s.Ask(spec.Chunk{File: "the core", Text: "(get-unsat-core)\n"})
	if err != nil || len(answers) != 1 {
		return nil, err
	}
	var names []string
	for _, n := range answers[0].List {
		names = append(names, n.Atom)
	}
	return names, nil
}
