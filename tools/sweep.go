package tools

import (
	"errors"
	"os"
	"path/filepath"

	"world/confine"
	"world/fault"
	"world/store"
)

// Sweep removes what calls that were killed left aside at the top of the worktrees.
// It is for a daemon that serves nothing yet. What cannot be removed stays hidden from
// the tools, and is said to be there: Unavailable.
func (h *Handler) Sweep() error {
	root, err := os.OpenRoot(h.root)
	if err != nil {
		return fault.Wrap("tools: sweep", fault.Unavailable, err, "the workspace root cannot be opened")
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return fault.Wrap("tools: sweep", fault.Unavailable, err, "the workspace root cannot be listed")
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		if _, none := store.ParseEpisodeID(e.Name()); none == nil && e.IsDir() {
			err = errors.Join(err, sweep(root, e.Name()))
		}
	}
	if err != nil {
		return fault.Wrap("tools: sweep", fault.Unavailable, err, "what killed calls left in a worktree cannot be removed")
	}
	return nil
}

// tidy does so for one worktree, in which nothing runs any more.
func (h *Handler) tidy(worktree string) {
	root, err := os.OpenRoot(filepath.Dir(worktree))
	if err == nil {
		err = errors.Join(sweep(root, filepath.Base(worktree)), root.Close())
	}
	if err != nil {
		h.log.Warn().Err(err).Msg("what a call left aside was not removed")
	}
}

func sweep(root *os.Root, name string) error {
	worktree, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer worktree.Close()
	return confine.SweepAside(worktree)
}
