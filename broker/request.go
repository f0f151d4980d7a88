package broker

import (
	"context"
	"slices"

	"world/broker/law"
	"world/fault"
	"world/fault/stop"
	"world/store"
	"world/store/record"
)

// provenance labels every object that the broker makes.
const provenance = "host/broker"

// maxGuardFailures bounds how often a refused guard is answered by deciding
// again. Each refusal means that spend grew meanwhile, so one is usual.
const maxGuardFailures = 8

// Evidence is how one requested effect ended, with what has to become durable
// for it in the call's last transaction.
type Evidence struct {
	Status    string // record.StatusOK and its siblings
	Grant     int    // index of the deciding grant, -1 for none
	Ordinal   int64  // intents of the episode before the decision
	Request   store.Ref
	Record    record.EffectRecord // zero when indeterminate
	RecordRef store.Ref           // "" when indeterminate
	Intent    *store.Intent       // nil when denied
	Outcome   store.Outcome       // of Intent
	Objects   []store.Object      // record, result or failure text; the request too when denied
	Output    []byte              // when ok
	Detail    string              // the handler's text as stored, "" when ok or denied
}

// Effect names the effect as the call's record does; id is the plan's name for it.
func (e Evidence) Effect(id string) record.EffectOutcome {
	o := record.EffectOutcome{ID: id, Status: e.Status, Grant: e.Grant, Request: e.Request, Record: e.RecordRef}
	if e.Intent != nil {
		o.Intent = e.Intent.Name()
	}
	if e.Detail != "" {
		o.Detail = e.Outcome.Detail
	}
	return o
}

// Request decides one effect at the call's time and carries it out when allowed.
// Input and plan of the call become durable with the intent. Once they are, the
// effect no longer depends on ctx.
//
// Errors: Denied when the triple is not exactly a declared one, Unsupported
// without a handler, and the store's. All of them mean that nothing was run; with
// kind Uncertain, or with Evidence.Intent set, an intent may be durable that has
// no outcome, and the caller must give up the lease.
func (i *Invoker) Request(ctx context.Context, t law.Triple, payload []byte, input, planned store.Object) (Evidence, error) {
	if err := i.undeclared(t); err != nil {
		return Evidence{}, err
	}
	handler := i.broker.Handlers[t.Effect]
	if handler == nil {
		return Evidence{}, fault.New("broker: request", fault.Unsupported, "no handler for effect %s", t.Effect)
	}
	opened, ev, err := i.Open(ctx, t, payload, input, planned)
	if opened == nil {
		return ev, err
	}
	return opened.run(ctx, handler), nil
}

// Open is Request for an effect that no handler carries out, because the call's
// own last transaction is what brings it about: it decides and makes the intent
// durable, with the objects that the call has so far. It returns the opened effect
// when that was allowed, the evidence of the denial when it was denied, and
// Request's errors.
func (i *Invoker) Open(ctx context.Context, t law.Triple, payload []byte, objects ...store.Object) (*Opened, Evidence, error) {
	const op = "broker: request"
	if err := i.undeclared(t); err != nil {
		return nil, Evidence{}, err
	}
	q := record.EffectRequest{Effect: t.Effect, Scope: t.Scope, Cost: t.Cost, Now: i.call.Claim.At, Payload: payload}
	request := store.NewObject(record.Request, provenance, q.Bytes())
	for range maxGuardFailures {
		d := Decide(i.call.Session, i.call.Ledger, q)
		if d.Verdict != law.Allowed {
			return nil, i.deny(q, d, request), nil
		}
		intent, err := i.intend(ctx, q, d, append(slices.Clip(objects), request))
		if fault.Is(err, fault.OverBudget) {
			if i.call.Ledger, err = i.broker.Store.Ledger(ctx, i.call.Claim.Episode); err != nil {
				return nil, Evidence{}, err
			}
			continue
		}
		if err != nil {
			return nil, Evidence{}, err
		}
		if intent.Ordinal != i.call.Ledger.Next {
			return nil, Evidence{Intent: &intent}, fault.New(op, fault.Internal, "intent %s was decided with the spend before ordinal %d", intent.Name(), i.call.Ledger.Next)
		}
		stop.At(stop.AfterIntent)
		return &Opened{i, q, d, intent}, Evidence{}, nil
	}
	return nil, Evidence{}, fault.New(op, fault.Corrupt, "the durable budget guard and the ledger of episode %s do not agree", i.call.Claim.Episode)
}

// undeclared refuses a triple that the call's transition does not declare.
func (i *Invoker) undeclared(t law.Triple) error {
	if declares(i.declared, t) {
		return nil
	}
	return fault.New("broker: request", fault.Denied, "(%s, %s, %d) is not a declared effect", t.Effect, t.Scope, t.Cost)
}

// deny records a denial. Nothing is journaled and nothing debited.
func (i *Invoker) deny(q record.EffectRequest, d law.Decision, request store.Object) Evidence {
	rec := record.DeniedEffect(q, d, request.Ref())
	object := store.NewObject(record.Effect, provenance, rec.Bytes())
	return Evidence{
		Status: record.StatusDenied, Grant: d.Grant, Ordinal: i.call.Ledger.Next,
		Request: request.Ref(), Record: rec, RecordRef: object.Ref(),
		Objects: []store.Object{request, object},
	}
}

// intend is transaction 1. A caller that is gone already changes nothing.
func (i *Invoker) intend(ctx context.Context, q record.EffectRequest, d law.Decision, objects []store.Object) (store.Intent, error) {
	if ctx.Err() != nil {
		return store.Intent{}, fault.Wrap("broker: request", fault.Timeout, ctx.Err(), "the call ended before its effect began")
	}
	ctx, cancel := detached(ctx, writeBudget)
	defer cancel()
	stop.At(stop.BeforeIntent)
	return i.broker.Store.Intend(ctx, store.Intention{
		Claim: i.call.Claim, Objects: objects,
		Effect: q.Effect, Scope: q.Scope, Cost: q.Cost,
		Budget:  i.call.Session.Grants[d.Grant].Budget,
		Request: objects[len(objects)-1].Ref(), Lease: i.call.Lease, Credential: i.call.Session.Credential,
	})
}
