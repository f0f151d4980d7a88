// Package drift holds the Go law to the model in spec/z3 by sampling: the same
// inputs go through broker/law and through a solver that evaluates the model,
// and the whole answers must be equal.
//
// It promises that every difference it meets is reported with its input, that
// its inputs are made from a seed that it names, and that a run which never met
// some verdict or boundary is a failure. It proves nothing: what was not sampled
// was not compared. Proof for all inputs is package validate beside it.
package drift
