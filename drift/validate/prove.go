package validate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// Task is a subject translated and matched with its bridge.
type Task struct {
	Unit    *ssasmt.Unit
	model   []spec.Chunk
	prelude []spec.Chunk // the model, the translated Go and the bridge
	bridge  bridge
	texts   []string // that the Go or the model speaks of
}

// Prepare translates the source and checks that the bridge has an answer for
// every function. What cannot be translated is an error that wraps a
// *ssasmt.Refusal.
func Prepare(subject Subject, source *ssasmt.Source, book *spec.Book) (*Task, error) {
	b, err := readBridge(subject.Bridge)
	if err != nil {
		return nil, err
	}
	checked, err := source.Check()
	if err != nil {
		return nil, err
	}
	unit, err := checked.Translate(subject.Files...)
	if err != nil {
		return nil, fault.Wrap("validate: translate", fault.Invalid, err, "%s", err)
	}
	if err := b.check(subject.Bridge, unit); err != nil {
		return nil, err
	}
	model := book.Script(spec.BV64, spec.Sort, subject.Models...)
	texts, err := literals(slices.Concat(model, []spec.Chunk{subject.Bridge}))
	if err != nil {
		return nil, err
	}
	translated := spec.Chunk{File: subject.Package + " translated", Text: unit.Proof(texts...)}
	return &Task{
		Unit: unit, model: model, bridge: b, texts: append(texts, unit.Literals...),
		prelude: slices.Concat(model, []spec.Chunk{translated, subject.Bridge}),
	}, nil
}

// literals lists the texts in scripts.
func literals(chunks []spec.Chunk) ([]string, error) {
	var out []string
	var visit func(n smtlib.Node)
	visit = func(n smtlib.Node) {
		if strings.HasPrefix(n.Atom, `"`) && !slices.Contains(out, n.Text()) {
			out = append(out, n.Text())
		}
		for _, inner := range n.List {
			visit(inner)
		}
	}
	for _, c := range chunks {
		nodes, err := smtlib.Parse(c.File, []byte(c.Text))
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			visit(n)
		}
	}
	return out, nil
}

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
	where := ob.Func.Name + " " + ob.Name
	process, err := solver.Start(ctx, limit, where)
	if err != nil {
		return nil, err
	}
	defer process.Close()
	answer, err := process.CheckSat(append(t.prelude, spec.Chunk{File: where, Text: ob.hypotheses() + ob.negated()})...)
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
