// Package mutate breaks the law in every small way and holds the checks to
// noticing: mutants of the models must break a theorem, mutants of the Go law
// must be refuted by validation and killed by sampling, or else the solvers must
// prove them equivalent to what they were made from. Mutants of the code that reads
// text into facts must be killed by the tests of its package.
//
// It promises that every mutant of its operators is tried or, in a sample, that
// the sample is fixed by its size; that a mutant is called equivalent only on a
// proof by every solver or, of code that reads text, by a list with reasons that is
// refused where a test refutes it; and that whatever else survives is in the report. It
// does not promise that its operators are all the ways to be wrong.
package mutate

import (
	"fmt"
	"go/token"
	"slices"
)

// Mutant is a text with one small change.
type Mutant struct {
	Name string // of the function or definition it is in
	File string
	Line int
	What string // "< becomes <="
	Text []byte // of the whole file
}

// String names the mutant on one line.
func (m Mutant) String() string { return fmt.Sprintf("%s:%d: %s: %s", m.File, m.Line, m.Name, m.What) }

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	with       string
}

// apply makes edits that do not overlap.
func apply(text []byte, edits ...edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return b.start - a.start })
	out := slices.Clone(text)
	for _, e := range edits {
		out = slices.Replace(out, e.start, e.end, []byte(e.with)...)
	}
	return out
}

// Sample returns n of the mutants, spread evenly over them; all if n is 0.
func Sample[M any](mutants []M, n int) []M {
	if n == 0 || n >= len(mutants) {
		return mutants
	}
	out := make([]M, n)
	for i := range out {
		out[i] = mutants[i*len(mutants)/n]
	}
	return out
}

// What may stand for an operator: every other one of its class.
var (
	ordering  = []token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ}
	equality  = []token.Token{token.EQL, token.NEQ}
	logic     = []token.Token{token.LAND, token.LOR}
	sums      = []token.Token{token.ADD, token.SUB, token.MUL}
	storing   = []token.Token{token.ASSIGN, token.ADD_ASSIGN, token.SUB_ASSIGN}
	increment = []token.Token{token.INC, token.DEC}
)
