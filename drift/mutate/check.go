package mutate

import (
	"context"
	"sync"
	"time"

	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
	"world/z3"
)

// Fate is what validation says of a Go mutant.
type Fate int

// The fates of a mutant under validation.
const (
	Undecided  Fate = iota // a survivor
	Refuted                // an input is known on which it differs from the model
	Refused                // it is outside the subset that can be translated, or no longer fits its bridge
	Equivalent             // proved equal to the model by every solver
)

// GoResult is one Go mutant tried.
type GoResult struct {
	Mutant
	Fate      Fate
	Against   *validate.Counterexample // when refuted
	Confirmed bool                     // running the mutant on it gives the wrong answer
	KilledAt  int                      // number of sampled inputs that killed it, 0 if none did
}

// Survived reports whether the mutant is neither caught twice nor equivalent.
func (r GoResult) Survived() bool {
	return r.Fate == Undecided || r.Fate != Equivalent && r.KilledAt == 0
}

// Options say how to try mutants.
type Options struct {
	Z3     z3.Program // evaluates sampled inputs
	CVC5   z3.Program // refutes: it answers sooner
	Limit  time.Duration
	Jobs   int
	Seed   int64 // of the sampled inputs
	Inputs int   // sampled at most, for one package
	Sample int   // how many mutants, spread evenly; 0 for all
}

// budget bounds the instructions of one call of a mutant, which may not end.
const budget = 100_000

// TryGo holds validation and sampling to the mutants of a subject.
func TryGo(ctx context.Context, subject validate.Subject, source *ssasmt.Source, book *spec.Book, o Options) ([]GoResult, error) {
	questions, err := draw(ctx, subject, book, o)
	if err != nil {
		return nil, err
	}
	if _, err := kills(source, questions); err != nil {
		return nil, err
	}
	mutants, err := Go(source, subject.Files...)
	if err != nil {
		return nil, err
	}
	mutants = Sample(mutants, o.Sample)
	results := make([]GoResult, len(mutants))
	errs := make([]error, len(mutants))
	slots := make(chan struct{}, max(1, o.Jobs))
	var all sync.WaitGroup
	for i, m := range mutants {
		slots <- struct{}{}
		all.Go(func() {
			results[i], errs[i] = tryGo(ctx, subject, source, book, o, m, questions)
			<-slots
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return results, err
		}
	}
	return results, ctx.Err()
}

func tryGo(ctx context.Context, subject validate.Subject, source *ssasmt.Source, book *spec.Book, o Options, m Mutant, questions []question) (GoResult, error) {
	r := GoResult{Mutant: m}
	variant := source.With(m.File, m.Text)
	var err error
	if r.KilledAt, err = killedAt(variant, questions); err != nil {
		return r, err
	}
	if r.Fate, r.Against, err = judge(ctx, subject, variant, book, o, m); fault.Is(err, fault.Invalid) {
		r.Fate, err = Refused, nil
	}
	if err == nil && r.Against != nil {
		r.Confirmed, err = confirm(variant, r.Against)
	}
	return r, err
}

// judge validates a mutant: it looks for an input on which the function that was
// changed is wrong, and if there is none tries to prove it. What else the package
// has is as right as before if that function is; only a changed constant can
// reach them all.
func judge(ctx context.Context, subject validate.Subject, variant *ssasmt.Source, book *spec.Book, o Options, m Mutant) (Fate, *validate.Counterexample, error) {
	task, err := validate.Prepare(subject, variant, book)
	if err != nil {
		return Undecided, nil, err
	}
	var names []string
	for _, f := range task.Unit.Funcs {
		if f.Name == m.Name {
			names = []string{f.Name}
			break
		}
		names = append(names, f.Name)
	}
	for _, name := range names {
		c, err := task.Refute(ctx, o.CVC5, o.Limit, name)
		if c != nil {
			return Refuted, c, nil
		}
		if err != nil && !fault.Is(err, fault.Timeout) {
			return Undecided, nil, err
		}
	}
	for _, v := range task.Prove(ctx, validate.Options{Solvers: []z3.Program{o.CVC5, o.Z3}, Limit: o.Limit, Jobs: 1}, names...) {
		if err := v.Err(); err != nil || !v.Proved() {
			return Undecided, nil, err
		}
	}
	return Equivalent, nil, nil
}
