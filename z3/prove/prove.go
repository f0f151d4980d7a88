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
	Text    spec.Text     // how text is read; a sort with equality alone if empty
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
	type question struct{ result, solver int }
	questions := make(chan question)
	var wg sync.WaitGroup
	for range max(o.Jobs, 1) {
		wg.Go(func() {
			d := newDesk(book, o)
			defer d.close()
			for q := range questions {
				r := &results[q.result]
				wantCore := q.solver == 0 && r.Encoding == r.Theorem.Encodings[0] && len(r.Theorem.Hypotheses) > 0
				r.Tries[q.solver] = d.try(ctx, *r, q.solver, wantCore)
			}
		})
	}
	for i := range results {
		for k := range o.Solvers {
			questions <- question{i, k}
		}
	}
	close(questions)
	wg.Wait()
	return results
}

// desk is where one goroutine works: at most one process of each solver, kept
// from theorem to theorem because starting one costs more than most proofs.
// Cores have a process of their own: the options they need outlive a reset.
type desk struct {
	book    *spec.Book
	options Options
	open    []*z3.Process // by solver, the one for cores last
}

func newDesk(book *spec.Book, o Options) *desk {
	return &desk{book, o, make([]*z3.Process, len(o.Solvers)+1)}
}

func (d *desk) close() {
	for k := range d.open {
		d.drop(k)
	}
}

func (d *desk) text() spec.Text {
	if d.options.Text == "" {
		return spec.Sort
	}
	return d.options.Text
}

func (d *desk) drop(k int) {
	if d.open[k] != nil {
		d.open[k].Close()
		d.open[k] = nil
	}
}

// at returns the process of a place, started if need be.
func (d *desk) at(ctx context.Context, k int, where string) (*z3.Process, error) {
	if d.open[k] == nil {
		s, err := d.options.Solvers[k%len(d.options.Solvers)].Start(ctx, d.options.Limit, where)
		if err != nil {
			return nil, err
		}
		d.open[k] = s
	}
	d.open[k].At(where)
	return d.open[k], nil
}

// try puts one result's questions to one solver. A solver that failed at one is
// not asked the next.
func (d *desk) try(ctx context.Context, r Result, k int, wantCore bool) Try {
	if err := ctx.Err(); err != nil {
		return Try{Err: err}
	}
	where := fmt.Sprintf("%s (%s)", r.Theorem.ID, r.Encoding)
	s, err := d.at(ctx, k, where)
	if err != nil {
		return Try{Err: err}
	}
	t := ask(s, d.book, r, d.text())
	if t.Err != nil {
		d.drop(k)
	}
	if !wantCore || !t.Proved() {
		return t
	}
	cores := len(d.options.Solvers)
	if s, t.Err = d.at(ctx, cores, where+", core"); t.Err == nil {
		t.Unused, t.Err = unused(s, d.book, r.Theorem, d.text())
	}
	if t.Err != nil {
		d.drop(cores)
	}
	return t
}

// ask asks for the twin, the goal, and a counterexample if there is one.
func ask(s *z3.Process, book *spec.Book, r Result, text spec.Text) (t Try) {
	script := append([]spec.Chunk{reset}, book.Script(r.Encoding, text, r.Theorem.RestsOn...)...)
	script = append(script, r.Theorem.Twin())
	if t.Twin, t.Err = s.CheckSat(script...); t.Err != nil {
		return t
	}
	start := time.Now()
	t.Goal, t.Err = s.CheckSat(append(script, r.Theorem.Goal())...)
	t.Took = time.Since(start)
	if t.Err == nil && t.Goal == z3.Sat {
		t.Model, t.Err = model(s, r.Theorem)
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
func unused(s *z3.Process, book *spec.Book, t spec.Theorem, text spec.Text) ([]string, error) {
	var left []string
	for _, h := range t.Hypotheses {
		left = append(left, h.Name)
	}
	for _, enc := range t.Encodings {
		if len(left) == 0 {
			break
		}
		needed, err := core(s, book, t, enc, text)
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(needed, name) })
	}
	return left, nil
}

// core returns the names of a minimal set of assertions that is unsatisfiable.
func core(s *z3.Process, book *spec.Book, t spec.Theorem, enc spec.Encoding, words spec.Text) ([]string, error) {
	options := spec.Chunk{File: "the options", Text: "(set-option :produce-unsat-cores true)\n(set-option :smt.core.minimize true)\n"}
	text := append([]spec.Chunk{reset, options}, book.Script(enc, words, t.RestsOn...)...)
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
