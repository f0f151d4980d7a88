package coordinator

import (
	"context"

	"world/broker"
	"world/canon"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

// land writes the client's entry and the effect's outcome in one transaction. If
// another entry came first, the effect has failed, and that is recorded instead.
func (k *course) land(ctx context.Context, commit ClientCommit, opened *broker.Opened) (Reply, error) {
	entry := commit.Record.Entry(k.id)
	ev := opened.End(broker.Result{Status: store.StatusSucceeded, Output: record.CommitResult(entry)})
	landed, err := k.c.commitFinish(ctx, store.Finish{
		Claim: k.claim, Intent: ev.Intent, Outcome: ev.Outcome, Objects: append(ev.Objects, commit.Objects...),
		Draft: commit.Record.Draft(), Onto: commit.Record.Observed, Lease: k.lease, At: max(k.now, ev.Outcome.At),
	})
	if fault.Is(err, fault.HeadMoved) {
		// It may have moved by an earlier attempt of this very commit.
		earlier, lookErr := k.c.Store.EntryOf(context.WithoutCancel(ctx), k.id)
		switch {
		case lookErr == nil:
			landed, err = earlier, nil
		case fault.Is(lookErr, fault.NotFound):
			return k.settle(ctx, opened.End(broker.Result{Status: store.StatusFailed, Detail: "the head moved while the commit was on its way; nothing was committed"}))
		}
	}
	if err != nil {
		k.c.Log.Error().Err(err).Str("intent", opened.Intent.Name()).Msg("commit not landed")
		return Reply{}, fault.Wrap("coordinator: commit", fault.Uncertain, err,
			"it is not known whether %s landed (%s); its receipt and the log will tell", k.id, opened.Intent.Name())
	}
	k.open = false
	return committed(landed), nil
}

// settle records a commit that did not land.
func (k *course) settle(ctx context.Context, ev broker.Evidence) (Reply, error) {
	k.evidence = &ev
	o := ev.Effect(record.CommitID)
	k.ended = []plan.Ended{{
		Effect:        plan.Effect{ID: record.CommitID, Triple: record.CommitTriple},
		EffectOutcome: o, Denial: ev.Record.Denial,
		Message: plan.Explain(k.live.Record, k.now, record.CommitTriple, o, ev.Record, ev.Detail),
	}}
	_, failure := plan.Body(plan.Plan{}, k.ended)
	return k.commit(ctx, canon.Value{}, failure)
}

// fits refuses a commit that does not follow the selected head, kind HeadMoved,
// or that names what is not there, kind Invalid (D9).
func (c *Coordinator) fits(ctx context.Context, commit ClientCommit) error {
	const op = "coordinator: fit commit"
	r := commit.Record
	head, err := c.Store.Head(ctx)
	if err != nil {
		return err
	}
	if head.World != r.Observed {
		return fault.New(op, fault.HeadMoved, "observedHead is not the selected head")
	}
	switch want := store.Chain(head, r.Draft(), ""); {
	case r.EntryIndex != want.Index:
		return fault.New(op, fault.Invalid, "entryIndex after the observed head is %d", want.Index)
	case r.PrevEntryHash != want.Prev:
		return fault.New(op, fault.Invalid, "prevEntryHash after the observed head is %s", want.Prev)
	}
	brought := map[store.Ref]bool{}
	for _, o := range commit.Objects {
		brought[o.Ref()] = true
	}
	for name, ref := range map[string]store.Ref{"transitionFn": r.TransitionFn, "transitionRef": r.TransitionRef, "stateRoot": r.StateRoot} {
		if brought[ref] {
			continue
		}
		if _, err := c.labels(ctx, name, ref); err != nil {
			return err
		}
	}
	labels, err := c.labels(ctx, "interpreter", r.Interpreter)
	if err != nil {
		return err
	}
	for _, l := range labels {
		if l.SemanticID == record.Interpreter {
			return nil
		}
	}
	return fault.New(op, fault.Invalid, "interpreter %s is not in the archive", r.Interpreter)
}

// labels reads the labels of an object that an entry names.
func (c *Coordinator) labels(ctx context.Context, name string, ref store.Ref) ([]store.Label, error) {
	labels, err := c.Store.Labels(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Wrap("coordinator: fit commit", fault.Invalid, err, "%s %s is neither brought nor stored", name, ref)
	}
	return labels, err
}

// committed is the answer of a commit that landed.
func committed(entry store.Entry) Reply {
	return Reply{Invocation: entry.Invocation, Entry: entry, Output: record.CommitResult(entry)}
}
