package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"world/daemon/admin"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
)

func newSessionNew() *cobra.Command {
	var w where
	var q worktree.Request
	var workspaces, preset, out string
	var budget, ttl int64
	cmd := &cobra.Command{
		Use:   "new EPISODE --db FILE|URL --repo DIR",
		Short: "Add a git worktree for an episode and mint a session for the coding tools on it",
		Long: "Add a git worktree of DIR below the workspace root, on a new branch named as the episode\n" +
			"unless --branch or --detach says otherwise, and mint a session with a preset of grants.\n" +
			"Nothing that the repository configures is executed.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := w.layout(workspaces)
			if err != nil {
				return err
			}
			grants, err := session.Preset(preset).Expand(budget)
			if err != nil {
				return err
			}
			if q.Repository == "" {
				return fault.New("cli: new session", fault.Invalid, "--repo is required")
			}
			if q.Repository, err = filepath.Abs(q.Repository); err != nil {
				return err
			}
			q.Episode = store.EpisodeID(args[0])
			terms := session.Terms{Episode: q.Episode, Grants: grants, TTL: ttl}
			return mintVerb{
				terms: terms, out: out, tree: true,
				local: func(ctx context.Context, d attended.Desk, t *attended.Terminal) (admin.Minted, error) {
					minted, tree, err := d.New(ctx, t, terms, q)
					return admin.MintedOf(minted, tree.Path), err
				},
				daemon: func(ctx context.Context, c *admin.Client, t *attended.Terminal) (admin.Minted, error) {
					return c.New(ctx, t, terms, worktree.Root(l.workspaces), q)
				},
			}.run(cmd, l)
		},
	}
	w.flags(cmd, true)
	flags := cmd.Flags()
	flags.StringVar(&q.Repository, "repo", "", "top directory of the git repository (required)")
	flags.StringVar(&q.Branch, "branch", "", "name of the new branch (default: the episode's)")
	flags.BoolVar(&q.Detach, "detach", false, "make no branch")
	flags.StringVar(&workspaces, "workspace-root", "", "directory of the worktrees (a running daemon knows its own)")
	flags.StringVar(&preset, "preset", string(session.SeTools), "grants to mint")
	flags.Int64Var(&budget, "budget", session.DefaultBudget, "budget of each grant, in calls")
	flags.Int64Var(&ttl, "ttl", session.DefaultTTL, "life of the session, in seconds")
	flags.StringVar(&out, "out", "", "new file for the credential, mode 0600, instead of stdout")
	return cmd
}
