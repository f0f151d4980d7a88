// Package plan reads what a transition answers, holds it to the plan laws, and
// composes what a call answers.
//
// It promises that a plan is parsed once, from bounded bytes, into canonical
// form; that a Plan value has passed L1 to L7 against the declared effects it
// was read with; and that one set of evidence composes to one output, byte for
// byte, whether live or in replay. The laws are pure functions over small fact
// structs (laws.go), apart from the reading that fills them, so that they can be
// proved equal to a model. It runs nothing, stores nothing and decides no effect.
//
// Source: reference rules for plans and results; DESIGN D5, "One call" 4 and 7.
package plan
