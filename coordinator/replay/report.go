package replay

import "world/store"

// Verdict is how the replay of a call ended. Append only.
type Verdict string

const (
	Same         Verdict = "same"
	Diverged     Verdict = "diverged"
	Unreplayable Verdict = "unreplayable"
)

// Reason says why a call cannot be replayed. Append only.
type Reason string

const (
	NoEntry           Reason = "no entry"           // claimed, and running or cut short
	Reconciled        Reason = "reconciled"         // closed by an operator's word, without an answer
	InterpreterAbsent Reason = "interpreter absent" // or not the bytes its ref names
	Machine           Reason = "machine"            // it ended, there or here, by a limit of time or memory
	Handlers          Reason = "handlers"           // refused because a daemon had no handler: that is not evidence
)

// Position names the place of a divergence, in the order of checking. Append only.
type Position string

const (
	AtEvidence     Position = "evidence" // something named is missing or corrupt
	AtEntry        Position = "entry"
	AtClaim        Position = "claim"
	AtDescriptor   Position = "descriptor"
	AtAdmission    Position = "admission"
	AtPlan         Position = "plan"
	AtRequest      Position = "request"
	AtSpend        Position = "spend"
	AtDecision     Position = "decision"
	AtIntent       Position = "intent"
	AtEffectRecord Position = "effect record"
	AtOutput       Position = "output"
	AtRecord       Position = "invocation record"
)

// Report is the replay of one call. Wanted is what is recorded and Got what
// follows from the evidence; both are set exactly when it diverged.
type Report struct {
	Invocation store.InvocationID
	Verdict    Verdict
	Reason     Reason   // when unreplayable
	Position   Position // when diverged
	Wanted     string
	Got        string
}

// Counts sums reports.
type Counts struct {
	Same         int
	Diverged     int
	Unreplayable map[Reason]int
}

func (c *Counts) add(r Report) {
	switch r.Verdict {
	case Same:
		c.Same++
	case Diverged:
		c.Diverged++
	case Unreplayable:
		if c.Unreplayable == nil {
			c.Unreplayable = map[Reason]int{}
		}
		c.Unreplayable[r.Reason]++
	}
}

// divergence is a finding on its way up.
type divergence struct {
	position    Position
	wanted, got string
}

func (d divergence) Error() string {
	return "replay: " + string(d.position) + ": wanted " + d.wanted + ", got " + d.got
}

// unreplayable is a reason on its way up.
type unreplayable Reason

func (u unreplayable) Error() string { return "replay: " + string(u) }

// same reports a divergence unless the two agree.
func same[T ~string](at Position, what string, wanted, got T) error {
	if wanted == got {
		return nil
	}
	return divergence{at, what + " " + shown(wanted), what + " " + shown(got)}
}
