package mutate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// SMTResult is one mutant of a model tried.
type SMTResult struct {
	SMTMutant
	Accepted   bool   // by a solver: the sorts fit
	Breaks     string // the theorem it breaks, with its encoding
	Equivalent bool   // its definition is proved equal to the original's
}

// Survived reports whether no theorem notices a change that makes a difference.
func (r SMTResult) Survived() bool { return r.Accepted && r.Breaks == "" && !r.Equivalent }

// TrySMT holds the theorems to the mutants of a model.
func TrySMT(ctx context.Context, book *spec.Book, model string, o Options) ([]SMTResult, error) {
	mutants, err := SMT(book, model)
	if err != nil {
		return nil, err
	}
	mutants = Sample(mutants, o.Sample)
	results := make([]SMTResult, len(mutants))
	theorems := &ranking{kills: map[string]int{}}
	for _, t := range book.Theorems {
		if slices.Contains(t.RestsOn, model) {
			theorems.order = append(theorems.order, t)
		}
	}
	if len(theorems.order) == 0 {
		return nil, fault.New("mutate: models", fault.Invalid, "no theorem rests on spec/z3/%s.smt2", model)
	}
	errs := make([]error, len(mutants))
	slots := make(chan struct{}, max(1, o.Jobs))
	var all sync.WaitGroup
	for i, m := range mutants {
		slots <- struct{}{}
		all.Go(func() {
			results[i], errs[i] = trySMT(ctx, book, o, m, theorems)
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

// ranking orders theorems by how many mutants they have caught: most mutants
// break one of a few.
type ranking struct {
	mu    sync.Mutex
	kills map[string]int
	order []spec.Theorem
}

func (r *ranking) best() []spec.Theorem {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.order, func(a, b spec.Theorem) int { return r.kills[b.ID] - r.kills[a.ID] })
	return slices.Clone(r.order)
}

func (r *ranking) killed(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills[id]++
}

func trySMT(ctx context.Context, book *spec.Book, o Options, m SMTMutant, theorems *ranking) (SMTResult, error) {
	r := SMTResult{SMTMutant: m}
	mutated := book.With(m.Model, string(m.Text))
	s := &session{ctx: ctx, o: o, where: m.String()}
	defer s.close()
	// Integers first, where proofs are quick; 64 bits only if they leave a doubt.
	for _, enc := range []spec.Encoding{spec.Int, spec.BV64} {
		for _, t := range theorems.best() {
			if !t.In(enc) {
				continue
			}
			broken, err := s.breaks(mutated, t, enc)
			if fault.Is(err, fault.Invalid) {
				return r, nil
			}
			r.Accepted = true
			if broken {
				r.Breaks = fmt.Sprintf("%s (%s)", t.ID, enc)
				theorems.killed(t.ID)
			}
			if err != nil || broken {
				return r, err
			}
		}
		if enc == spec.Int {
			var err error
			if r.Equivalent, err = equivalent(ctx, book, o, m); err != nil || r.Equivalent {
				return r, err
			}
		}
	}
	return r, nil
}

// session is a solver that is reset between questions and started anew when it
// was lost.
type session struct {
	ctx   context.Context
	o     Options
	where string
	open  *z3.Process
}

func (s *session) close() {
	if s.open != nil {
		s.open.Close()
		s.open = nil
	}
}

func (s *session) ask(chunks ...spec.Chunk) (z3.Answer, error) {
	if s.open == nil {
		var err error
		if s.open, err = s.o.CVC5.Start(s.ctx, s.o.Limit, s.where); err != nil {
			return "", err
		}
	}
	answer, err := s.open.CheckSat(append([]spec.Chunk{{File: "the reset", Text: "(reset)\n(set-option :produce-models true)\n"}}, chunks...)...)
	if err != nil {
		s.close()
	}
	return answer, err
}

// breaks reports whether a theorem is refuted, or its hypotheses contradict each
// other, in a mutated book. Not decided in time is not broken.
func (s *session) breaks(mutated *spec.Book, t spec.Theorem, enc spec.Encoding) (bool, error) {
	script := append(mutated.Script(enc, spec.Sort, t.RestsOn...), t.Twin())
	goal, err := s.ask(append(script, t.Goal())...)
	if err != nil {
		if fault.Is(err, fault.Timeout) {
			return false, nil
		}
		return false, err
	}
	if goal == z3.Sat {
		return true, nil
	}
	if len(t.Hypotheses) == 0 {
		return false, nil
	}
	twin, err := s.ask(script...)
	if fault.Is(err, fault.Timeout) {
		return false, nil
	}
	return twin == z3.Unsat, err
}

// equivalent asks both solvers, in both encodings, for the changed definition to
// equal the original on all arguments. Every other definition is made from it.
func equivalent(ctx context.Context, book *spec.Book, o Options, m SMTMutant) (bool, error) {
	def := smtlib.Node{List: slices.Clone(m.Defined.List)}
	name := def.List[1].Atom
	def.List[1].Atom = name + ".mutant"
	var text strings.Builder
	text.WriteString(def.String() + "\n")
	call := ""
	for _, p := range def.List[2].List {
		fmt.Fprintf(&text, "(declare-const arg.%s %s)\n", p.List[0].Atom, p.List[1])
		call += " arg." + p.List[0].Atom
	}
	apply := func(f string) string {
		if call == "" {
			return f
		}
		return "(" + f + call + ")"
	}
	fmt.Fprintf(&text, "(assert (distinct %s %s))\n", apply(name), apply(def.List[1].Atom))
	for _, solver := range []z3.Program{o.CVC5, o.Z3} {
		for _, enc := range []spec.Encoding{spec.Int, spec.BV64} {
			process, err := solver.Start(ctx, o.Limit, m.String())
			if err != nil {
				return false, err
			}
			script := append(book.Script(enc, spec.Sort, needed(book, m.Model)...), spec.Chunk{File: "the mutant", Text: text.String()})
			answer, err := process.CheckSat(script...)
			process.Close()
			if err != nil && !fault.Is(err, fault.Timeout) {
				return false, err
			}
			if answer != z3.Unsat {
				return false, nil
			}
		}
	}
	return true, nil
}

// needed lists the models that a model is read after, itself last, as a theorem
// that rests on it names them.
func needed(book *spec.Book, model string) []string {
	for _, t := range book.Theorems {
		if i := slices.Index(t.RestsOn, model); i >= 0 {
			return t.RestsOn[:i+1]
		}
	}
	return []string{model}
}
