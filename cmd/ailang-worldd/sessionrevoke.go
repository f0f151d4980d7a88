package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"world/daemon/admin"
	"world/fault"
	"world/session/attended"
	"world/store"
)

func newSessionRevoke() *cobra.Command {
	var w where
	var episode string
	cmd := &cobra.Command{
		Use:   "revoke --db FILE|URL (CREDENTIAL_ID | --episode EPISODE)",
		Short: "End a session, or every session of an episode, now",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			id, name, err := revoked(args, episode)
			if err != nil {
				return err
			}
			l, err := w.layout("")
			if err != nil {
				return err
			}
			var ids []store.CredentialID
			err = desks{
				local: func(d attended.Desk) (err error) {
					ids, err = d.Revoke(ctx, id, name)
					return err
				},
				daemon: func(c *admin.Client) (err error) {
					ids, err = c.Revoke(ctx, id, name)
					return err
				},
			}.at(ctx, l)
			for _, id := range ids {
				fmt.Fprintf(cmd.OutOrStdout(), "revoked %s\n", id)
			}
			return err
		},
	}
	w.flags(cmd, true)
	cmd.Flags().StringVar(&episode, "episode", "", "end every session of this episode")
	return cmd
}

// revoked reads what is to be ended: one session or one episode.
func revoked(args []string, episode string) (store.CredentialID, store.EpisodeID, error) {
	if (len(args) == 1) == (episode != "") {
		return "", "", fault.New("cli: revoke", fault.Invalid, "name a credential id or an episode")
	}
	if episode != "" {
		name, err := store.ParseEpisodeID(episode)
		return "", name, err
	}
	id, err := store.ParseCredentialID(args[0])
	return id, "", err
}
