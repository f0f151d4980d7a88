package store

import "world/broker/law"

// Claim takes an invocation id for one call. It is unique and immutable: the
// same id with another transition or input is a conflict (D12).
type Claim struct {
	Invocation   InvocationID
	Episode      EpisodeID
	Transition   TransitionID
	TransitionFn Ref
	Input        Ref
	Session      Ref   // session object
	At           int64 // logical unix seconds
}

// Lease is the right to run an episode's effects. Epoch is the fencing token:
// it grows each time the lease changes hands or is given up, and a holder with
// an old epoch can write nothing (D14).
type Lease struct {
	Episode EpisodeID
	Epoch   int64
}

// Intention is what transaction 1 makes durable: the write-ahead of an effect.
type Intention struct {
	Claim   Claim
	Objects []Object // input, plan, request
	Effect  law.Effect
	Scope   law.Scope
	Cost    int64 // calls
	Budget  int64 // minted budget of the deciding grant; the guard re-seeds it
	Request Ref
	Lease   Lease
	// Credential names the session that must be there, with the claim's session as
	// its object, and not be revoked; "" asks for none.
	Credential CredentialID
}

// Status is how an intent stands. Append only: it is stored.
type Status string

const (
	StatusOpen          Status = "" // no outcome yet: running or indeterminate by epoch
	StatusSucceeded     Status = "succeeded"
	StatusFailed        Status = "failed"
	StatusIndeterminate Status = "indeterminate" // the handler could not tell
)

// Intent is a durable effect intent, with its outcome when there is one.
type Intent struct {
	Episode    EpisodeID
	Ordinal    int64 // dense from 0 within the episode
	Invocation InvocationID
	Effect     law.Effect
	Scope      law.Scope
	Cost       int64
	Request    Ref
	At         int64 // logical unix seconds
	Epoch      int64 // of the lease it was written under
	Outcome    Outcome
	Reconciled Ref // world/reconciliation/v1, "" while unreconciled
}

// Outcome ends an intent, at most once.
type Outcome struct {
	Status Status
	Record Ref   // effect record; "" when indeterminate
	Detail Ref   // result bytes, failure text, or why nothing is known
	At     int64 // logical unix seconds
}

// Name is the intent's durable name.
func (i Intent) Name() string { return IntentName(i.Episode, i.Ordinal) }

// Finish is what transaction 2 makes durable: everything known about a call.
type Finish struct {
	Claim   Claim    // written here when Intent is nil, must equal the claimed one otherwise
	Intent  *Intent  // the intent this call opened, nil for pure, refused and denied calls
	Outcome Outcome  // of Intent; ignored without one
	Objects []Object // result, record, output, invocation record; input and plan too without an intent
	Draft   Draft
	Onto    Ref   // world that the entry must follow; "" for whatever head there is
	Lease   Lease // of Intent; ignored without one
	At      int64 // logical unix seconds
}

// Spent is the durable running total of one (effect, scope) of an episode.
type Spent struct {
	Effect law.Effect
	Scope  law.Scope
	Total  int64 // calls, saturating
}

// Ledger is an episode's spend, and the ordinal that its next intent will get.
type Ledger struct {
	Episode EpisodeID
	Next    int64
	Spent   []Spent // sorted by effect, then scope
}

// Of returns the spend on one (effect, scope).
func (l Ledger) Of(effect law.Effect, scope law.Scope) int64 {
	for _, s := range l.Spent {
		if s.Effect == effect && s.Scope == scope {
			return s.Total
		}
	}
	return 0
}
