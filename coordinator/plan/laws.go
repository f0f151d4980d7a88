package plan

import "world/broker/law"

const (
	// MaxEffects is how many effects a v1 plan carries at most.
	MaxEffects = 1
	// MaxPayload is the largest canonical payload, in bytes.
	MaxPayload = 1 << 20

	maxID = 16 // bytes of an effect id
)

// Verdict is the answer of a plan law: Lawful, or the first law broken. Append only.
type Verdict int

const (
	Lawful           Verdict = iota
	ReservedInPlan           // L6
	TooManyEffects           // L1
	BadID                    // L2
	RepeatedID               // L2
	PayloadKind              // L4
	Undeclared               // L3
	PayloadSize              // L4
	ResultMissing            // L7
	ResultUnwanted           // L7
	ResultShape              // L7
	FinishAlone              // L7
	ReservedInResult         // L6
	OutputKind               // L6
	ReservedInOutput         // L6
	EffectsInOutput          // L6
)

// Law returns the name of the law that a verdict reports. L5, the order of
// effects in a plan of several, is reserved: v1 plans carry one at most, so it
// is empty and no verdict names it.
func (v Verdict) Law() string {
	switch v {
	case TooManyEffects:
		return "L1"
	case BadID, RepeatedID:
		return "L2"
	case Undeclared:
		return "L3"
	case PayloadKind, PayloadSize:
		return "L4"
	case ReservedInPlan, ReservedInResult, OutputKind, ReservedInOutput, EffectsInOutput:
		return "L6"
	case ResultMissing, ResultUnwanted, ResultShape, FinishAlone:
		return "L7"
	}
	panic("plan: a lawful verdict names no law")
}

// Facts is what the laws read of a plan as a whole.
type Facts struct {
	Reserved       bool // the plan has a member "world"
	Effects        int
	Finish         bool
	ResultNull     bool
	ResultObject   bool
	ResultReserved bool // the result has a member "world"
}

// EffectFacts is what the laws read of one planned effect.
type EffectFacts struct {
	ID            string
	Declared      bool // by Declared
	PayloadObject bool
	PayloadBytes  int // canonical
}

// OutputFacts is what the laws read of an output that a transition composed.
type OutputFacts struct {
	Object   bool
	Reserved bool // a member "world"
	Effects  bool // a member "effects"
	Finish   bool // it is the output of a finish phase
}

// JudgeSize holds a plan to its reserved key (L6) and its number of effects (L1).
func JudgeSize(f Facts) Verdict {
	if f.Reserved {
		return ReservedInPlan
	}
	if f.Effects < 0 || f.Effects > MaxEffects {
		return TooManyEffects
	}
	return Lawful
}

// JudgeEffect holds one effect to its id (L2), its declaration (L3) and its payload (L4).
func JudgeEffect(e EffectFacts) Verdict {
	if !LawfulID(e.ID) {
		return BadID
	}
	if !e.PayloadObject {
		return PayloadKind
	}
	if !e.Declared {
		return Undeclared
	}
	if e.PayloadBytes < 0 || e.PayloadBytes > MaxPayload {
		return PayloadSize
	}
	return Lawful
}

// JudgeResult holds a plan to the balance of effects, result and finish (L7),
// and its result to the reserved key (L6).
func JudgeResult(f Facts) Verdict {
	if !f.ResultNull && !f.ResultObject {
		return ResultShape
	}
	if f.Effects == 0 && !f.ResultObject {
		return ResultMissing
	}
	if f.Effects != 0 && f.ResultObject {
		return ResultUnwanted
	}
	if f.Effects == 0 && f.Finish {
		return FinishAlone
	}
	if f.ResultReserved {
		return ReservedInResult
	}
	return Lawful
}

// JudgeOutput holds what a transition composed to the reserved keys (L6).
func JudgeOutput(f OutputFacts) Verdict {
	if !f.Object {
		return OutputKind
	}
	if f.Reserved {
		return ReservedInOutput
	}
	if f.Finish && f.Effects {
		return EffectsInOutput
	}
	return Lawful
}

// LawfulID reports whether an effect id matches [a-z0-9]{1,16} (L2).
func LawfulID(id string) bool {
	if len(id) < 1 || len(id) > maxID {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// Once reports whether exactly one effect has that id (L2).
func Once(effects []EffectFacts, id string) bool {
	n := 0
	for i := range effects {
		if effects[i].ID == id {
			n++
		}
	}
	return n == 1
}

// Declared reports whether a triple equals a declared one exactly (L3).
func Declared(declared []law.Triple, t law.Triple) bool {
	for i := range declared {
		if declared[i] == t {
			return true
		}
	}
	return false
}
