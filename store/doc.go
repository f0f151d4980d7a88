// Package store says what World keeps and what keeping it promises.
//
// It holds the types that are kept and the contract, Store, that every engine
// meets; store/storetest is that contract as a suite. The contract promises:
// a method that returns nil has made its whole change durable; one that returns
// an error has changed nothing, except kind Uncertain, which says that it is
// not known; invariants (one claim an invocation id, at most one outcome an
// intent, spend within the guarded budget, one dense chained log, one writer an
// episode) rest on the engine's transactions and constraints, never on the
// memory of a process. It does not decide anything: the law does.
//
// Source: DESIGN decisions D7 to D10 and D13 to D17.
package store
