package validate

import (
	"fmt"
	"slices"
	"strings"

	"world/drift/ssasmt"
)

// Obligation is one thing to prove about one function.
type Obligation struct {
	Func     *ssasmt.Func
	Name     string // "equal", or the part of an induction
	declares []ssasmt.Param
	assume   []string
	goal     string
	occurs   string  // besides the hypotheses, must be possible: else the goal is about nothing
	show     []shown // what a counterexample shows
}

// shown is a term of the counterexample.
type shown struct {
	label string
	term  string
	sort  string
}

// proof is a set of obligations that together prove a function equal to its
// answer in the bridge.
type proof []Obligation

// prover makes the obligations of one function.
type prover struct {
	f *ssasmt.Func
	b bridge
	p string // the parameters, as arguments
}

func newProver(f *ssasmt.Func, b bridge) prover {
	var names []string
	for _, p := range f.Params {
		names = append(names, p.Symbol)
	}
	return prover{f, b, strings.Join(names, " ")}
}

// proofs returns ways to prove the function; one is enough.
func (v prover) proofs() []proof {
	if v.f.Loop == nil {
		return []proof{{v.equal()}}
	}
	if v.has(final) {
		return []proof{v.induction(true), v.induction(false)}
	}
	return []proof{v.induction(false)}
}

func (v prover) has(role string) bool { _, ok := v.b[role+v.f.Name]; return ok }

// role applies the bridge's definition for the function to arguments after the
// parameters; absent is the meaning of a definition that is not there.
func (v prover) role(role, absent string, more ...string) string {
	if absent != "" && !v.has(role) {
		return absent
	}
	return call(role+v.f.Name, append([]string{v.p}, more...)...)
}

// part applies one of the definitions of the translated function.
func (v prover) part(suffix string, more ...string) string {
	return call(v.f.Symbol+suffix, append([]string{v.p}, more...)...)
}

// equal: the function panics exactly when it must, and otherwise answers what
// it must.
func (v prover) equal() Obligation {
	mustPanic := v.role(panics, "false")
	return Obligation{
		Func: v.f, Name: "equal", declares: v.f.Params, occurs: "(not " + mustPanic + ")",
		goal: fmt.Sprintf("(and (= %s %s) (or %s (= %s %s)))", v.part(".panics"), mustPanic, mustPanic, v.part(""), v.role(want, "")),
		show: v.answers(v.part(".panics"), mustPanic, v.part(""), v.role(want, "")),
	}
}

func (v prover) answers(panics, mustPanic, value, wanted string) []shown {
	var out []shown
	for _, p := range v.f.Params {
		if v.f.Loop == nil || p != v.f.Loop.Over || v.f.Loop.Elem == "" {
			out = append(out, shown{strings.TrimPrefix(p.Symbol, "p."), p.Symbol, p.Sort})
		}
	}
	return append(out,
		shown{"panics", panics, ssasmt.Bool}, shown{"must panic", mustPanic, ssasmt.Bool},
		shown{"answers", value, v.f.Result}, shown{"must answer", wanted, v.f.Result})
}

