package validate

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// Refute looks for an input on which the named function does not answer as the
// model; nil means that there is none, or none among short lists and texts.
func (t *Task) Refute(ctx context.Context, solver z3.Program, limit time.Duration, name string) (*Counterexample, error) {
	p := newProver(t.Unit.Function(name), t.bridge)
	if p.f.Loop == nil {
		return t.refute(ctx, solver, limit, p.equal())
	}
	for _, n := range t.lengths(p.f) {
		if c, err := t.refute(ctx, solver, limit, p.bounded(n)); err != nil || c != nil {
			return c, err
		}
	}
	return nil, nil
}

// refute returns an input on which the obligation fails, nil if there is none.
func (t *Task) refute(ctx context.Context, solver z3.Program, limit time.Duration, ob Obligation) (*Counterexample, error) {
	where := ob.where()
	process, err := solver.Start(ctx, limit, where)
	if err != nil {
		return nil, err
	}
	defer process.Close()
	answer, err := t.ask(process, ob, ob.negated())
	if err != nil || answer != z3.Sat {
		return nil, err
	}
	ask := func(term string) (smtlib.Node, error) {
		answers, err := process.Ask(spec.Chunk{File: where, Text: "(get-value (" + term + "))\n"})
		if err == nil && (len(answers) != 1 || len(answers[0].List) != 1 || len(answers[0].List[0].List) != 2) {
			err = fault.New("validate: counterexample", fault.Failed, "solver %s does not give the value of %s", solver.Name, term)
		}
		if err != nil {
			return smtlib.Node{}, err
		}
		return answers[0].List[0].List[1], nil
	}
	return t.counterexample(ob, ask)
}

// lengths lists the lengths that are searched for a counterexample: the shortest,
// and for a text those around each small number that the function or the model
// speaks of.
func (t *Task) lengths(f *ssasmt.Func) []int {
	const longest = 64
	out := []int{0, 1, 2, 3}
	if f.Loop.Elem != "" {
		return out
	}
	text := f.Defs
	for _, c := range t.model {
		text += c.Text
	}
	for _, digits := range strings.Split(text, "#x")[1:] {
		if len(digits) < 16 {
			continue
		}
		n, err := strconv.ParseUint(digits[:16], 16, 64)
		if err != nil || n > longest {
			continue
		}
		for _, near := range []int{int(n) - 1, int(n), int(n) + 1} {
			if near >= 0 && !slices.Contains(out, near) {
				out = append(out, near)
			}
		}
	}
	return out
}
