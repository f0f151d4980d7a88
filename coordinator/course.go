package coordinator

import (
	"context"
	"strings"
	"time"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/coordinator/capsule"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

// course is one call on its way: what it knows so far.
type course struct {
	c *Coordinator
	*admitted
	now      int64 // logical unix seconds
	claim    store.Claim
	lease    store.Lease  // effectful calls only
	ledger   store.Ledger // likewise
	planned  *store.Object
	evidence *broker.Evidence
	ended    []plan.Ended
	open     bool // an intent may be durable that has no outcome
}

// perform plans, asks the broker, and finishes. failure is how the call failed
// when that is to be recorded; err means that nothing was done and nothing is.
func (k *course) perform(ctx context.Context) (body canon.Value, failure, err error) {
	if missing := k.c.broker.Unhandled(k.declared); len(missing) > 0 {
		return body, unsupported(k.desc.ID, missing), nil
	}
	invoker, err := k.c.broker.Bind(broker.Call{
		Session: k.live.Record, Claim: k.claim, Lease: k.lease, Ledger: k.ledger,
	}, k.declared)
	if err != nil {
		return body, nil, err
	}
	source, err := k.source(ctx)
	if err != nil {
		return body, nil, err
	}
	answer, failure, err := k.phase(ctx, "plan", k.c.Deadlines.Plan, source, plan.PlanInput(k.args))
	if failure != nil || err != nil {
		return body, failure, err
	}
	p, failure := plan.Parse(answer, k.declared)
	if failure != nil {
		return body, failure, nil
	}
	planned := store.NewObject(record.Plan, provenance(k.surface), p.Bytes)
	k.planned = &planned
	for _, e := range p.Effects {
		if failure, err = k.effect(ctx, invoker, e); failure != nil || err != nil {
			return body, failure, err
		}
	}
	if !p.Finish || k.evidence.Status == record.StatusIndeterminate {
		body, failure = plan.Body(p, k.ended)
		return body, failure, nil
	}
	body, failure = k.finish(context.WithoutCancel(ctx), source)
	return body, failure, nil
}

// effect has the broker decide and carry out one planned effect.
func (k *course) effect(ctx context.Context, invoker *broker.Invoker, e plan.Effect) (failure, err error) {
	ev, err := invoker.Request(ctx, e.Triple, e.Payload, k.input, *k.planned)
	k.open = ev.Intent != nil || fault.Is(err, fault.Uncertain)
	switch fault.KindOf(err) {
	case fault.Denied, fault.Unsupported:
		return err, nil
	case fault.Uncertain:
		return nil, fault.Wrap("coordinator: effect", fault.Uncertain, err,
			"%s was not run; whether its intent was recorded is not known, and its cost may stay spent", e.Triple.Effect)
	}
	if err != nil {
		return nil, err
	}
	k.evidence = &ev
	o := ev.Effect(e.ID)
	k.ended = append(k.ended, plan.Ended{
		Effect: e, EffectOutcome: o, Denial: ev.Record.Denial, Output: ev.Output,
		Message: plan.Explain(k.live.Record, k.now, e.Triple, o, ev.Record, ev.Detail),
	})
	return nil, nil
}

// finish hands the results to the transition and takes its body. The context has
// no end of its own: what happened is recorded whoever is gone.
func (k *course) finish(ctx context.Context, source []byte) (canon.Value, error) {
	input, err := plan.FinishInput(k.args, k.ended)
	if err != nil {
		return canon.Value{}, err
	}
	answer, failure, _ := k.phase(ctx, "finish", k.c.Deadlines.Finish, source, input)
	var body canon.Value
	if failure == nil {
		body, failure = plan.FinishBody(answer)
	}
	if failure != nil {
		return canon.Value{}, plan.FinishFailure(failure, k.ended)
	}
	return body, nil
}

// phase runs the transition once, within a budget of its own. failure is the
// transition's; err says that the caller ended the call, and nothing was done.
func (k *course) phase(ctx context.Context, name string, budget time.Duration, source, input []byte) (answer []byte, failure, err error) {
	limited, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	answer, failure = k.c.Runner.Run(limited, capsule.Program{Interpreter: k.desc.Interpreter, Source: source}, input)
	switch {
	case failure == nil:
		return answer, nil, nil
	case ctx.Err() != nil:
		return nil, nil, fault.Wrap("coordinator: "+name, fault.Timeout, ctx.Err(), "the call ended before anything was done")
	case limited.Err() != nil:
		return nil, fault.Wrap("coordinator: "+name, fault.Timeout, failure, "the %s phase passed its %s", name, budget), nil
	}
	return nil, plan.PhaseFailure(failure), nil
}

// unsupported is R8: decided before anything runs.
func unsupported(id store.TransitionID, missing []law.Effect) error {
	names := make([]string, len(missing))
	for i, effect := range missing {
		names[i] = string(effect)
	}
	return fault.New("coordinator: bind", fault.Unsupported,
		"transition %q declares effects with no registered handler [%s]; effectful invocation is unavailable", id, strings.Join(names, " "))
}
