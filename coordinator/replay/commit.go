package replay

import (
	"context"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/coordinator/evidence"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

// A commit over REST has no program to run again: it is decided again, and its
// entry and evidence are made again from what the client asked for.

// commit replays one that landed.
func (p *Replayer) commit(ctx context.Context, entry store.Entry) error {
	const op = "replay: commit"
	claim, err := p.Store.Claim(ctx, entry.Invocation)
	if err != nil {
		return absent(op, err, "claim of %s", entry.Invocation)
	}
	asked, err := loaded(ctx, p.Store, "commit", claim.Input, record.DecodeCommit)
	if err != nil {
		return err
	}
	session, err := loaded(ctx, p.Store, "session", claim.Session, record.DecodeSession)
	if err != nil {
		return err
	}
	intent, err := p.Store.IntentOf(ctx, entry.Invocation)
	if err != nil {
		return absent(op, err, "intent of %s", entry.Invocation)
	}
	ledger, err := p.ledgerAt(ctx, claim.Episode, intent.Ordinal)
	if err != nil {
		return err
	}
	wanted := asked.Entry(entry.Invocation)
	if wanted != entry {
		return divergence{AtEntry, string(entry.Hash), string(wanted.Hash)}
	}
	q := record.EffectRequest{
		Effect: record.CommitEffect, Scope: record.CommitScope, Cost: record.CommitCost, Now: claim.At, Payload: asked.Payload(),
	}
	request, result := store.RefOf(q.Bytes()), store.RefOf(record.CommitResult(entry))
	d := broker.Decide(session, ledger, q)
	rec := store.RefOf(record.RunEffect(q, d, request, result).Bytes())
	return first(
		same(AtClaim, "transition", claim.Transition, record.CommitSkill),
		same(AtClaim, "episode", claim.Episode, asked.Episode),
		same(AtClaim, "episode", session.Episode, asked.Episode),
		same(AtDecision, "verdict", law.Allowed.Label(), d.Verdict.Label()),
		same(AtIntent, "effect", intent.Effect, q.Effect),
		same(AtIntent, "scope", intent.Scope, q.Scope),
		same(AtIntent, "cost", decimal(intent.Cost), decimal(q.Cost)),
		same(AtIntent, "request", intent.Request, request),
		same(AtIntent, "time", decimal(intent.At), decimal(claim.At)),
		same(AtIntent, "status", intent.Outcome.Status, store.StatusSucceeded),
		same(AtIntent, "detail", intent.Outcome.Detail, result),
		same(AtEffectRecord, "record", intent.Outcome.Record, rec),
		holdsAll(ctx, p.Store, asked, request, result, rec),
	)
}

// holdsAll finds what a commit brought and left.
func holdsAll(ctx context.Context, r store.Reader, asked record.CommitRecord, refs ...store.Ref) error {
	for _, o := range asked.Objects {
		refs = append(refs, o.Hash)
	}
	for _, ref := range refs {
		if _, err := r.Object(ctx, ref); err != nil {
			return missing("object", ref, err)
		}
	}
	return nil
}

// loaded reads and decodes an object that must be there.
func loaded[T any](ctx context.Context, r store.Reader, what string, ref store.Ref, decode func([]byte) (T, error)) (v T, err error) {
	o, err := r.Object(ctx, ref)
	if err != nil {
		return v, missing(what, ref, err)
	}
	if v, err = decode(o.Bytes()); err != nil {
		err = fault.Wrap("replay: commit", fault.Corrupt, err, "%s %s does not decode", what, ref)
	}
	return v, err
}

func missing(what string, ref store.Ref, err error) error {
	kind := fault.KindOf(err)
	if kind == fault.NotFound {
		kind = fault.Corrupt
	}
	return fault.Wrap("replay: commit", kind, err, "%s %s", what, ref)
}

// refused replays a commit that did not land: it was denied, or its head had moved.
func (p *Replayer) refused(ctx context.Context, call evidence.Call) error {
	a := &attempt{Replayer: p, Call: call, derived: call.Record, declared: []law.Triple{record.CommitTriple}}
	asked, err := loaded(ctx, p.Store, "commit", call.Record.Input, record.DecodeCommit)
	if err != nil {
		return err
	}
	if len(a.Ended) != 1 {
		return divergence{AtEffectRecord, decimal(int64(len(a.Ended))) + " effects", "1 effect"}
	}
	a.derived.Plan, a.derived.Effects = "", nil
	effect := plan.Effect{ID: record.CommitID, Triple: record.CommitTriple, Payload: asked.Payload()}
	for _, step := range []func() error{
		func() error { return a.entry(ctx) },
		func() error { return a.claim(ctx) },
		func() error { return a.effect(ctx, effect, a.Ended[0]) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	_, failure := plan.Body(plan.Plan{}, a.ended)
	output, kind := plan.Conclude(canon.Value{}, failure, plan.World(a.ended, ""))
	a.derived.Failure, a.derived.Output = kind, store.RefOf(output)
	return first(
		same(AtOutput, "output", string(a.Output), string(output)),
		same(AtRecord, "record", string(a.Record.Bytes()), string(a.derived.Bytes())),
	)
}
