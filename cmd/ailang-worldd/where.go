package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/sqlite"
)

// where says which world a verb is about.
type where struct{ db, state string }

// flags adds --db, and --state-dir for verbs that need what lies beside the store.
func (w *where) flags(cmd *cobra.Command, stateToo bool) {
	cmd.Flags().StringVar(&w.db, "db", "", "the store's file (required)")
	if stateToo {
		cmd.Flags().StringVar(&w.state, "state-dir", "", "the daemon's state directory (default: that of the store)")
	}
}

// layout makes the paths absolute; workspaces may be "".
func (w where) layout(workspaces string) (layout, error) {
	return newLayout(w.db, w.state, workspaces)
}

// existing refuses a store that is not there: only serve makes one.
func existing(db string) error {
	if info, err := os.Stat(db); err != nil || !info.Mode().IsRegular() {
		return fault.Wrap("cli: open store", fault.NotFound, err, "%s is not a store; serve makes one", filepath.Base(db))
	}
	return nil
}

// openReading opens the store beside or without a daemon.
func (w where) openReading(ctx context.Context) (*sqlite.Store, error) {
	l, err := w.layout("")
	if err != nil {
		return nil, err
	}
	if err := existing(l.db); err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, l.db, sqlite.Options{ReadOnly: true})
}

// officeOf is the session office of a store, whose acts carry the host's draft.
func officeOf(s store.Store) session.Office {
	return session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
}
