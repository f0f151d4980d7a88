package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"world/confine"
	"world/daemon/admin"
	"world/fault"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
	"world/store/record"
)

func newSessionEnd() *cobra.Command {
	var w where
	var workspaces string
	var remove bool
	cmd := &cobra.Command{
		Use:   "end EPISODE --db FILE|URL",
		Short: "End an episode for ever, after one human act at the terminal",
		Long: "Show what an episode has spent and how its worktree differs from its last commit, revoke its\n" +
			"sessions, and close its name for ever. Files that a program closed to its own\n" +
			"user are opened to him first, and the policies that were kept for its calls are removed. The\n" +
			"worktree is kept and handed back to you, unless --remove-worktree takes it away with all that is\n" +
			"in it; its branch is removed too then, if nothing was committed on it. A worktree that was kept\n" +
			"can be removed by ending again.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := w.layout(workspaces)
			if err != nil {
				return err
			}
			episode, err := store.ParseEpisodeID(args[0])
			if err != nil {
				return err
			}
			return endEpisode(cmd, l, episode, remove)
		},
	}
	w.flags(cmd, true)
	cmd.Flags().StringVar(&workspaces, "workspace-root", "", "directory of the worktrees (a running daemon knows its own)")
	cmd.Flags().BoolVar(&remove, "remove-worktree", false, "remove the worktree with all that is in it")
	return cmd
}

func endEpisode(cmd *cobra.Command, l layout, episode store.EpisodeID, remove bool) error {
	ctx := cmd.Context()
	if err := l.db.Exists(ctx); err != nil {
		return err
	}
	terminal, err := attended.OpenFor("ending an episode")
	if err != nil {
		return err
	}
	defer terminal.Close()
	var done admin.Ended
	err = desks{
		tree: true,
		local: func(d attended.Desk) error {
			return withJail(cmd.ErrOrStderr(), l, func(jail *confine.Jail) error {
				d.Jail = jail
				ended, err := d.End(ctx, terminal, episode, remove)
				done = admin.Ended(ended)
				return err
			})
		},
		daemon: func(c *admin.Client) (err error) {
			done, err = c.End(ctx, terminal, episode, worktree.Root(l.workspaces), remove)
			return err
		},
	}.at(ctx, l)
	tellEnd(cmd.OutOrStdout(), done)
	return err
}

// withJail builds the jail in which worktrees are compared, of the world-tool beside
// this program, and takes it down after use. Without one an episode still ends, but
// what changed is not known.
func withJail(stderr io.Writer, l layout, use func(*confine.Jail) error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	stage, err := confine.SealFile(filepath.Join(filepath.Dir(self), "world-tool"))
	if err != nil {
		return err
	}
	hidden := []string{l.state}
	if l.workspaces != "" {
		hidden = append(hidden, l.workspaces)
	}
	jail, err := confine.New(confine.Options{Stage: stage, Hidden: hidden})
	if err != nil {
		fmt.Fprintf(stderr, "no jail to compare the worktree in: %s\n", fault.Detail(err))
	}
	return errors.Join(use(jail), stage.Close())
}

func tellEnd(out io.Writer, done admin.Ended) {
	for _, id := range done.Revoked {
		fmt.Fprintf(out, "revoked %s\n", id)
	}
	if done.Object != "" {
		fmt.Fprintf(out, "ended %s: log %d, %s\n", done.Episode, done.Entry, done.Object)
	}
	for _, line := range done.Late {
		fmt.Fprintln(out, line)
	}
	switch done.Worktree {
	case record.Removed:
		fmt.Fprintln(out, "its worktree is removed")
	case record.Kept:
		fmt.Fprintf(out, "its worktree is yours: %s\n", done.Path)
	}
}
