package session

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/record"
)

// Ended returns the ref of the record by which an episode ended, "" while it has not.
func Ended(ctx context.Context, r store.Reader, episode store.EpisodeID) (store.Ref, error) {
	ref, err := r.Registry(ctx, store.EndName(episode))
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return ref, err
}

// CheckOpen refuses, kind Conflict, an episode that has ended.
func CheckOpen(ctx context.Context, r store.Reader, episode store.EpisodeID) error {
	ended, err := Ended(ctx, r, episode)
	if err == nil && ended != "" {
		err = store.EndedAlready("session: check", episode)
	}
	return err
}

// End is what an operator decides about an episode that ends.
type End struct {
	Episode  store.EpisodeID
	Worktree record.Disposal
	Changed  *record.Changes // nil when nothing is known
	By       string
}

// Tell makes the record of an end at now (logical unix seconds) from the spend.
func (e End) Tell(l store.Ledger, now int64) record.EndingRecord {
	r := record.EndingRecord{
		Episode: e.Episode, Spent: []record.SpentOn{}, Worktree: e.Worktree, Changed: e.Changed, By: e.By, At: now,
	}
	for _, s := range l.Spent {
		r.Spent = append(r.Spent, record.SpentOn(s))
	}
	return r
}

// End closes an episode's name for ever under its lease: one object, one registry
// head, one log entry. The sessions must be revoked by then. Errors are those of
// store.EndEpisode; a Conflict while Ended says no may be another call's effect or
// another mint meanwhile, and is worth another try.
func (o Office) End(ctx context.Context, e End, lease store.Lease, now int64) (store.Entry, error) {
	ledger, err := o.Store.Ledger(ctx, e.Episode)
	if err != nil {
		return store.Entry{}, err
	}
	object := store.NewObject(record.Ending, provenance, e.Tell(ledger, now).Bytes())
	draft, err := o.Draft(ctx, "episode-end", object.Ref())
	if err != nil {
		return store.Entry{}, err
	}
	return o.Store.Act(ctx, store.Act{
		Objects: []store.Object{object},
		Draft:   draft,
		Changes: []store.Change{store.EndEpisode{Episode: e.Episode, Ending: object.Ref(), Next: ledger.Next, Lease: lease}},
		At:      now,
	})
}
