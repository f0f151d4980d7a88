// Package relate says how two laws stand to each other, and two sets of grants.
//
// A law is a file that defines again what spec/z3/decision.smt2 defines, over the
// same datatypes. One law is at least as wide as another if it allows every
// request over every list of grants that the other allows, and leaves at least as
// much of each grant. Both ways round is equivalent; the verdict and the words of
// a denial do not count, and a difference in them is told apart.
//
// It promises that a relation is answered only on a proof by every solver, for
// lists of any length and in 64 bits, and that a direction is said to fail only
// with a list of grants and a request on which both laws were run. Where neither
// is found it says so. It does not promise to decide every two laws.
package relate

import (
	"time"

	"world/z3"
)

// Options say who is asked.
type Options struct {
	Solvers []z3.Program  // each must agree; the first looks for witnesses
	Limit   time.Duration // for one question
}
