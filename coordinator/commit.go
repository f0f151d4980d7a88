package coordinator

import (
	"context"
	"time"

	"world/canon"
	"world/coordinator/plan"
	"world/fault"
	"world/fault/stop"
	"world/store"
	"world/store/record"
)

const (
	commitAttempts = 3
	commitPause    = 50 * time.Millisecond // before the second attempt, twice that before the third
)

// commit composes the answer and makes everything known about the call durable.
func (k *course) commit(ctx context.Context, body canon.Value, failure error) (Reply, error) {
	if failure != nil && fault.KindOf(failure) == fault.Internal {
		k.c.Log.Error().Err(failure).Str("invocation", string(k.id)).Msg("call failed inside")
	}
	output, kind := plan.Conclude(body, failure, plan.World(k.ended, k.planRef()))
	rec := k.record(kind)
	rec.Output = store.RefOf(output)
	f := k.finished(rec, output)
	entry, err := k.c.commitFinish(ctx, f)
	if err != nil && f.Intent == nil {
		return k.refused(ctx, err)
	}
	if err != nil {
		entry, err = k.unrecorded(ctx, f, err)
	}
	if err != nil {
		return Reply{}, err
	}
	k.open = false
	return newReply(entry, rec, output, k.ended), nil
}

// record makes the call's invocation record, but for its output.
func (k *course) record(failure string) record.InvocationRecord {
	rec := record.InvocationRecord{
		InvocationID: k.id, EpisodeID: k.episode(), SkillID: k.desc.ID,
		TransitionFn: k.desc.TransitionFn, Interpreter: k.desc.Interpreter, SemanticsEpoch: k.desc.SemanticsEpoch,
		Input: k.input.Ref(), Plan: k.planRef(), Registry: k.registry, Session: k.live.Object,
		Ordinal: k.ledger.Next, Now: k.now, Failure: failure,
	}
	for _, e := range k.ended {
		rec.Effects = append(rec.Effects, e.EffectOutcome)
	}
	if k.evidence != nil {
		rec.Ordinal = k.evidence.Ordinal
	}
	return rec
}

// finished makes transaction 2. Input and plan went into transaction 1 if there was one.
func (k *course) finished(rec record.InvocationRecord, output []byte) store.Finish {
	f := store.Finish{Claim: k.claim, At: k.now}
	if k.evidence == nil || k.evidence.Intent == nil {
		f.Objects = append(f.Objects, k.input)
		if k.planned != nil {
			f.Objects = append(f.Objects, *k.planned)
		}
	} else {
		f.Intent, f.Outcome, f.Lease = k.evidence.Intent, k.evidence.Outcome, k.lease
		f.At = max(f.At, f.Outcome.At)
	}
	if k.evidence != nil {
		f.Objects = append(f.Objects, k.evidence.Objects...)
	}
	out := store.NewObject(record.Output, provenance(k.surface), output)
	call := store.NewObject(record.Invocation, provenance(k.surface), rec.Bytes())
	f.Objects = append(f.Objects, out, call)
	f.Draft = store.Draft{
		SemanticsEpoch: rec.SemanticsEpoch, TransitionFn: rec.TransitionFn, Interpreter: rec.Interpreter,
		WrittenBy: provenance(k.surface), Transition: call.Ref(), StateRoot: out.Ref(),
	}
	return f
}

// commitFinish commits, detached from the caller. An attempt whose end is not
// known, or that a part of ours failed, is made again: it is idempotent, because
// the claim and the outcome can be written only once.
func (c *Coordinator) commitFinish(ctx context.Context, f store.Finish) (entry store.Entry, err error) {
	if f.Intent != nil {
		stop.At(stop.BeforeOutcome)
		defer func() {
			if err == nil {
				stop.At(stop.AfterOutcome)
			}
		}()
	}
	ctx, cancel := detached(ctx, c.Deadlines.Commit)
	defer cancel()
	for attempt := 1; ; attempt++ {
		entry, err := c.Store.Commit(ctx, f)
		if err == nil {
			c.tick(f.At)
			return entry, nil
		}
		if fault.Is(err, fault.Conflict) {
			if entry, lookErr := c.Store.EntryOf(ctx, f.Claim.Invocation); lookErr == nil && entry.Transition == f.Draft.Transition {
				return entry, nil // an earlier attempt landed
			}
			return entry, err
		}
		c.Log.Warn().Err(err).Str("invocation", string(f.Claim.Invocation)).Int("attempt", attempt).Msg("commit failed")
		if attempt == commitAttempts || !passing(err) {
			return entry, err
		}
		select {
		case <-time.After(time.Duration(attempt) * commitPause):
		case <-ctx.Done():
			return entry, err
		}
	}
}

// tick notes a recorded time.
func (c *Coordinator) tick(at int64) {
	for last := c.recorded.Load(); at > last && !c.recorded.CompareAndSwap(last, at); last = c.recorded.Load() {
	}
}

// passing reports whether the same commit may yet succeed.
func passing(err error) bool {
	switch fault.KindOf(err) {
	case fault.Internal, fault.Uncertain, fault.Unavailable:
		return true
	}
	return false
}

// unrecorded ends a call whose effect ran and of whose outcome no commit was
// answered in time. What is known is kept as objects beside the intent (D10); by
// then the store has found out what became of an attempt whose answer was lost, and
// one that landed is the call's end after all. If none did, the caller of perform
// gives the lease up, which makes the intent indeterminate.
func (k *course) unrecorded(ctx context.Context, f store.Finish, cause error) (store.Entry, error) {
	ctx, cancel := detached(ctx, k.c.Deadlines.Commit)
	defer cancel()
	keepErr := k.c.Store.Keep(ctx, f.Objects)
	if keepErr != nil {
		k.c.Log.Error().Err(keepErr).Str("intent", f.Intent.Name()).Msg("objects of an unrecorded outcome not kept")
	}
	entry, lookErr := k.c.Store.EntryOf(ctx, f.Claim.Invocation)
	if lookErr == nil && entry.Transition == f.Draft.Transition {
		return entry, nil
	}
	k.c.Log.Error().Err(cause).Str("intent", f.Intent.Name()).Str("status", string(f.Outcome.Status)).
		Str("invocation_record", string(f.Draft.Transition)).Msg("outcome not recorded")
	how := "how it ended could not be recorded"
	if keepErr != nil || !fault.Is(lookErr, fault.NotFound) {
		how = "it is not known whether how it ended was recorded"
	}
	return store.Entry{}, fault.Wrap("coordinator: commit", fault.Indeterminate, cause,
		"effect %s of this call ran, but %s (%s). Do not repeat it blindly", f.Intent.Effect, how, f.Intent.Name())
}
