package relate

import (
	"context"
	"fmt"
	"strings"

	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// joint is two laws deciding the same request over the same grants, side by side.
//
// Every state of a fold is nobody or the single answer of a grant before the next
// one, if each law keeps its answer or takes the next grant's: that is proved
// first, as selects. So the two states are given by the grants that they are of,
// and what may hold between them is told by their verdicts and whether they are
// of the same grant: 50 facts at most, of which the reachable ones are found by
// asking what a step leads to until nothing new comes. That the facts found hold
// at the start and after every step is then proved by every solver, and so, by
// induction, of lists of any length.
type joint struct {
	a, b    Law
	o       Options
	script  []spec.Chunk
	selects bool                   // the facts are proved
	facts   []fact                 // reachable
	open    map[string]*z3.Process // by the solver's name
}

// fact is what is known of two states.
type fact struct {
	a, b string // verdicts
	same string // "true" or "false"
}

// way is something that two states may show.
type way struct {
	claim  string             // what never happening means
	states string             // over now-a, now-b and same-now
	lists  string             // over the decisions da and db of a list
	local  string             // over one grant g and request r, beside the decisions
	shown  func(Witness) bool // when a run of both laws shows it
}

const (
	differAfter = "(lt (after %[2]s) (after %[1]s))"
	debitLess   = `(and (= (%[1]s.judge g r) allowed) (= (%[2]s.judge g r) allowed)
  (or (lt (budget (%[2]s.debit g r)) (budget (%[1]s.debit g r))) (lt (expires (%[2]s.debit g r)) (expires (%[1]s.debit g r)))
      (not (= (g-effect (%[2]s.debit g r)) (g-effect (%[1]s.debit g r)))) (not (= (g-scope (%[2]s.debit g r)) (g-scope (%[1]s.debit g r))))))`
)

func gives(more, less, claim string, shown func(Witness) bool) way {
	lacks := func(same string) string {
		return fmt.Sprintf("(and (= (verdict %[1]s) allowed) (or (not (= (verdict %[2]s) allowed)) (and %[3]s "+differAfter+")))", more, less, same)
	}
	letter := func(d string) string { return d[len(d)-1:] }
	return way{claim, strings.NewReplacer("da", "now-a", "db", "now-b").Replace(lacks("same-now")),
		lacks("(= (index da) (index db))"),
		fmt.Sprintf(debitLess, letter(more), letter(less)), shown}
}

var (
	lessInB = gives("da", "db", "it gives all that the base gives", Witness.GivesLess)
	lessInA = gives("db", "da", "it gives no more than the base gives", Witness.GivesMore)
	told    = way{"it answers as the base answers", "(not (= now-a now-b))",
		"(not (= da db))", "(not (= (a.debit g r) (b.debit g r)))",
		func(w Witness) bool { return !w.Base.equal(w.Law) }}
)

const states = `(declare-const r Request)
(declare-const g Grant)
(declare-const i Num)
(declare-const have-a Bool)
(declare-const have-b Bool)
(declare-const at-a Num)
(declare-const at-b Num)
(declare-const of-a Grant)
(declare-const of-b Grant)
(define-fun now-a () Decision (ite have-a (a.single at-a of-a r) a.nobody))
(define-fun now-b () Decision (ite have-b (b.single at-b of-b r) b.nobody))
(define-fun next-a () Decision (a.consider now-a i g r))
(define-fun next-b () Decision (b.consider now-b i g r))
(define-fun same-now () Bool (and (= have-a have-b) (=> have-a (= at-a at-b))))
(define-fun same-next () Bool
  (ite (= next-a now-a) (and (= next-b now-b) same-now) (not (= next-b now-b))))
(assert (le zero i))
(assert (=> have-a (and (le zero at-a) (lt at-a i))))
(assert (=> have-b (and (le zero at-b) (lt at-b i))))
(assert (=> (= at-a at-b) (= of-a of-b)))
`

func newJoint(ctx context.Context, a, b Law, o Options) (*joint, error) {
	j := &joint{a: a, b: b, o: o, script: pair(a, b), open: map[string]*z3.Process{}}
	for _, x := range []string{"a", "b"} {
		ok, err := j.unsat(ctx, "selects", states+fmt.Sprintf(
			"(assert (not (and (or (= next-%[1]s now-%[1]s) (= next-%[1]s (%[1]s.single i g r))) (= (index (%[1]s.single i g r)) i))))\n", x))
		if err != nil || !ok {
			return j, err
		}
	}
	if err := j.reach(ctx); err != nil {
		return j, err
	}
	start, err := j.unsat(ctx, "start", "(assert (not "+j.known("a.nobody", "b.nobody", "true")+"))\n")
	if err != nil || !start {
		return j, err
	}
	j.selects, err = j.unsat(ctx, "step", states+"(assert "+j.known("now-a", "now-b", "same-now")+")\n(assert (not "+j.known("next-a", "next-b", "same-next")+"))\n")
	return j, err
}

// known says that a reachable fact holds of two states.
func (j *joint) known(a, b, same string) string {
	out := "(or false"
	for _, f := range j.facts {
		out += fmt.Sprintf(" (and (= (verdict %s) %s) (= (verdict %s) %s) (= %s %s))", a, f.a, b, f.b, same, f.same)
	}
	return out + ")"
}

// reach finds the facts with the first solver.
func (j *joint) reach(ctx context.Context) error {
	const most = 50 // verdicts of a, of b, and whether they are of one grant
	at := "(declare-const x Bool)\n"
	f, err := j.example(ctx, "start", at, "(verdict a.nobody)", "(verdict b.nobody)", "true")
	for err == nil && f != nil && len(j.facts) < most {
		j.facts = append(j.facts, fact{f[0].String(), f[1].String(), f[2].String()})
		f, err = j.example(ctx, "reach", states+"(assert "+j.known("now-a", "now-b", "same-now")+")\n(assert (not "+
			j.known("next-a", "next-b", "same-next")+"))\n", "(verdict next-a)", "(verdict next-b)", "same-next")
	}
	return err
}

// never proves that no list of grants leads to what a way says.
func (j *joint) never(ctx context.Context, w way) (bool, error) {
	if !j.selects {
		return false, nil
	}
	for _, says := range []string{w.states, w.local} {
		ok, err := j.unsat(ctx, "induction", states+"(assert "+j.known("now-a", "now-b", "same-now")+")\n(assert "+says+")\n")
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// unsat reports whether every solver says that a text cannot be satisfied.
func (j *joint) unsat(ctx context.Context, what, text string) (bool, error) {
	for _, solver := range j.o.Solvers {
		answer, _, err := j.ask(ctx, solver, what, text)
		if err != nil || answer != z3.Unsat {
			return false, err
		}
	}
	return true, nil
}

// example returns the values of terms in some model, nil if there is none.
func (j *joint) example(ctx context.Context, what, text string, terms ...string) ([]smtlib.Node, error) {
	answer, values, err := j.ask(ctx, j.o.Solvers[0], what, text, terms...)
	switch {
	case err != nil || answer == z3.Unsat:
		return nil, err
	case answer == z3.Unknown:
		return nil, Undecided(fmt.Sprintf("%s, %s: solver %s does not know", j.b.file, what, j.o.Solvers[0].Name))
	}
	return values, nil
}

// ask puts one question to a solver, which keeps the two laws from question to
// question.
func (j *joint) ask(ctx context.Context, solver z3.Program, what, text string, terms ...string) (answer z3.Answer, values []smtlib.Node, err error) {
	s, err := j.at(ctx, solver)
	if err != nil {
		return "", nil, err
	}
	s.At(j.b.file + ", " + what)
	answer, err = s.CheckSat(spec.Chunk{File: "the question", Text: "(push 1)\n" + text})
	if err == nil && answer == z3.Sat && len(terms) > 0 {
		values, err = valuesOf(s, solver.Name, terms)
	}
	if err == nil {
		err = s.Tell(spec.Chunk{File: "the end of the question", Text: "(pop 1)\n"})
	}
	return answer, values, err
}

// at returns the solver's process, which has been told both laws.
func (j *joint) at(ctx context.Context, solver z3.Program) (*z3.Process, error) {
	if s := j.open[solver.Name]; s != nil {
		return s, nil
	}
	s, err := solver.Start(ctx, j.o.Limit, j.b.file)
	if err != nil {
		return nil, err
	}
	j.open[solver.Name] = s
	script := j.script
	if solver.Name == "cvc5" { // z3 has no such option, and needs none
		script = append([]spec.Chunk{{File: "the options", Text: "(set-option :incremental true)\n"}}, script...)
	}
	return s, s.Tell(script...)
}

func (j *joint) close() {
	for _, s := range j.open {
		s.Close()
	}
}

func valuesOf(s *z3.Process, name string, terms []string) ([]smtlib.Node, error) {
	answers, err := s.Ask(spec.Chunk{File: "the model", Text: "(get-value (" + strings.Join(terms, " ") + "))\n"})
	if err != nil {
		return nil, err
	}
	var values []smtlib.Node
	if len(answers) == 1 {
		for _, v := range answers[0].List {
			if len(v.List) == 2 {
				values = append(values, v.List[1])
			}
		}
	}
	if len(values) != len(terms) {
		return nil, fault.New("diff", fault.Failed, "solver %s does not answer %d terms with as many values", name, len(terms))
	}
	return values, nil
}
