package replay

import (
	"context"
	"errors"

	"world/coordinator/capsule"
	"world/coordinator/evidence"
	"world/fault"
	"world/store"
	"world/store/record"
)

const page = 500 // rows read at a time; the store's own limit

// Replayer replays calls of one store. It is not safe for concurrent use: it
// remembers how far it has summed each episode's spend.
type Replayer struct {
	Store   store.Store
	Runner  capsule.Runner
	Current store.Ref // interpreter to run instead of the archived one; "" for the archived one

	ledgers map[store.EpisodeID]store.Ledger
}

// Replay replays one call. NotFound when the id was never used.
func Replay(ctx context.Context, s store.Store, runner capsule.Runner, id store.InvocationID) (Report, error) {
	return (&Replayer{Store: s, Runner: runner}).Call(ctx, id)
}

// ReplayAll replays every call of the log in its order, and then counts the
// intents that no entry finished. visit may be nil; its error ends the replay.
func ReplayAll(ctx context.Context, s store.Store, runner capsule.Runner, visit func(Report) error) (Counts, error) {
	return (&Replayer{Store: s, Runner: runner}).All(ctx, visit)
}

// Call replays one call. Errors are the store's and the context's; what is wrong
// with the call itself is in the report.
func (p *Replayer) Call(ctx context.Context, id store.InvocationID) (Report, error) {
	entry, err := p.Store.EntryOf(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return p.unfinished(ctx, id)
	}
	if err != nil {
		return Report{}, err
	}
	return p.entry(ctx, entry)
}

// All is ReplayAll.
func (p *Replayer) All(ctx context.Context, visit func(Report) error) (Counts, error) {
	var counts Counts
	tell := func(r Report, err error) error {
		if err != nil {
			return err
		}
		counts.add(r)
		if visit == nil {
			return nil
		}
		return visit(r)
	}
	for from := int64(0); ; {
		entries, err := p.Store.Entries(ctx, from, page)
		if err != nil {
			return counts, err
		}
		for _, entry := range entries {
			from = entry.Index + 1
			if entry.Invocation == "" {
				continue
			}
			if err := tell(p.entry(ctx, entry)); err != nil {
				return counts, err
			}
		}
		if len(entries) < page {
			break
		}
	}
	audit, err := p.Store.Audit(ctx)
	if err != nil {
		return counts, err
	}
	defer audit.Close()
	return counts, audit.Intents(ctx, func(row store.Row[store.Intent]) error {
		if row.Fault != nil || row.Value.Outcome.Status != store.StatusOpen {
			return nil // a damaged row is fsck's to name; a finished one had its entry
		}
		return tell(p.unfinished(ctx, row.Value.Invocation))
	})
}

// unfinished reports a call that has no entry.
func (p *Replayer) unfinished(ctx context.Context, id store.InvocationID) (Report, error) {
	if _, err := p.Store.Claim(ctx, id); err != nil {
		return Report{}, err
	}
	r := Report{Invocation: id, Verdict: Unreplayable, Reason: NoEntry}
	intent, err := p.Store.IntentOf(ctx, id)
	if err == nil && intent.Reconciled != "" {
		r.Reason = Reconciled
	}
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return r, err
}

// judge replays by what the entry is: a commit that landed, one that did not, or
// the call of a transition. nil means that everything agrees.
func (p *Replayer) judge(ctx context.Context, entry store.Entry) error {
	if record.IsCommit(entry) {
		return p.commit(ctx, entry)
	}
	call, err := evidence.Load(ctx, p.Store, entry)
	switch {
	case err != nil:
		return err
	case call.Record.SkillID == record.CommitSkill:
		return p.refused(ctx, call)
	}
	return p.again(ctx, call)
}

// entry replays the call of one entry and sorts its end into a report.
func (p *Replayer) entry(ctx context.Context, entry store.Entry) (Report, error) {
	r := Report{Invocation: entry.Invocation, Verdict: Same}
	err := p.judge(ctx, entry)
	var d divergence
	var u unreplayable
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return Report{}, fault.Wrap("replay: call", fault.Timeout, ctx.Err(), "replay of %s was ended", entry.Invocation)
	case errors.As(err, &d):
		r.Verdict, r.Position, r.Wanted, r.Got = Diverged, d.position, d.wanted, d.got
	case errors.As(err, &u):
		r.Verdict, r.Reason = Unreplayable, Reason(u)
	case fault.Is(err, fault.Corrupt), fault.Is(err, fault.Invalid):
		r.Verdict, r.Position, r.Wanted, r.Got = Diverged, AtEvidence, "whole evidence", fault.Public(err)
	default:
		return Report{}, err
	}
	return r, nil
}

// absent says that evidence is missing or damaged. A store that cannot be read is
// neither: that ends the replay and is no divergence.
func absent(op string, err error, what string, args ...any) error {
	if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Corrupt) {
		return err
	}
	return fault.Wrap(op, fault.Corrupt, err, what, args...)
}
