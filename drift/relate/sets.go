package relate

import (
	"context"
	"fmt"
	"strings"

	"world/broker/law"
	"world/drift"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

// Shape is a set of requests. An empty text stands for any.
type Shape struct {
	Effect law.Effect
	Scope  law.Scope
	Cost   Range // calls
	Now    Range // unix seconds
}

// Range is the numbers from Low to High, both included.
type Range struct{ Low, High int64 }

// Often is how many of a shape's requests a set of grants allows.
type Often string

// What a set may say to a shape.
const (
	Never     Often = "never"
	Sometimes Often = "sometimes"
	Always    Often = "always"
)

// Comparison relates two sets of grants by the requests of a shape that they
// allow. Budgets count: a request of a cost that only one can pay tells them apart.
type Comparison struct {
	OnlyA, OnlyB, Both *law.Request // a request that only A, only B or both allow; nil if there is none
	Neither            *law.Request
}

// Equivalent reports whether both sets allow the same.
func (c Comparison) Equivalent() bool { return c.OnlyA == nil && c.OnlyB == nil }

// Disjoint reports whether no request is allowed by both.
func (c Comparison) Disjoint() bool { return c.Both == nil }

// AImpliesB reports whether B allows all that A allows.
func (c Comparison) AImpliesB() bool { return c.OnlyA == nil }

// BImpliesA reports whether A allows all that B allows.
func (c Comparison) BImpliesA() bool { return c.OnlyB == nil }

// A returns how often the first set allows a request of the shape.
func (c Comparison) A() Often { return often(c.OnlyA, c.Both, c.OnlyB, c.Neither) }

// B returns how often the second set allows a request of the shape.
func (c Comparison) B() Often { return often(c.OnlyB, c.Both, c.OnlyA, c.Neither) }

func often(mine, both, theirs, neither *law.Request) Often {
	switch {
	case mine == nil && both == nil:
		return Never
	case theirs == nil && neither == nil:
		return Always
	}
	return Sometimes
}

// Compare relates two sets of grants, each in mint order, under a law. Every "no
// such request" is a proof by every solver, every request was decided by it.
func Compare(ctx context.Context, l Law, a, b []law.Grant, shape Shape, o Options) (Comparison, error) {
	if shape.Cost.Low > shape.Cost.High || shape.Now.Low > shape.Now.High {
		return Comparison{}, fault.New("compare", fault.Invalid, "the shape of the request holds none: a range ends before it begins")
	}
	if err := l.sound(ctx, o); err != nil {
		return Comparison{}, err
	}
	s := &sets{l: l, o: o, a: a, b: b, shape: shape}
	var c Comparison
	for _, q := range []struct {
		to       **law.Request
		inA, inB bool
	}{{&c.OnlyA, true, false}, {&c.OnlyB, false, true}, {&c.Both, true, true}, {&c.Neither, false, false}} {
		var err error
		if *q.to, err = s.find(ctx, q.inA, q.inB); err != nil {
			return c, err
		}
	}
	return c, nil
}

type sets struct {
	l     Law
	o     Options
	a, b  []law.Grant
	shape Shape
}

// find looks for a request that each set allows or not, as wanted, a readable one
// first.
func (s *sets) find(ctx context.Context, inA, inB bool) (*law.Request, error) {
	wants := fmt.Sprintf("(assert (= (= (verdict %s) allowed) %t))\n(assert (= (= (verdict %s) allowed) %t))\n",
		drift.FoldTerm(s.a, "r"), inA, drift.FoldTerm(s.b, "r"), inB)
	var found *law.Request
	for _, solver := range s.o.Solvers {
		p, err := solver.Start(ctx, s.o.Limit, "the comparison")
		if err != nil {
			return nil, err
		}
		r, err := s.ask(p, wants)
		p.Close()
		if err != nil {
			return nil, err
		}
		if (r == nil) != (found == nil) && solver.Name != s.o.Solvers[0].Name {
			return nil, fault.New("compare", fault.Failed, "the solvers do not agree whether there is a request")
		}
		if r != nil {
			if err := s.confirm(ctx, solver, *r, inA, inB); err != nil {
				return nil, err
			}
		}
		if found == nil {
			found = r
		}
	}
	return found, nil
}

func (s *sets) ask(p *z3.Process, wants string) (*law.Request, error) {
	reset := spec.Chunk{File: "the reset", Text: "(reset)\n"}
	for _, pleasant := range []string{s.pleasant(), ""} {
		question := spec.Chunk{File: "the question", Text: "(declare-const r Request)\n" + s.inShape() + wants + pleasant}
		answer, err := p.CheckSat(append(append([]spec.Chunk{reset}, s.l.alone()...), question)...)
		if err != nil {
			return nil, err
		}
		if answer == z3.Unsat {
			continue
		}
		if answer != z3.Sat {
			return nil, Undecided("a solver does not know whether there is a request")
		}
		values, err := valuesOf(p, "asked", []string{"r"})
		if err != nil {
			return nil, err
		}
		r, ok := drift.ReadRequest(values[0])
		if !ok {
			return nil, fault.New("compare", fault.Failed, "the request %s is not understood", values[0])
		}
		return &r, nil
	}
	return nil, nil
}

// inShape asserts that r is of the shape.
func (s *sets) inShape() string {
	out := ""
	if s.shape.Effect != "" {
		out += "(assert (= (r-effect r) " + smtlib.Quote(string(s.shape.Effect)) + "))\n"
	}
	if s.shape.Scope != "" {
		out += "(assert (= (r-scope r) " + smtlib.Quote(string(s.shape.Scope)) + "))\n"
	}
	for of, in := range map[string]Range{"cost": s.shape.Cost, "now": s.shape.Now} {
		out += fmt.Sprintf("(assert (and (le %s (%s r)) (le (%[2]s r) %s)))\n", drift.Num(in.Low), of, drift.Num(in.High))
	}
	return out
}

// pleasant asserts that r is good to read: of the names that the grants have, and
// of a cost that the model of the law does not refuse for being negative.
func (s *sets) pleasant() string {
	var effects, scopes strings.Builder
	for _, g := range append(append([]law.Grant{{Effect: "Other.Effect", Scope: "other"}}, s.a...), s.b...) {
		fmt.Fprintf(&effects, " (= (r-effect r) %s)", smtlib.Quote(string(g.Effect)))
		fmt.Fprintf(&scopes, " (= (r-scope r) %s)", smtlib.Quote(string(g.Scope)))
	}
	if s.shape.Effect != "" {
		effects.WriteString(" true")
	}
	if s.shape.Scope != "" {
		scopes.WriteString(" true")
	}
	return "(assert (or" + effects.String() + "))\n(assert (or" + scopes.String() + "))\n(assert (and (lt zero (cost r)) (le zero (now r))))\n"
}

// confirm runs the law on both sets.
func (s *sets) confirm(ctx context.Context, solver z3.Program, r law.Request, inA, inB bool) error {
	m, err := drift.Open(ctx, s.l.Book, solver, s.o.Limit)
	if err != nil {
		return err
	}
	defer m.Close()
	d, err := m.Decide([]drift.Case{{Grants: s.a, Request: r}, {Grants: s.b, Request: r}})
	if err != nil {
		return err
	}
	if (d[0].Verdict == law.Allowed) != inA || (d[1].Verdict == law.Allowed) != inB {
		return fault.New("compare", fault.Failed, "running the law does not confirm the request %+v", r)
	}
	return nil
}
