package drift

import (
	"github.com/leanovate/gopter"

	"world/broker/law"
	"world/coordinator/plan"
	"world/spec/smtlib"
)

// Question is one sampled input, as calls of Go functions, each with the answer
// that the model gives. It lets variants of the law be sampled as the law is.
type Question struct {
	Law   string // the comparison it comes from
	Calls []Call
}

// Call is one call of a function of a package, named as in its source.
type Call struct {
	Package string // import path
	Func    string // "Judge", or "Verdict.Label" for a method
	Args    []any
	Want    any // or Panics
}

// Panics is wanted of a call for which there is no answer.
const Panics = panics("panics")

type panics string

// Stream draws n questions about the functions of a package, in the shares and
// with the generators of Sample, from a seed. Laws of other packages are left out.
func Stream(m *Model, path string, seed int64, n int) ([]Question, error) {
	names, err := evaluate(m, planVerdicts[:], func(v string) string { return "(plan-law " + v + ")" },
		func(n smtlib.Node) (string, bool) { return n.Text(), !n.IsList() })
	if err != nil {
		return nil, err
	}
	var drawn [][]Question
	var shares []int
	total := 0
	for i, c := range comparisons {
		s, ok := c.(streamer)
		if !ok {
			continue
		}
		probe, err := s.stream(m, seed+int64(i), 1)
		if err != nil {
			return nil, err
		}
		if len(probe[0].Calls) > 0 && probe[0].Calls[0].Package == path {
			drawn, shares = append(drawn, nil), append(shares, i)
			total += c.share()
		}
	}
	for k, i := range shares {
		c := comparisons[i]
		questions, err := c.(streamer).stream(m, seed+int64(i), n*c.share()/total+1)
		if err != nil {
			return nil, err
		}
		for q := range questions {
			questions[q].name(names)
		}
		drawn[k] = questions
	}
	return mix(drawn, n), nil
}

// name adds to a plan law's question that of the broken law's name.
func (q *Question) name(names []string) {
	switch v, ok := q.Calls[0].Want.(plan.Verdict); {
	case ok && v != plan.Lawful:
		q.Calls = append(q.Calls, Call{planPath, "Verdict.Law", []any{v}, names[v]})
	case ok:
		q.Calls = append(q.Calls, Call{planPath, "Verdict.Law", []any{v}, Panics})
	}
}

// mix takes n questions, always from the law that is furthest behind its share.
func mix(drawn [][]Question, n int) []Question {
	taken := make([]int, len(drawn))
	out := make([]Question, 0, n)
	for len(drawn) > 0 && len(out) < n {
		least := 0
		for k := range drawn {
			if taken[k]*len(drawn[least]) < taken[least]*len(drawn[k]) {
				least = k
			}
		}
		if taken[least] == len(drawn[least]) {
			break
		}
		out = append(out, drawn[least][taken[least]])
		taken[least]++
	}
	return out
}

// streamer is a comparison that can be asked for questions.
type streamer interface {
	stream(m *Model, seed int64, n int) ([]Question, error)
}

func (p pairing[In, Out]) stream(m *Model, seed int64, n int) ([]Question, error) {
	parameters := gopter.DefaultGenParameters().CloneWithSeed(seed)
	inputs := make([]In, n)
	for i := range inputs {
		value, _ := p.draw(parameters).Retrieve()
		inputs[i] = value.(In)
	}
	questions := make([]Question, 0, n)
	for len(inputs) > 0 {
		part := inputs[:min(batch, len(inputs))]
		answers, err := p.model(m, part)
		if err != nil {
			return nil, err
		}
		for i := range part {
			questions = append(questions, Question{p.title, calls(p.title, part[i], answers[i])})
		}
		inputs = inputs[len(part):]
	}
	return questions, nil
}

const (
	lawPath  = "world/broker/law"
	planPath = "world/coordinator/plan"
)

// calls says which functions a comparison is about.
func calls(title string, in, want any) []Call {
	switch in := in.(type) {
	case Case:
		want := want.(labelled)
		return []Call{
			{lawPath, "Decide", []any{in.Grants, in.Request}, want.Decision},
			{lawPath, "Verdict.Label", []any{want.Verdict}, want.Label},
			{lawPath, "Verdict.Label", []any{law.Allowed + 1 + law.Verdict(len(in.Grants))}, Panics},
		}
	case Pair:
		return []Call{{lawPath, map[string]string{"judge": "Judge", "debit": "Debit"}[title], []any{in.Grant, in.Request}, want}}
	case Two:
		return []Call{{lawPath, map[string]string{"seed": "Seed", "plus": "Plus"}[title], []any{in.A, in.B}, want}}
	case plan.Facts:
		return []Call{{planPath, map[string]string{"plan size": "JudgeSize", "plan result": "JudgeResult"}[title], []any{in}, want}}
	case plan.EffectFacts:
		return []Call{{planPath, "JudgeEffect", []any{in}, want}}
	case plan.OutputFacts:
		return []Call{{planPath, "JudgeOutput", []any{in}, want}}
	case ids:
		want := want.([2]bool)
		effects := make([]plan.EffectFacts, len(in.Others))
		for i, id := range in.Others {
			effects[i].ID = id
		}
		return []Call{{planPath, "LawfulID", []any{in.ID}, want[0]}, {planPath, "Once", []any{effects, in.ID}, want[1]}}
	case triples:
		declared := in.Declared
		if declared == nil {
			declared = []law.Triple{}
		}
		return []Call{{planPath, "Declared", []any{declared, in.Asked}, want}}
	}
	return nil
}
