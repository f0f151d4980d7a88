// Package evidence gathers what is stored of one finished call.
//
// It promises that everything it returns was read from the store, re-hashed and
// decoded exactly, and that what an invocation record names exists and has the
// right form; otherwise the error is Corrupt and names the item. It does not
// promise that the call was decided rightly: package replay checks that.
package evidence

import (
	"context"

	"world/broker/law"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

// Call is one finished call as it was recorded.
type Call struct {
	Entry   store.Entry
	Record  record.InvocationRecord
	Session record.SessionRecord
	Input   []byte
	Output  []byte
	Plan    []byte // nil when no plan came to be
	Ended   []Ended
}

// Ended is one effect as it was recorded. Its planned payload is the request's.
type Ended struct {
	plan.Ended
	Request record.EffectRequest
	Record  record.EffectRecord // zero when indeterminate
	Detail  string              // failure text, "" when ok or denied
}

// Load reads the call that an entry finished. Invalid when the entry is not of a call.
func Load(ctx context.Context, r store.Reader, entry store.Entry) (Call, error) {
	if entry.Invocation == "" {
		return Call{}, fault.New("evidence: load", fault.Invalid, "entry %d is not of a call", entry.Index)
	}
	c := Call{Entry: entry}
	var err error
	if c.Record, err = read(ctx, r, "invocation record", entry.Transition, record.DecodeInvocation); err != nil {
		return c, err
	}
	if c.Session, err = read(ctx, r, "session", c.Record.Session, record.DecodeSession); err != nil {
		return c, err
	}
	if c.Input, err = read(ctx, r, "input", c.Record.Input, asIs); err != nil {
		return c, err
	}
	if c.Output, err = read(ctx, r, "output", c.Record.Output, asIs); err != nil {
		return c, err
	}
	if c.Record.Plan != "" {
		if c.Plan, err = read(ctx, r, "plan", c.Record.Plan, asIs); err != nil {
			return c, err
		}
	}
	for _, o := range c.Record.Effects {
		e, err := c.loadEffect(ctx, r, o)
		if err != nil {
			return c, err
		}
		c.Ended = append(c.Ended, e)
	}
	return c, nil
}

func (c Call) loadEffect(ctx context.Context, r store.Reader, o record.EffectOutcome) (Ended, error) {
	e := Ended{Ended: plan.Ended{EffectOutcome: o}}
	var err error
	if e.Request, err = read(ctx, r, "request", o.Request, record.DecodeRequest); err != nil {
		return e, err
	}
	if o.Record != "" {
		if e.Record, err = read(ctx, r, "effect record", o.Record, record.DecodeEffect); err != nil {
			return e, err
		}
		e.Denial = e.Record.Denial
	}
	if e.Record.ResultRef != "" {
		if e.Output, err = read(ctx, r, "result", e.Record.ResultRef, asIs); err != nil {
			return e, err
		}
	}
	if o.Detail != "" {
		text, err := read(ctx, r, "failure text", o.Detail, asIs)
		if err != nil {
			return e, err
		}
		e.Detail = string(text)
	}
	q := e.Request
	e.Effect = plan.Effect{ID: o.ID, Triple: law.Triple{Effect: q.Effect, Scope: q.Scope, Cost: q.Cost}, Payload: q.Payload}
	e.Message = plan.Explain(c.Session, c.Record.Now, e.Effect.Triple, o, e.Record, e.Detail)
	return e, nil
}

// read reads and decodes one object that must be there.
func read[T any](ctx context.Context, r store.Reader, what string, ref store.Ref, decode func([]byte) (T, error)) (T, error) {
	object, err := r.Object(ctx, ref)
	if err != nil {
		var none T
		kind := fault.KindOf(err)
		if kind == fault.NotFound {
			kind = fault.Corrupt
		}
		return none, fault.Wrap("evidence: load", kind, err, "%s %s", what, ref)
	}
	v, err := decode(object.Bytes())
	if err != nil {
		return v, fault.Wrap("evidence: load", fault.Corrupt, err, "%s %s does not decode", what, ref)
	}
	return v, nil
}

func asIs(raw []byte) ([]byte, error) { return raw, nil }