// induction proves a function with a loop. Let A(0) be the bridge's start and
// A(i+1) its step of A(i) and element i; the function must answer want(A(n)) for
// a list of n elements. By induction over i, at the beginning of turn i the
// relation same(i, state, A(i)) holds: "start" is its base and "turn" its step.
// When the loop ends by itself i is n, and "end" gives the answer. When a turn
// leaves the function, it answers want(A(i+1)), and A(i+1) is final, so that by
// "settled", which is an induction over the rest of the list, A(n) is the same; so
// it is when the loop is not even reached, unless the list is empty.
// That these four give the whole is the one step made on paper.
//
// With open, the induction also holds that A(i) is not final while the loop runs.
func (v prover) induction(open bool) proof {
	l := v.f.Loop
	accumulator := v.b[start+v.f.Name].sort
	same := func(i, state, a string) string {
		return v.role(same, fmt.Sprintf("(= %s %s)", v.part(".after", i, state), v.role(want, "", a)), i, state, a)
	}
	isFinal := func(a string) string { return v.role(final, "false", a) }
	running := func(a string) string {
		if open {
			return "(not " + isFinal(a) + ")"
		}
		return "true"
	}
	elem := "(go.byte " + l.Over.Symbol + " i)"
	turnParams := []string{"i", "state"}
	declares := append(slices.Clone(v.f.Params), ssasmt.Param{Symbol: "i", Sort: ssasmt.Int}, ssasmt.Param{Symbol: "state", Sort: l.State}, ssasmt.Param{Symbol: "a", Sort: accumulator})
	if l.Elem != "" {
		elem, turnParams = "elem", []string{"i", "elem", "state"}
		declares = append(declares, ssasmt.Param{Symbol: "elem", Sort: l.Elem})
	}
	zero, next := "#x0000000000000000", "(bvadd i #x0000000000000001)"
	first, after := v.role(start, ""), v.role(step, "", "i", elem, "a")
	within := fmt.Sprintf("(and (bvsle %s i) (bvslt i %s))", zero, l.Length)
	early := fmt.Sprintf("(and (= %s %s) (or %s (= %s %s)))", v.part(".early"), v.role(want, "", first), isFinal(first), l.Length, zero)
	leaves := fmt.Sprintf("(and (= %s %s) %s)", v.part(".exit", turnParams...), v.role(want, "", after), isFinal(after))
	enters := v.part(".enters")

	out := proof{{
		Func: v.f, Name: "start", declares: v.f.Params,
		goal: fmt.Sprintf("(and (not %s) (ite %s (and %s %s) %s))", v.part(".panics.before"), enters, same(zero, v.part(".before"), first), running(first), early),
	}, {
		Func: v.f, Name: "turn", declares: declares, occurs: v.part(".again", turnParams...),
		assume: []string{within, enters, same("i", "state", "a"), running("a")},
		goal: fmt.Sprintf("(and (not %s) (ite %s (and %s %s) %s))", v.part(".panics.turn", turnParams...), v.part(".again", turnParams...),
			same(next, v.part(".turn", turnParams...), after), running(after), leaves),
	}, {
		Func: v.f, Name: "end", declares: declares,
		assume: []string{"(= i " + l.Length + ")", enters, same("i", "state", "a"), running("a")},
		goal:   fmt.Sprintf("(and (not %s) (= %s %s))", v.part(".panics.after", "i", "state"), v.part(".after", "i", "state"), v.role(want, "", "a")),
	}}
	if v.has(final) {
		out = append(out, Obligation{
			Func: v.f, Name: "settled", declares: declares,
			assume: []string{within, isFinal("a")},
			goal:   fmt.Sprintf("(= %s a)", after),
		})
	}
	return out
}

// bounded asks for the function to be right on every list or text of exactly n
// elements. It proves nothing more; it is how a broken loop gets a concrete
// counterexample.
func (v prover) bounded(n int) Obligation {
	l := v.f.Loop
	o := Obligation{
		Func: v.f, Name: fmt.Sprintf("length %d", n), declares: slices.Clone(v.f.Params),
		assume: []string{fmt.Sprintf("(= %s #x%016x)", l.Length, n)},
	}
	var args, elems []string
	for _, p := range v.f.Params {
		args = append(args, p.Symbol)
	}
	a := v.role(start, "")
	for j := range n {
		elem := fmt.Sprintf("(go.byte %s #x%016x)", l.Over.Symbol, j)
		if l.Elem != "" {
			elem = fmt.Sprintf("elem%d", j)
			o.declares = append(o.declares, ssasmt.Param{Symbol: elem, Sort: l.Elem})
			o.show = append(o.show, shown{fmt.Sprintf("%s[%d]", strings.TrimPrefix(l.Over.Symbol, "p."), j), elem, l.Elem})
		}
		elems = append(elems, elem)
		a = v.role(step, "", fmt.Sprintf("#x%016x", j), elem, a)
	}
	value, panics := v.f.Call(args, n, elems)
	o.goal = fmt.Sprintf("(and (not %s) (= %s %s))", panics, value, v.role(want, "", a))
	o.show = append(o.show, v.answers(panics, "false", value, v.role(want, "", a))...)
	return o
}

// call writes an application; one without arguments is a plain name.
func call(symbol string, args ...string) string {
	joined := strings.TrimSpace(strings.Join(args, " "))
	if joined == "" {
		return symbol
	}
	return "(" + symbol + " " + joined + ")"
}
