package drift

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"world/broker/law"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// Model evaluates spec/z3 on concrete inputs with a solver, in 64 bits and with
// strings for text. It is for one goroutine at a time.
type Model struct {
	process *z3.Process
	labels  map[law.Verdict]string
}

// Case is one input of the whole law.
type Case struct {
	Grants  []law.Grant
	Request law.Request
}

// verdicts are the model's names of the verdicts, at Go's values of them.
var verdicts = [...]string{
	law.DeniedEffectName: "denied-effect-name",
	law.DeniedScope:      "denied-scope",
	law.DeniedExpired:    "denied-expired",
	law.DeniedBudget:     "denied-budget",
	law.Allowed:          "allowed",
}

// Open starts a solver and tells it the model. Limit is for one batch of inputs.
func Open(ctx context.Context, book *spec.Book, solver z3.Program, limit time.Duration) (*Model, error) {
	p, err := solver.Start(ctx, limit, "evaluation")
	if err != nil {
		return nil, err
	}
	m := &Model{process: p, labels: map[law.Verdict]string{}}
	if err := m.begin(book); err != nil {
		p.Close()
		return nil, err
	}
	return m, nil
}

func (m *Model) begin(book *spec.Book) error {
	if err := m.process.Tell(book.Script(spec.BV64, spec.String, "decision", "seeding", "plan", "record")...); err != nil {
		return err
	}
	terms := make([]string, len(verdicts))
	for i, name := range verdicts {
		terms[i] = "(label " + name + ")"
	}
	values, err := m.process.Values(terms)
	if err != nil {
		return err
	}
	for i, v := range values {
		m.labels[law.Verdict(i)] = v.Text()
	}
	return nil
}

// Close ends the solver.
func (m *Model) Close() { m.process.Close() }

// Label returns the model's label of a verdict.
func (m *Model) Label(v law.Verdict) string { return m.labels[v] }

// Decide returns the model's answer to each case.
func (m *Model) Decide(cases []Case) ([]law.Decision, error) {
	return evaluate(m, cases, decideTerm, readDecision)
}

// Pair is one input of the law over one grant.
type Pair struct {
	Grant   law.Grant
	Request law.Request
}

// Judge returns the model's verdict on each pair.
func (m *Model) Judge(pairs []Pair) ([]law.Verdict, error) {
	return evaluate(m, pairs, func(p Pair) string {
		return "(judge " + grantTerm(p.Grant) + " " + requestTerm(p.Request) + ")"
	}, readVerdict)
}

// Debit returns the model's grant after each request.
func (m *Model) Debit(pairs []Pair) ([]law.Grant, error) {
	return evaluate(m, pairs, func(p Pair) string {
		return "(debit " + grantTerm(p.Grant) + " " + requestTerm(p.Request) + ")"
	}, readGrant)
}

// Two is one input of the laws over two numbers.
type Two struct{ A, B int64 }

// Seed returns the model's seed of each budget A after spend B.
func (m *Model) Seed(of []Two) ([]int64, error) {
	return evaluate(m, of, func(t Two) string { return "(seed " + num(t.A) + " " + num(t.B) + ")" }, readNum)
}

// Plus returns the model's sum of each two amounts of spend.
func (m *Model) Plus(of []Two) ([]int64, error) {
	return evaluate(m, of, func(t Two) string { return "(plus " + num(t.A) + " " + num(t.B) + ")" }, readNum)
}

func evaluate[In, Out any](m *Model, inputs []In, term func(In) string, read func(smtlib.Node) (Out, bool)) ([]Out, error) {
	terms := make([]string, len(inputs))
	for i, in := range inputs {
		terms[i] = term(in)
	}
	values, err := m.process.Values(terms)
	if err != nil {
		return nil, err
	}
	out := make([]Out, len(values))
	for i, v := range values {
		var ok bool
		if out[i], ok = read(v); !ok {
			return nil, fault.New("drift: evaluate", fault.Failed, "the model's value %s of %s is not understood", v, terms[i])
		}
	}
	return out, nil
}

func decideTerm(c Case) string {
	return "(let ((r " + requestTerm(c.Request) + ")) " + FoldTerm(c.Grants, "r") + ")"
}

func grantTerm(g law.Grant) string {
	return "(grant " + smtlib.Quote(string(g.Effect)) + " " + smtlib.Quote(string(g.Scope)) + " " + num(g.ExpiresAt) + " " + num(g.Budget) + ")"
}

func requestTerm(r law.Request) string {
	return "(request " + smtlib.Quote(string(r.Effect)) + " " + smtlib.Quote(string(r.Scope)) + " " + num(r.Cost) + " " + num(r.Now) + ")"
}

func num(n int64) string { return fmt.Sprintf("#x%016x", uint64(n)) }

func readNum(n smtlib.Node) (int64, bool) {
	digits, base := strings.CutPrefix(n.Atom, "#x")
	radix := 16
	if !base {
		digits, base = strings.CutPrefix(n.Atom, "#b")
		radix = 2
	}
	v, err := strconv.ParseUint(digits, radix, 64)
	return int64(v), base && err == nil
}

func readVerdict(n smtlib.Node) (law.Verdict, bool) {
	for i, name := range verdicts {
		if n.Is(name) {
			return law.Verdict(i), true
		}
	}
	return 0, false
}

func readDecision(n smtlib.Node) (law.Decision, bool) {
	if n.Head() != "decision" || len(n.List) != 5 {
		return law.Decision{}, false
	}
	v, ok1 := readVerdict(n.List[1])
	index, ok2 := readNum(n.List[2])
	before, ok3 := readNum(n.List[3])
	after, ok4 := readNum(n.List[4])
	return law.Decision{Verdict: v, Grant: int(index), BudgetBefore: before, Remaining: after}, ok1 && ok2 && ok3 && ok4
}

func readGrant(n smtlib.Node) (law.Grant, bool) {
	if n.Head() != "grant" || len(n.List) != 5 {
		return law.Grant{}, false
	}
	expires, ok1 := readNum(n.List[3])
	budget, ok2 := readNum(n.List[4])
	return law.Grant{Effect: law.Effect(n.List[1].Text()), Scope: law.Scope(n.List[2].Text()), ExpiresAt: expires, Budget: budget}, ok1 && ok2
}
