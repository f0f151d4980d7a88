// Package law decides whether a capability grant allows a requested effect.
//
// It is the Go transcription of the SMT model in spec/z3 and promises to be
// equal to it for all inputs: package drift compares the two by sampling and,
// function by function, by proof. It is pure: no I/O, no clock, no allocation,
// no imports. It does not know sessions, episodes, durable spend or text
// grammars; callers hand it numbers that they have already read.
//
// Source: the page "Effects, capabilities and budgets", sections "The broker"
// and "Capabilities (grants)".
package law

// Effect names a kind of action on the outside world, such as "Workspace.Read".
type Effect string

// Scope names what an effect acts on. Scopes are compared as exact strings.
type Scope string

// Triple is an effect with its scope and cost, as descriptors declare it.
type Triple struct {
	Effect Effect
	Scope  Scope
	Cost   int64 // calls
}

// Grant is one capability: up to Budget calls of Effect on Scope before ExpiresAt.
type Grant struct {
	Effect    Effect
	Scope     Scope
	ExpiresAt int64 // unix seconds, exclusive
	Budget    int64 // calls left
}

// Request asks for one effect at one moment.
type Request struct {
	Effect Effect
	Scope  Scope
	Cost   int64 // calls
	Now    int64 // logical unix seconds
}

// Verdict is the answer of the law. The values are ordered by progress through
// the checks, and that order is the law over many grants. Append only: labels
// cross the wire.
type Verdict int

const (
	DeniedEffectName Verdict = iota // no grant for this effect name
	DeniedScope                     // a grant exists, but for a different scope
	DeniedExpired                   // now is outside 0 <= now < expiresAt
	DeniedBudget                    // the remaining budget is below the cost
	Allowed
)

// Label returns the fixed string of the verdict that records and replies carry.
func (v Verdict) Label() string {
	switch v {
	case DeniedEffectName:
		return "denied:effect-name"
	case DeniedScope:
		return "denied:scope"
	case DeniedExpired:
		return "denied:expired"
	case DeniedBudget:
		return "denied:budget"
	case Allowed:
		return "allowed"
	}
	panic("law: verdict outside its enumeration")
}
