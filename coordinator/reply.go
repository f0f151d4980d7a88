package coordinator

import (
	"context"

	"world/canon"
	"world/coordinator/evidence"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

// Reply is the recorded answer of a call.
type Reply struct {
	Invocation store.InvocationID
	Entry      store.Entry
	Output     []byte     // canonical JSON object with a member "world"
	Failed     bool       // denied, failed or indeterminate: an error to the agent
	Kind       fault.Kind // meaningful when Failed
	Denial     string     // label, "" unless denied by the law
	Message    string     // what happened and what would help, "" unless Failed
	Replayed   bool       // the stored answer of an earlier call; nothing ran
}

// newReply makes the answer from what is recorded of it.
func newReply(entry store.Entry, rec record.InvocationRecord, output []byte, ended []plan.Ended) Reply {
	r := Reply{Invocation: rec.InvocationID, Entry: entry, Output: output}
	for _, e := range ended {
		if e.Status != record.StatusOK {
			r.Failed, r.Kind, r.Denial, r.Message = true, plan.KindOf(e.Status), e.Denial, e.Message
		}
	}
	if kind, ok := fault.ParseKind(rec.Failure); ok {
		r.Failed, r.Kind, r.Message = true, kind, failureMessage(output)
	}
	return r
}

// failureMessage reads the message of a typed failure.
func failureMessage(output []byte) string {
	v, err := canon.Parse(output, canon.Limits{Bytes: plan.MaxOutput})
	if err != nil {
		panic("coordinator: an output of ours is not JSON: " + err.Error())
	}
	failure, _ := v.Get("error")
	message, _ := failure.Get("message")
	text, _ := message.Text()
	return text
}

// earlier returns the stored answer when the id was used before, nil when it is
// new (D12). The same id with another transition or other arguments is Conflict;
// one that was claimed and has no answer is Indeterminate, or InFlight when
// another daemon runs it.
func (c *Coordinator) earlier(ctx context.Context, a *admitted) (*Reply, error) {
	claim, err := c.Store.Claim(ctx, a.id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if claim.Transition != a.desc.ID || claim.Input != a.input.Ref() {
		return nil, conflict(a.id)
	}
	entry, err := c.Store.EntryOf(ctx, a.id)
	if fault.Is(err, fault.NotFound) {
		return nil, c.unfinished(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	if record.IsCommit(entry) {
		reply := committed(entry)
		reply.Replayed = true
		return &reply, nil
	}
	call, err := evidence.Load(ctx, c.Store, entry)
	if err != nil {
		return nil, err
	}
	ended := make([]plan.Ended, len(call.Ended))
	for i, e := range call.Ended {
		ended[i] = e.Ended
		if e.Status == record.StatusIndeterminate {
			if err := c.reconciled(ctx, a); err != nil {
				return nil, err
			}
		}
	}
	reply := newReply(entry, call.Record, call.Output, ended)
	reply.Replayed = true
	return &reply, nil
}

// unfinished says what is known of a claim that no entry finished and that does
// not run in this process.
func (c *Coordinator) unfinished(ctx context.Context, a *admitted) error {
	const op = "coordinator: invoke"
	if _, err := c.Store.Lease(ctx, a.episode()); fault.Is(err, fault.InFlight) {
		return inFlight(a.id)
	} else if err != nil {
		return err
	}
	intent, err := c.Store.IntentOf(ctx, a.id)
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.Wrap(op, fault.Corrupt, err, "%s is claimed and has neither intent nor entry", a.id)
	case err != nil:
		return err
	case intent.Outcome.Status != store.StatusOpen:
		return inFlight(a.id) // another daemon ended it just now
	case intent.Reconciled != "":
		return c.closed(ctx, intent)
	}
	return fault.New(op, fault.Indeterminate, "it is not known whether %s of %s happened (%s). Its cost stays spent. "+
		"Do not repeat it blindly: look first at what it acts on, or ask the operator to reconcile the intent", intent.Effect, a.id, intent.Name())
}

// reconciled returns the operator's word on a call that ended indeterminate, as an
// error, nil while there is none.
func (c *Coordinator) reconciled(ctx context.Context, a *admitted) error {
	intent, err := c.Store.IntentOf(ctx, a.id)
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap("coordinator: invoke", fault.Corrupt, err, "%s ended indeterminate and has no intent", a.id)
	}
	if err != nil {
		return err
	}
	if intent.Reconciled == "" {
		return nil
	}
	return c.closed(ctx, intent)
}

// closed tells in words what an operator said of an intent (D10).
func (c *Coordinator) closed(ctx context.Context, intent store.Intent) error {
	const op = "coordinator: invoke"
	object, err := c.Store.Object(ctx, intent.Reconciled)
	if err != nil {
		return err
	}
	word, err := record.DecodeReconciliation(object.Bytes())
	if err != nil {
		return fault.Wrap(op, fault.Corrupt, err, "the reconciliation of %s does not decode", intent.Name())
	}
	return fault.New(op, fault.Indeterminate, "%s of %s (%s) was closed by an operator's word: %s. There is no recorded answer, and its cost stays spent",
		intent.Effect, intent.Invocation, intent.Name(), word.Verdict)
}
