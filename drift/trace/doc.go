// Package trace checks journals, as stores keep them, against the journal model of
// spec/z3: every step must be lawful in the state that the steps before it lead
// to, the rows must end where the steps end, and every invariant must hold of them.
//
// The model's step relation and invariants are transcribed in Go, and the
// transcription is held to the model by a solver on random states and events.
//
// It promises that a journal is called lawful only if an order of the model's
// events is found that agrees with the log, with the intents' ordinals and with
// what their rows say, and leads to those rows. What no row shows is taken as the
// model allows it: when a handler ran, when a lease changed hands, and that an
// intent was written before its session was revoked. It does not check bytes:
// that is package fsck.
package trace
