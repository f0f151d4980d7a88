package broker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"world/broker/law"
	"world/fault/stop"
	"world/store"
	"world/store/record"
)

// maxOutput is the largest handler output that is kept, in bytes. A larger one is
// an answer that cannot be read.
const maxOutput = 4 << 20

// Opened is an allowed effect whose intent is durable and whose end is not known.
type Opened struct {
	invoker  *Invoker
	request  record.EffectRequest
	decision law.Decision
	Intent   store.Intent
}

// run has a handler carry the effect out, and makes its evidence.
func (o *Opened) run(ctx context.Context, handler Handler) Evidence {
	return o.End(o.invoker.handle(ctx, handler, Job{
		Episode: o.Intent.Episode, Intent: o.Intent.Name(), Effect: o.request.Effect, Scope: o.request.Scope,
		Cost: o.request.Cost, Payload: o.request.Payload, Deadline: o.invoker.broker.Deadline,
	}))
}

// End makes the evidence of how the effect ended.
func (o *Opened) End(result Result) Evidence {
	i, q, d, intent := o.invoker, o.request, o.decision, o.Intent
	e := Evidence{Grant: d.Grant, Ordinal: intent.Ordinal, Request: intent.Request, Intent: &intent}
	e.Outcome = store.Outcome{Status: result.Status, At: max(i.call.Claim.At, i.broker.Clock().Unix())}
	switch result.Status {
	case store.StatusSucceeded:
		object := store.NewObject(record.Result, provenance, result.Output)
		e.Status, e.Output = record.StatusOK, result.Output
		e.Outcome.Detail = object.Ref()
		e.Objects = []store.Object{object}
		e.Record = record.RunEffect(q, d, intent.Request, object.Ref())
	case store.StatusFailed:
		e.Status = record.StatusFailed
		e.explain(i.clean(result.Detail))
		e.Record = record.RunEffect(q, d, intent.Request, "")
	default:
		e.Status = record.StatusIndeterminate
		e.explain(i.clean(result.Detail))
		return e
	}
	rec := store.NewObject(record.Effect, provenance, e.Record.Bytes())
	e.RecordRef, e.Outcome.Record = rec.Ref(), rec.Ref()
	e.Objects = append(e.Objects, rec)
	return e
}

// explain keeps the text of why an effect failed or is unknown.
func (e *Evidence) explain(detail string) {
	object := store.NewObject(record.Failure, provenance, []byte(detail))
	e.Detail, e.Outcome.Detail = detail, object.Ref()
	e.Objects = append(e.Objects, object)
}

// handle calls the handler under its deadline, detached from the call's caller.
// A handler that does not answer in time is indeterminate, and what it says later
// is kept as an object beside the outcome, never as a second one (D10).
func (i *Invoker) handle(ctx context.Context, handler Handler, job Job) Result {
	b := i.broker
	ctx, cancel := detached(ctx, job.Deadline)
	answer := make(chan Result, 1)
	go func() { defer cancel(); answer <- b.guarded(ctx, handler, job) }()
	select {
	case result := <-answer:
		return result
	case <-ctx.Done(): // by the deadline, or by an answer that is there already
	}
	select {
	case result := <-answer:
		return result
	case <-time.After(grace):
	}
	b.Log.Error().Str("intent", job.Intent).Str("effect", string(job.Effect)).Msg("handler missed its deadline")
	b.late.Add(1)
	go func() { defer b.late.Done(); i.keepLate(ctx, job, <-answer) }()
	return Result{Status: store.StatusIndeterminate, Detail: fmt.Sprintf("the handler did not answer within %s", job.Deadline)}
}

// guarded calls the handler and makes one of the three lawful ends of whatever comes.
func (b *Broker) guarded(ctx context.Context, handler Handler, job Job) (result Result) {
	defer func() {
		if cause := recover(); cause != nil {
			b.Log.Error().Str("intent", job.Intent).Interface("panic", cause).Bytes("stack", debug.Stack()).Msg("handler broke off")
			result = Result{Status: store.StatusIndeterminate, Detail: "the handler broke off"}
		}
	}()
	stop.At(stop.InHandler)
	result = handler.Handle(ctx, job)
	stop.At(stop.AfterEffect)
	switch {
	case result.Status == store.StatusSucceeded && len(result.Output) > maxOutput:
		return Result{Status: store.StatusIndeterminate, Detail: fmt.Sprintf("the handler answered %d bytes; the limit is %d", len(result.Output), maxOutput)}
	case result.Status == store.StatusSucceeded, result.Status == store.StatusFailed, result.Status == store.StatusIndeterminate:
		return result
	}
	return Result{Status: store.StatusIndeterminate, Detail: "the handler gave no result"}
}

// keepLate stores what a handler said after its outcome was written.
func (i *Invoker) keepLate(ctx context.Context, job Job, result Result) {
	b := i.broker
	ctx, cancel := detached(ctx, writeBudget)
	defer cancel()
	object := store.NewObject(record.Result, provenance+":late:"+job.Intent, result.Output)
	if result.Status != store.StatusSucceeded {
		object = store.NewObject(record.Failure, provenance+":late:"+job.Intent, []byte(i.clean(result.Detail)))
	}
	if err := b.Store.Keep(ctx, []store.Object{object}); err != nil {
		b.Log.Error().Err(err).Str("intent", job.Intent).Msg("late outcome not kept")
		return
	}
	b.Log.Warn().Str("intent", job.Intent).Str("status", string(result.Status)).Str("object", string(object.Ref())).Msg("late outcome kept as an object")
}
