package replay

import (
	"context"
	"errors"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/coordinator/evidence"
	"world/coordinator/plan"
	"world/store"
	"world/store/record"
)

// perform goes the way of the coordinator's perform, with evidence for handlers.
// failure is how the call failed by this replay; err ends the replay.
func (a *attempt) perform(ctx context.Context) (body canon.Value, failure, err error) {
	if len(a.declared) == 0 {
		answer, err := a.run(ctx, a.Input)
		if failure, err = sorted(err); failure != nil || err != nil {
			return body, failure, err
		}
		body, failure = plan.PureBody(answer)
		return body, failure, nil
	}
	answer, err := a.run(ctx, plan.PlanInput(a.args))
	if failure, err = sorted(err); failure != nil || err != nil {
		return body, failure, err
	}
	p, failure := plan.Parse(answer, a.declared)
	if failure != nil {
		return body, failure, nil
	}
	a.derived.Plan = store.RefOf(p.Bytes)
	if err := same(AtPlan, "plan", string(a.Plan), string(p.Bytes)); err != nil {
		return body, nil, err
	}
	if err := same(AtPlan, "effects", decimal(int64(len(a.Ended))), decimal(int64(len(p.Effects)))); err != nil {
		return body, nil, err
	}
	for i, e := range p.Effects {
		if err := a.effect(ctx, e, a.Ended[i]); err != nil {
			return body, nil, err
		}
	}
	if !p.Finish || a.ended[0].Status == record.StatusIndeterminate {
		body, failure = plan.Body(p, a.ended)
		return body, failure, nil
	}
	return a.finish(ctx)
}

func (a *attempt) finish(ctx context.Context) (body canon.Value, failure, err error) {
	input, failure := plan.FinishInput(a.args, a.ended)
	if failure != nil {
		return body, failure, nil
	}
	answer, err := a.run(ctx, input)
	if failure, err = sorted(err); err != nil {
		return body, nil, err
	}
	if failure == nil {
		body, failure = plan.FinishBody(answer)
	}
	if failure != nil {
		return canon.Value{}, plan.FinishFailure(failure, a.ended), nil
	}
	return body, nil, nil
}

// effect decides one effect again and holds what is recorded of it to that.
func (a *attempt) effect(ctx context.Context, e plan.Effect, was evidence.Ended) error {
	q := record.EffectRequest{Effect: e.Triple.Effect, Scope: e.Triple.Scope, Cost: e.Triple.Cost, Now: a.Record.Now, Payload: e.Payload}
	request := store.RefOf(q.Bytes())
	if err := first(same(AtRequest, "id", was.ID, e.ID), same(AtRequest, "request", was.EffectOutcome.Request, request)); err != nil {
		return err
	}
	ledger, err := a.ledgerAt(ctx, a.Record.EpisodeID, a.Record.Ordinal)
	if err != nil {
		return err
	}
	d := broker.Decide(a.Session, ledger, q)
	o := record.EffectOutcome{ID: e.ID, Status: was.Status, Grant: d.Grant, Request: request}
	decided, claimed := d.Verdict == law.Allowed, was.Status != record.StatusDenied
	if decided != claimed {
		return divergence{AtDecision, was.Status, d.Verdict.Label()}
	}
	if err := same(AtDecision, "grant", decimal(int64(was.Grant)), decimal(int64(d.Grant))); err != nil {
		return err
	}
	var rec record.EffectRecord
	switch {
	case !decided:
		rec = record.DeniedEffect(q, d, request)
	case was.Status == record.StatusIndeterminate:
	default:
		rec = record.RunEffect(q, d, request, was.Record.ResultRef)
		if rec.Failed != (was.Status == record.StatusFailed) {
			return divergence{AtEffectRecord, was.Status, "a result that says otherwise"}
		}
	}
	if o.Status != record.StatusIndeterminate {
		if err := same(AtEffectRecord, "record", string(was.Record.Bytes()), string(rec.Bytes())); err != nil {
			return err
		}
		o.Record = store.RefOf(rec.Bytes())
	}
	if decided {
		if err := a.intent(ctx, &o, q, was); err != nil {
			return err
		}
	}
	a.derived.Effects = append(a.derived.Effects, o)
	a.ended = append(a.ended, plan.Ended{
		Effect: e, EffectOutcome: o, Denial: rec.Denial, Output: was.Output,
		Message: plan.Explain(a.Session, a.Record.Now, e.Triple, o, rec, was.Detail),
	})
	return nil
}

// intent holds the journal's row to the call, and completes the outcome from it.
func (a *attempt) intent(ctx context.Context, o *record.EffectOutcome, q record.EffectRequest, was evidence.Ended) error {
	i, err := a.Store.Intent(ctx, a.Record.EpisodeID, a.Record.Ordinal)
	if err != nil {
		return absent("replay: intent", err, "intent %s", store.IntentName(a.Record.EpisodeID, a.Record.Ordinal))
	}
	statuses := map[string]store.Status{
		record.StatusOK: store.StatusSucceeded, record.StatusFailed: store.StatusFailed, record.StatusIndeterminate: store.StatusIndeterminate,
	}
	detail := was.Record.ResultRef
	o.Intent = i.Name()
	if o.Status != record.StatusOK {
		detail = store.RefOf([]byte(was.Detail))
		o.Detail = detail
	}
	return first(
		same(AtIntent, "name", was.Intent, i.Name()),
		same(AtIntent, "invocation", i.Invocation, a.Record.InvocationID),
		same(AtIntent, "effect", i.Effect, q.Effect),
		same(AtIntent, "scope", i.Scope, q.Scope),
		same(AtIntent, "cost", decimal(i.Cost), decimal(q.Cost)),
		same(AtIntent, "request", i.Request, o.Request),
		same(AtIntent, "time", decimal(i.At), decimal(a.Record.Now)),
		same(AtIntent, "status", i.Outcome.Status, statuses[o.Status]),
		same(AtIntent, "record", i.Outcome.Record, o.Record),
		same(AtIntent, "detail", i.Outcome.Detail, detail),
	)
}

// sorted parts a failure of the transition from what ends the replay.
func sorted(err error) (failure, stop error) {
	var u unreplayable
	if errors.As(err, &u) {
		return nil, err
	}
	return err, nil
}
