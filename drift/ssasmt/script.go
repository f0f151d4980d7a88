package ssasmt

import (
	"fmt"
	"strings"
)

// The meaning of text in a script. In proofs text is a sort of its own with a
// length and bytes about which nothing more is assumed than what holds for the
// unit's literals; so what is proved holds for all text. For evaluation text is
// the solver's strings, one character a byte.
const (
	proofText = `(declare-fun go.text (String) Text)
(declare-fun go.len.63 (Text) (_ BitVec 63))
(define-fun go.len ((s Text)) (_ BitVec 64) (concat #b0 (go.len.63 s)))
(declare-fun go.byte (Text (_ BitVec 64)) (_ BitVec 8))
`
	stringText = `(define-fun go.text ((s String)) Text s)
(define-fun go.len ((s Text)) (_ BitVec 64) ((_ int2bv 64) (str.len s)))
(define-fun go.byte ((s Text) (i (_ BitVec 64))) (_ BitVec 8)
  ((_ int2bv 8) (str.to_code (str.at s (bv2nat i)))))
`
)

// Proof returns the unit's definitions for a script that has declared the sort
// Text. More names further literals that the script uses.
func (u *Unit) Proof(more ...string) string {
	var out strings.Builder
	out.WriteString(proofText)
	known := map[string]bool{}
	var names []string
	for _, s := range append(append([]string{}, u.Literals...), more...) {
		if known[s] {
			continue
		}
		known[s] = true
		name := "(go.text " + Quote(s) + ")"
		names = append(names, name)
		fmt.Fprintf(&out, "(assert (= (go.len %s) #x%016x))\n", name, len(s))
		for i := range len(s) {
			fmt.Fprintf(&out, "(assert (= (go.byte %s #x%016x) #x%02x))\n", name, i, s[i])
		}
	}
	if len(names) > 1 {
		fmt.Fprintf(&out, "(assert (distinct %s))\n", strings.Join(names, " "))
	}
	return out.String() + u.definitions()
}

// Evaluation returns the unit's definitions for concrete input, in a script
// that has defined Text as String.
func (u *Unit) Evaluation() string { return stringText + u.definitions() }

func (u *Unit) definitions() string {
	var out strings.Builder
	for _, s := range u.Sorts {
		out.WriteString(s + "\n")
	}
	for _, f := range u.Funcs {
		out.WriteString(f.Defs)
	}
	return out.String()
}

// Call returns the terms of f's value and of its panicking on the arguments. For
// a function with a loop, turns is the length of its list or text, which the
// script must assert; elems are the elements of the list, none for a text.
func (f *Func) Call(args []string, turns int, elems []string) (value, panics string) {
	p := strings.Join(args, " ")
	if f.Loop == nil {
		return apply(f.Symbol, p), apply(f.Symbol+".panics", p)
	}
	for j := turns; j >= 0; j-- {
		at := fmt.Sprintf("%s #x%016x %s", p, j, stateName(j))
		if j == turns {
			value, panics = apply(f.Symbol+".after", at), apply(f.Symbol+".panics.after", at)
			continue
		}
		if f.Loop.Elem != "" {
			at = fmt.Sprintf("%s #x%016x %s %s", p, j, elems[j], stateName(j))
		}
		next := fmt.Sprintf("(let ((%s %s)) ", stateName(j+1), apply(f.Symbol+".turn", at))
		again := apply(f.Symbol+".again", at)
		value = fmt.Sprintf("(ite %s %s%s) %s)", again, next, value, apply(f.Symbol+".exit", at))
		panics = fmt.Sprintf("(or %s (and %s %s%s)))", apply(f.Symbol+".panics.turn", at), again, next, panics)
	}
	enters := apply(f.Symbol+".enters", p)
	first := fmt.Sprintf("(let ((%s %s)) ", stateName(0), apply(f.Symbol+".before", p))
	value = fmt.Sprintf("(ite %s %s%s) %s)", enters, first, value, apply(f.Symbol+".early", p))
	panics = fmt.Sprintf("(or %s (and %s %s%s)))", apply(f.Symbol+".panics.before", p), enters, first, panics)
	return value, panics
}

func stateName(turn int) string { return fmt.Sprintf("state.%d", turn) }

// apply writes a call; one without arguments is a plain name in SMT-LIB.
func apply(symbol, args string) string {
	if strings.TrimSpace(args) == "" {
		return symbol
	}
	return "(" + symbol + " " + args + ")"
}
