package record

import (
	"world/canon"
	"world/fault"
	"world/store"
)

// InvocationRecord is the evidence of one call: what ran, on what authority, and
// what came of it. It does not name its place in the log (D9), and holds
// everything that replay re-decides from (D8, D11).
type InvocationRecord struct {
	InvocationID   store.InvocationID `json:"invocationId"`
	EpisodeID      store.EpisodeID    `json:"episodeId"`
	SkillID        store.TransitionID `json:"skillId"`
	TransitionFn   store.Ref          `json:"transitionFn"`
	Interpreter    store.Ref          `json:"interpreter"`
	SemanticsEpoch int64              `json:"semanticsEpoch"`
	Input          store.Ref          `json:"input"`
	Output         store.Ref          `json:"output"`
	Plan           store.Ref          `json:"plan"`     // "" when no plan came to be
	Effects        []EffectOutcome    `json:"effects"`  // never null; at most one in v1
	Registry       store.Ref          `json:"registry"` // revision that the call was admitted under
	Session        store.Ref          `json:"session"`  // session object of the caller
	Ordinal        int64              `json:"ordinal"`  // intents of the episode before the decision
	Now            int64              `json:"now"`      // logical unix seconds of the decision
	Failure        string             `json:"failure"`  // fault kind when the call ended in a typed failure, else ""
}

// maxEffects is how many effects a call has at most in v1.
const maxEffects = 1

// EffectOutcome is one planned effect of a call and how it ended.
type EffectOutcome struct {
	ID      string    `json:"id"`      // of the effect within the plan
	Status  string    `json:"status"`  // ok, failed, denied or indeterminate
	Grant   int       `json:"grant"`   // index of the deciding grant in the session object, -1 for none
	Request store.Ref `json:"request"` // effect request
	Record  store.Ref `json:"record"`  // effect record, "" when indeterminate
	Intent  string    `json:"intent"`  // durable name of the intent, "" when denied
	Detail  store.Ref `json:"detail"`  // failure text, "" when ok or denied
}

// Effect statuses cross the wire. Append only.
const (
	StatusOK            = "ok"
	StatusFailed        = "failed"
	StatusDenied        = "denied"
	StatusIndeterminate = "indeterminate"
)

// Bytes is the record's byte form.
func (r InvocationRecord) Bytes() []byte {
	if r.Effects == nil {
		r.Effects = []EffectOutcome{}
	}
	return canon.Encode(r)
}

// DecodeInvocation reads an invocation record and refuses inconsistent ones.
func DecodeInvocation(raw []byte) (InvocationRecord, error) {
	r, err := canon.DecodeExact[InvocationRecord](raw, canon.Limits{Bytes: 1 << 20})
	if err != nil {
		return r, err
	}
	return r, r.check()
}

func (r InvocationRecord) check() error {
	bad := func(what string) error {
		return fault.New("record: invocation", fault.Invalid, "%s", what)
	}
	for _, ref := range []store.Ref{r.TransitionFn, r.Interpreter, r.Input, r.Output, r.Registry, r.Session} {
		if _, err := store.ParseRef(string(ref)); err != nil {
			return bad("a ref of the call is not a ref")
		}
	}
	if !refOrNone(r.Plan) {
		return bad("plan is not a ref")
	}
	if r.Effects == nil || len(r.Effects) > maxEffects || r.Ordinal < 0 || r.Now < 0 {
		return bad("effects, ordinal or now out of range")
	}
	if _, ok := fault.ParseKind(r.Failure); !ok && r.Failure != "" {
		return bad("failure is not a kind")
	}
	for _, e := range r.Effects {
		if err := e.check(); err != nil {
			return err
		}
	}
	return nil
}

func (e EffectOutcome) check() error {
	if _, err := store.ParseRef(string(e.Request)); err != nil || !refOrNone(e.Record) || !refOrNone(e.Detail) || e.Grant < -1 {
		return fault.New("record: invocation", fault.Invalid, "effect %q has a part out of range", e.ID)
	}
	type parts struct{ record, intent, detail bool }
	var lawful parts
	switch e.Status {
	case StatusOK:
		lawful = parts{record: true, intent: true}
	case StatusFailed:
		lawful = parts{record: true, intent: true, detail: true}
	case StatusDenied:
		lawful = parts{record: true}
	case StatusIndeterminate:
		lawful = parts{intent: true, detail: true}
	}
	// Each of these has some part, and an unknown status is none of them.
	if lawful == (parts{}) || lawful != (parts{e.Record != "", e.Intent != "", e.Detail != ""}) {
		return fault.New("record: invocation", fault.Invalid, "effect %q is not a lawful outcome", e.ID)
	}
	return nil
}

// refOrNone reports whether a field that may be empty holds a ref otherwise.
func refOrNone(ref store.Ref) bool {
	if ref == "" {
		return true
	}
	_, err := store.ParseRef(string(ref))
	return err == nil
}
