package why

import (
	"errors"

	"world/fault"
	"world/store"
	"world/store/record"
)

// call walks the evidence of one call, from its invocation record.
func (w *walker) call(e store.Entry) {
	c, ok := decoded(w, "invocation", e.Transition, record.DecodeInvocation, func(c record.InvocationRecord) (string, error) {
		line := sprintf("%s of episode %s at %d", c.SkillID, c.EpisodeID, c.Now)
		if c.Failure != "" {
			line += sprintf(", ended as %s", c.Failure)
		}
		return line, errors.Join(
			differs("its invocation id", c.InvocationID, e.Invocation),
			differs("its transitionFn", c.TransitionFn, e.TransitionFn),
			differs("its interpreter", c.Interpreter, e.Interpreter),
			differs("its semantics epoch", c.SemanticsEpoch, e.SemanticsEpoch),
			differs("its output", c.Output, e.StateRoot),
		)
	})
	if !ok {
		return
	}
	w.object("source", c.TransitionFn, func(b []byte) (string, error) { return sprintf("transition %s", c.SkillID), nil })
	w.object("interpreter", c.Interpreter, nothing)
	w.registry(c.Registry)
	w.object("input", c.Input, raw)
	if c.Plan != "" {
		w.object("plan", c.Plan, raw)
	}
	requests := make([]record.EffectRequest, len(c.Effects))
	for i, effect := range c.Effects {
		requests[i] = w.effect(c, effect)
	}
	w.object("output", c.Output, raw)
	if s, ok := w.session(c.Session, c.EpisodeID); ok {
		for i, effect := range c.Effects {
			w.grant(s, effect, requests[i])
		}
	}
	w.mint(c.Session)
}

// claim walks what is there of a call that has not finished.
func (w *walker) claim(c store.Claim) {
	w.add(Step{Part: "claim", Says: sprintf("%s of %s at %d has no entry: it is running, or was cut off", c.Invocation, c.Transition, c.At)})
	w.object("source", c.TransitionFn, func(b []byte) (string, error) { return sprintf("transition %s", c.Transition), nil })
	w.object("input", c.Input, raw)
	i, err := w.r.IntentOf(w.ctx, c.Invocation)
	switch {
	case err == nil:
		w.journaled(i)
		w.request(i.Request)
	case !fault.Is(err, fault.NotFound):
		w.fail("intent", "", err)
	}
	w.session(c.Session, c.Episode)
	w.mint(c.Session)
}

// effect walks one planned effect of a call and returns what was requested.
func (w *walker) effect(c record.InvocationRecord, o record.EffectOutcome) record.EffectRequest {
	q := w.request(o.Request)
	var result store.Ref
	if o.Record != "" {
		rec, _ := decoded(w, "record", o.Record, record.DecodeEffect, func(r record.EffectRecord) (string, error) {
			return says(r), errors.Join(
				differs("its request", r.RequestRef, o.Request),
				differs("its effect", r.Effect, q.Effect), differs("its scope", r.Scope, q.Scope),
				differs("its cost", r.Cost, q.Cost), differs("the status it means", status(r), o.Status),
			)
		})
		result = rec.ResultRef
	}
	if o.Intent != "" && w.err == nil {
		w.outcome(c, o, result)
	}
	if result != "" {
		var b []byte
		w.object("result", result, func(bytes []byte) (string, error) { b = bytes; return raw(bytes) })
		w.changed(b)
	}
	if o.Detail != "" {
		w.object("failure", o.Detail, raw)
	}
	return q
}

func (w *walker) request(ref store.Ref) record.EffectRequest {
	q, _ := decoded(w, "request", ref, record.DecodeRequest, func(q record.EffectRequest) (string, error) {
		return sprintf("%s on %s, cost %d at %d: %s", q.Effect, q.Scope, q.Cost, q.Now, q.Payload), nil
	})
	return q
}

// outcome holds the call's record against the journal.
func (w *walker) outcome(c record.InvocationRecord, o record.EffectOutcome, result store.Ref) {
	i, err := w.r.IntentOf(w.ctx, c.InvocationID)
	if err != nil {
		w.fail("intent", "", err)
		return
	}
	detail := o.Detail
	if detail == "" {
		detail = result
	}
	w.journaled(i,
		differs("its name", i.Name(), o.Intent), differs("its request", i.Request, o.Request),
		differs("its record", i.Outcome.Record, o.Record), differs("its detail", i.Outcome.Detail, detail),
		differs("its status", i.Outcome.Status, statuses[o.Status]),
	)
}

func (w *walker) journaled(i store.Intent, faults ...error) {
	s := Step{Part: "intent", Says: sprintf("%s at %d, %s", i.Name(), i.At, i.Outcome.Status)}
	if i.Outcome.Status == store.StatusOpen {
		s.Says = sprintf("%s at %d, without an outcome", i.Name(), i.At)
	}
	if err := errors.Join(faults...); err != nil {
		s.Fault = fault.Public(err)
	}
	w.add(s)
	if i.Reconciled != "" {
		w.word(i.Reconciled, i.Name())
	}
}

var statuses = map[string]store.Status{
	record.StatusOK:            store.StatusSucceeded,
	record.StatusFailed:        store.StatusFailed,
	record.StatusIndeterminate: store.StatusIndeterminate,
}

// status is how an effect ended, as its record alone tells it.
func status(r record.EffectRecord) string {
	switch {
	case !r.Allowed:
		return record.StatusDenied
	case r.Failed:
		return record.StatusFailed
	}
	return record.StatusOK
}

func says(r record.EffectRecord) string {
	if !r.Allowed {
		return sprintf("%s, budget %d unchanged", r.Denial, r.BudgetBefore)
	}
	line := sprintf("allowed, budget %d to %d", r.BudgetBefore, r.BudgetAfter)
	if r.Failed {
		line += ", failed"
	}
	return line
}

func nothing([]byte) (string, error) { return "", nil }
