package plan

import (
	"world/canon"
	"world/fault"
	"world/store"
	"world/store/record"
)

const (
	// MaxOutput is the largest canonical output of a call, in bytes.
	MaxOutput = 4 << 20

	// outputDepth leaves room for a result to travel inside a finish input.
	outputDepth = 48
)

// Ended is one planned effect and how it ended: all that a finish phase, an
// output and a message are made from.
type Ended struct {
	Effect Effect
	record.EffectOutcome
	Denial  string // label, "" unless denied
	Output  []byte // the handler's bytes, nil unless ok
	Message string // by Explain, "" when ok
}

// PlanInput is what the plan phase is called with.
func PlanInput(args canon.Value) []byte {
	return canon.NewObject([]canon.Member{
		{Name: "phase", Value: canon.NewString("plan")},
		{Name: "args", Value: args},
	}).Bytes()
}

// FinishInput is what the finish phase is called with. The output of an effect
// that is not ok is null. Failed when an ok output is not JSON.
func FinishInput(args canon.Value, ended []Ended) ([]byte, error) {
	results := make([]canon.Value, len(ended))
	for i, e := range ended {
		output, err := e.output()
		if err != nil {
			return nil, err
		}
		results[i] = canon.NewObject([]canon.Member{
			{Name: "id", Value: canon.NewString(e.ID)},
			{Name: "effect", Value: canon.NewString(string(e.Effect.Triple.Effect))},
			{Name: "status", Value: canon.NewString(e.Status)},
			{Name: "record", Value: refOrNull(e.Record)},
			{Name: "output", Value: output},
		})
	}
	return canon.NewObject([]canon.Member{
		{Name: "phase", Value: canon.NewString("finish")},
		{Name: "args", Value: args},
		{Name: "results", Value: canon.NewArray(results)},
	}).Bytes(), nil
}

// FinishBody reads what the finish phase answered.
func FinishBody(raw []byte) (canon.Value, error) { return transitionBody(raw, true) }

// PureBody reads what a transition without declared effects answered.
func PureBody(raw []byte) (canon.Value, error) { return transitionBody(raw, false) }

func transitionBody(raw []byte, finish bool) (canon.Value, error) {
	v, err := canon.Parse(raw, canon.Limits{Bytes: MaxAnswer})
	if err != nil {
		return v, fault.Wrap("coordinator: output", fault.Failed, err, "transition output is not JSON")
	}
	f := OutputFacts{Object: v.Kind() == canon.Object, Reserved: has(v, "world"), Effects: has(v, "effects"), Finish: finish}
	if verdict := JudgeOutput(f); verdict != Lawful {
		return v, broken(verdict, outputTexts[verdict])
	}
	return v, nil
}

var outputTexts = map[Verdict]string{
	OutputKind:       "transition output is not a JSON object",
	ReservedInOutput: `output carries the key "world"`,
	EffectsInOutput:  `finish output carries the key "effects"`,
}

// Body is the body of an output without a finish phase: the plan's result, or
// the output of the one effect. An effect that did not end ok is an error of the
// kind of its status, with its message.
func Body(p Plan, ended []Ended) (canon.Value, error) {
	if len(ended) == 0 {
		return p.Result, nil
	}
	e := ended[0]
	if e.Status != record.StatusOK {
		return canon.Value{}, fault.New("coordinator: effect", KindOf(e.Status), "%s", e.Message)
	}
	v, err := e.output()
	if err != nil {
		return v, err
	}
	f := OutputFacts{Object: v.Kind() == canon.Object, Reserved: has(v, "world")}
	if verdict := JudgeOutput(f); verdict != Lawful {
		return v, fault.New("coordinator: output", fault.Failed, "output of effect %s: %s", e.ID, outputTexts[verdict])
	}
	return v, nil
}

// output reads the handler's bytes of an ok effect.
func (e Ended) output() (canon.Value, error) {
	if e.Status != record.StatusOK {
		return canon.Value{}, nil
	}
	v, err := canon.Parse(e.Output, canon.Limits{Bytes: MaxOutput, Depth: outputDepth})
	if err != nil {
		return v, fault.Wrap("coordinator: output", fault.Failed, err, "output of effect %s is not JSON", e.ID)
	}
	return v, nil
}

// World is the block that every output carries: how each effect ended, and the
// plan, null when none came to be.
func World(ended []Ended, plan store.Ref) canon.Value {
	effects := make([]canon.Value, len(ended))
	for i, e := range ended {
		members := []canon.Member{
			{Name: "id", Value: canon.NewString(e.ID)},
			{Name: "status", Value: canon.NewString(e.Status)},
			{Name: "record", Value: refOrNull(e.Record)},
		}
		if e.Denial != "" {
			members = append(members, canon.Member{Name: "denial", Value: canon.NewString(e.Denial)})
		}
		if e.Intent != "" {
			members = append(members, canon.Member{Name: "intent", Value: canon.NewString(e.Intent)})
		}
		effects[i] = canon.NewObject(members)
	}
	return canon.NewObject([]canon.Member{
		{Name: "effects", Value: canon.NewArray(effects)},
		{Name: "plan", Value: refOrNull(plan)},
	})
}

// Conclude composes a call's output from its body, or from the error that it
// has instead, which becomes a typed failure. failure is the kind's text, "" for none.
func Conclude(body canon.Value, err error, world canon.Value) (output []byte, failure string) {
	if err == nil {
		if output = body.With("world", world).Bytes(); len(output) <= MaxOutput {
			return output, ""
		}
		err = fault.New("coordinator: output", fault.Limit, "transition output exceeds the output cap: %d bytes; the limit is %d", len(output), MaxOutput)
	}
	kind, message := public(err)
	return canon.NewObject([]canon.Member{
		{Name: "error", Value: canon.NewObject([]canon.Member{
			{Name: "kind", Value: canon.NewString(kind)},
			{Name: "message", Value: canon.NewString(message)},
		})},
		{Name: "world", Value: world},
	}).Bytes(), kind
}

// public returns the kind and the detail of an error, without its cause.
func public(err error) (kind, message string) {
	if kind := fault.KindOf(err); kind != fault.Internal {
		return kind.String(), Clip(fault.Detail(err), maxText)
	}
	return fault.Internal.String(), "the call failed inside; its cause is in the daemon's log"
}

func refOrNull(ref store.Ref) canon.Value {
	if ref == "" {
		return canon.Value{}
	}
	return canon.NewString(string(ref))
}

// FinishFailure says that a finish phase failed, and that its effects did not:
// the agent must not repeat them to get the answer.
func FinishFailure(err error, ended []Ended) error {
	_, message := public(err)
	for _, e := range ended {
		message += "; effect " + e.ID + " of this call ended " + e.Status + " and is recorded"
	}
	return fault.Wrap("coordinator: finish", fault.KindOf(err), err, "finish phase: %s", message)
}

// PhaseFailure says that the transition itself failed (R9, R10).
func PhaseFailure(err error) error {
	return fault.Wrap("coordinator: phase", fault.KindOf(err), err, "transition execution failed: %s", fault.Public(err))
}
