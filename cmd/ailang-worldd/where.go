package main

import (
	"context"

	"github.com/spf13/cobra"

	"world/coordinator/registry"
	"world/session"
	"world/session/worktree"
	"world/store"
	"world/store/engine"
	"world/tools"
)

const dbUsage = "the store: a file, or postgres://USER@HOST:PORT/NAME (required)"

// where says which world a verb is about.
type where struct{ db, state string }

// flags adds --db, and --state-dir for verbs that need what lies beside the store.
func (w *where) flags(cmd *cobra.Command, stateToo bool) {
	cmd.Flags().StringVar(&w.db, "db", "", dbUsage)
	if stateToo {
		cmd.Flags().StringVar(&w.state, "state-dir", "", "the daemon's state directory (default: that of the store's file)")
	}
}

// layout makes the paths absolute; workspaces may be "".
func (w where) layout(workspaces string) (layout, error) {
	return newLayout(w.db, w.state, workspaces)
}

// openReading opens the store beside or without a daemon.
func (w where) openReading(ctx context.Context) (engine.Store, error) {
	p, err := engine.Parse(w.db)
	if err != nil {
		return nil, err
	}
	return p.Open(ctx, engine.Options{ReadOnly: true})
}

// forget takes away the policies that were kept for calls of an episode.
func (l layout) forget(episode store.EpisodeID) error {
	if l.state == "" {
		return nil
	}
	return tools.ForgetPolicies(l.state, episode)
}

// worktreesOf is the folder of a layout's worktrees.
func worktreesOf(l layout) worktree.Root { return worktree.Root(l.workspaces) }

// officeOf is the session office of a store, whose acts carry the host's draft.
func officeOf(s store.Store) session.Office {
	return session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
}
