package main

import (
	"context"

	"github.com/spf13/cobra"

	"world/daemon/admin"
	"world/session"
	"world/session/attended"
	"world/store"
)

func newSessionMint() *cobra.Command {
	var w where
	var episode, out string
	var grants []string
	var ttl int64
	cmd := &cobra.Command{
		Use:   "mint --db FILE|URL --episode EPISODE --grant EFFECT=SCOPE:BUDGET...",
		Short: "Mint a session credential, after one human act at the terminal",
		Long: "Mint a session credential. The question is asked at the controlling terminal; the\n" +
			"credential goes to stdout, or to --out, and is stored nowhere.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := w.layout("")
			if err != nil {
				return err
			}
			parsed, err := session.ParseGrants(grants)
			if err != nil {
				return err
			}
			terms := session.Terms{Episode: store.EpisodeID(episode), Grants: parsed, TTL: ttl}
			return mintVerb{
				terms: terms, out: out,
				local: func(ctx context.Context, d attended.Desk, t *attended.Terminal) (admin.Minted, error) {
					minted, err := d.Mint(ctx, t, terms)
					return admin.MintedOf(minted, ""), err
				},
				daemon: func(ctx context.Context, c *admin.Client, t *attended.Terminal) (admin.Minted, error) {
					return c.Mint(ctx, t, terms)
				},
			}.run(cmd, l)
		},
	}
	w.flags(cmd, true)
	flags := cmd.Flags()
	flags.StringVar(&episode, "episode", "", "the episode: ^[a-z0-9][a-z0-9-]{0,63}$ (required)")
	flags.StringArrayVar(&grants, "grant", nil, "a grant EFFECT=SCOPE:BUDGET, budget in calls; repeatable, order is kept")
	flags.Int64Var(&ttl, "ttl", session.DefaultTTL, "life of the session, in seconds")
	flags.StringVar(&out, "out", "", "new file for the credential, mode 0600, instead of stdout")
	return cmd
}
