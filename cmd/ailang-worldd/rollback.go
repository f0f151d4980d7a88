package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"world/cmd/internal/statedir"
	"world/fault"
	"world/session/attended"
	"world/store"
	"world/store/record"
)

// rememberEvery is how often a running daemon writes down how far its store is: a
// backup older than that is recognised, whatever ends the daemon.
const rememberEvery = 5 * time.Second

// checkPresence refuses to make a store where this state directory has seen one.
func (d *boot) checkPresence(ctx context.Context) error {
	if !fault.Is(d.layout.db.Exists(ctx), fault.NotFound) {
		return nil // what is there is opened, or refused, in its own words
	}
	return d.refuseRollback(ctx, nil)
}

// checkRollback refuses a store that has forgotten what this state directory
// remembers, unless the operator says that it is meant.
func (d *boot) checkRollback(ctx context.Context) error { return d.refuseRollback(ctx, d.store) }

// refuseRollback compares what is known here with a store, nil for none.
func (d *boot) refuseRollback(ctx context.Context, s store.Reader) (err error) {
	if d.lost, err = statedir.Rollback(ctx, d.layout.state, s); err == nil && d.lost == "" {
		d.lost, err = d.archived(ctx, s)
	}
	if err != nil || d.lost == "" || d.flags.rollback {
		return err
	}
	return fault.New("serve: rollback", fault.Conflict,
		"%s. A lost store or a restored backup has forgotten what was spent and done since; serve --acknowledge-rollback accepts it as it is", d.lost)
}

// archived tells of the interpreters that a world left here, when the store holds
// no world: the archive is filled only after the genesis.
func (d *boot) archived(ctx context.Context, s store.Reader) (string, error) {
	if s != nil {
		if _, err := s.Head(ctx); !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	kept, err := os.ReadDir(d.layout.archive())
	if err != nil || len(kept) == 0 {
		return "", err
	}
	return "the store is empty, and the state directory has the archive of a world", nil
}

// remember writes an accepted rollback into the log, and begins to remember.
func (d *boot) remember(ctx context.Context) error {
	if d.lost != "" {
		entry, err := d.desk().Notice(ctx, record.AcknowledgeRollback, d.lost)
		if err != nil {
			return err
		}
		d.log.Warn().Str("lost", d.lost).Int64("entry", entry.Index).Msg("a rollback of the store was acknowledged")
	}
	if err := statedir.Remember(ctx, d.layout.state, d.store); err != nil {
		return err
	}
	d.later(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		return statedir.Remember(ctx, d.layout.state, d.store)
	})
	return nil
}

// keepRemembering remembers now and then until ctx ends.
func (d *boot) keepRemembering(ctx context.Context) {
	tick := time.NewTicker(rememberEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := statedir.Remember(ctx, d.layout.state, d.store); err != nil && ctx.Err() == nil {
			d.log.Warn().Err(err).Msg("the last entry was not remembered")
		}
	}
}

// desk carries out an operator's word in this daemon.
func (d *boot) desk() attended.Desk {
	return attended.Desk{Office: officeOf(d.store), Root: worktreesOf(d.layout), Home: d.name, Jail: d.jail, Wall: time.Now, Forget: d.forget}
}

// forget takes away what is kept for calls of an episode, and ends what waits for them.
func (d *boot) forget(episode store.EpisodeID) error {
	if d.layout.workspaces != "" {
		if worktree, err := filepath.EvalSymlinks(filepath.Join(d.layout.workspaces, string(episode))); err == nil {
			d.jail.Dismiss(worktree)
		}
	}
	return d.layout.forget(episode)
}
