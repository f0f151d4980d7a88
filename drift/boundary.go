package drift

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"world/broker/law"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// Boundary is an input that the solver made for one corner of the law.
type Boundary struct {
	Goal string // what was asked for, such as "now = expires - 1, cost = budget, same effect, same scope, allowed"
	Pair
}

//go:embed testdata/boundary.jsonl
var corpusText string

// corpus is the solver's own boundary inputs, as kept in testdata.
var corpus = mustReadCorpus(corpusText)

func mustReadCorpus(text string) []Boundary {
	var out []Boundary
	d := json.NewDecoder(strings.NewReader(text))
	for d.More() {
		var b Boundary
		if err := d.Decode(&b); err != nil {
			panic("drift: testdata/boundary.jsonl: " + err.Error())
		}
		out = append(out, b)
	}
	return out
}

// A choice is one way to be at a boundary: its words and its formula.
type choice struct{ words, formula string }

var (
	nows = []choice{
		{"now = min int64", "(= (now r) (add maxint one))"},
		{"now = -1", "(= (now r) (sub zero one))"},
		{"now = 0", "(= (now r) zero)"},
		{"now = 1", "(= (now r) one)"},
		{"now = expires - 1", "(= (now r) (sub (expires g) one))"},
		{"now = expires", "(= (now r) (expires g))"},
		{"now = expires + 1", "(= (now r) (add (expires g) one))"},
		{"now = max int64", "(= (now r) maxint)"},
	}
	costs = []choice{
		{"cost = min int64", "(= (cost r) (add maxint one))"},
		{"cost = -1", "(= (cost r) (sub zero one))"},
		{"cost = 0", "(= (cost r) zero)"},
		{"cost = 1", "(= (cost r) one)"},
		{"cost = budget - 1", "(= (cost r) (sub (budget g) one))"},
		{"cost = budget", "(= (cost r) (budget g))"},
		{"cost = budget + 1", "(= (cost r) (add (budget g) one))"},
		{"cost = max int64", "(= (cost r) maxint)"},
	}
	names = []choice{
		{"same effect, same scope", "(and (= (g-effect g) (r-effect r)) (= (g-scope g) (r-scope r)))"},
		{"same effect, other scope", "(and (= (g-effect g) (r-effect r)) (not (= (g-scope g) (r-scope r))))"},
		{"other effect, same scope", "(and (not (= (g-effect g) (r-effect r))) (= (g-scope g) (r-scope r)))"},
		{"other effect, other scope", "(not (or (= (g-effect g) (r-effect r)) (= (g-scope g) (r-scope r))))"},
	}
)

// Corners asks a solver for an input at every combination of boundaries and
// verdicts, and returns those that exist, in a fixed order. The solver must know
// push and pop: z3.
func Corners(ctx context.Context, book *spec.Book, solver z3.Program, limit time.Duration) ([]Boundary, error) {
	s, err := solver.Start(ctx, limit, "boundary inputs")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	constants := spec.Chunk{File: "the corners", Text: "(declare-const g Grant)\n(declare-const r Request)\n"}
	if err := s.Tell(append(book.Script(spec.BV64, spec.String, "decision"), constants)...); err != nil {
		return nil, err
	}
	var out []Boundary
	for _, name := range names {
		for _, now := range nows {
			for _, cost := range costs {
				for _, verdict := range verdicts {
					goal := []string{name.formula, now.formula, cost.formula, "(= (judge g r) " + verdict + ")"}
					p, ok, err := corner(s, goal)
					if err != nil {
						return nil, err
					}
					if ok {
						words := strings.Join([]string{name.words, now.words, cost.words, verdict}, ", ")
						out = append(out, Boundary{words, p})
					}
				}
			}
		}
	}
	return out, nil
}

func corner(s *z3.Process, goal []string) (Pair, bool, error) {
	text := "(push 1)\n(assert (and " + strings.Join(goal, " ") + "))\n"
	a, err := s.CheckSat(spec.Chunk{File: "a corner", Text: text})
	if err != nil || a == z3.Unknown {
		if err == nil {
			err = fault.New("drift: corners", fault.Failed, "the solver does not decide %s", text)
		}
		return Pair{}, false, err
	}
	end := spec.Chunk{File: "a corner", Text: "(pop 1)\n"}
	if a == z3.Unsat {
		return Pair{}, false, s.Tell(end)
	}
	values, err := s.Ask(spec.Chunk{File: "a corner", Text: "(get-value (g r))\n"}, end)
	if err != nil {
		return Pair{}, false, err
	}
	p, ok := readPair(values)
	if !ok {
		return Pair{}, false, fault.New("drift: corners", fault.Failed, "the solver's input %v is not understood", values)
	}
	return p, true, nil
}

func readPair(values []smtlib.Node) (Pair, bool) {
	if len(values) != 1 || len(values[0].List) != 2 || len(values[0].List[0].List) != 2 || len(values[0].List[1].List) != 2 {
		return Pair{}, false
	}
	g, okGrant := readGrant(values[0].List[0].List[1])
	r, okRequest := readRequest(values[0].List[1].List[1])
	return Pair{g, r}, okGrant && okRequest
}

func readRequest(n smtlib.Node) (law.Request, bool) {
	if n.Head() != "request" || len(n.List) != 5 {
		return law.Request{}, false
	}
	cost, ok1 := readNum(n.List[3])
	now, ok2 := readNum(n.List[4])
	return law.Request{Effect: law.Effect(n.List[1].Text()), Scope: law.Scope(n.List[2].Text()), Cost: cost, Now: now}, ok1 && ok2
}
