package attended

import (
	"context"
	"errors"
	"time"

	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
)

// endTime bounds the end of an episode after the answer, in wall time: the last
// call may still have its deadline before it, and then its worktree is compared.
const endTime = time.Minute

// Ended is an episode that has ended.
type Ended struct {
	Episode  store.EpisodeID
	Object   store.Ref // world/episode-end/v1
	Entry    int64     // log index
	Revoked  []store.CredentialID
	Worktree record.Disposal
	Path     string   // of a worktree that is kept, "" otherwise
	Late     []string // what the operator was not shown before the question, a line each
}

// End shows what an episode has spent and changed, asks at the terminal, revokes
// its sessions, closes its name for ever, and removes its worktree or keeps it for
// the operator, and forgets what was kept for its calls. A call that ended after the
// operator was shown anything leaves its worktree kept, and what it made of it is
// told. What has ended before is not ended again; but a worktree that is still there
// is removed on request. Errors: NotFound for an episode that nobody
// knows, Conflict for one that has ended or has its worktree with another daemon,
// InFlight while its last call runs: its sessions are revoked then, and another try
// ends it.
func (d Desk) End(ctx context.Context, t *Terminal, episode store.EpisodeID, remove bool) (Ended, error) {
	l, err := d.look(ctx, episode, remove)
	if err != nil {
		return Ended{}, err
	}
	if err := d.ask(ctx, t, l.notice(), l.question()); err != nil {
		return Ended{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	done := Ended{Episode: episode, Worktree: l.disposal()}
	if l.ended == "" {
		if err := d.end(ctx, &l, &done); err != nil {
			return done, err
		}
	}
	err = d.forget(episode)
	switch done.Worktree {
	case record.Removed:
		err = errors.Join(err, l.tree.Discard(ctx))
	case record.Kept:
		done.Path = l.tree.Path
		err = errors.Join(err, l.tree.HandBack())
	}
	return done, err
}

func (d Desk) forget(episode store.EpisodeID) error {
	if d.Forget == nil {
		return nil
	}
	return d.Forget(episode)
}

// end revokes and closes. Another mint or effect meanwhile is worth another try,
// and so is a call that is still running.
func (d Desk) end(ctx context.Context, l *last, done *Ended) error {
	for {
		now, err := session.Now(ctx, d.Office.Store, d.Wall())
		if err != nil {
			return err
		}
		revoked, err := d.Office.RevokeEpisode(ctx, l.episode, now)
		done.Revoked = append(done.Revoked, revoked...)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		entry, err := d.underLease(ctx, l.episode, func(lease store.Lease) (store.Entry, error) {
			if err := d.catchUp(ctx, l, lease, done); err != nil {
				return store.Entry{}, err
			}
			decided := session.End{Episode: l.episode, Worktree: done.Worktree, Changed: l.changed(), By: operator()}
			return d.Office.End(ctx, decided, lease, now)
		})
		done.Object, done.Entry = entry.Transition, entry.Index
		if err == nil || !fault.Is(err, fault.InFlight) && !fault.Is(err, fault.Conflict) {
			return err
		}
		ended, lookErr := session.Ended(ctx, d.Office.Store, l.episode)
		if lookErr != nil || ended != "" || !pause(ctx) {
			return errors.Join(err, lookErr)
		}
	}
}
