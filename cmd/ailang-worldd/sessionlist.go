package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"world/session"
	"world/store"
)

// listed is one session as "session list" prints it.
type listed struct {
	Credential store.CredentialID `json:"credentialId"`
	Episode    store.EpisodeID    `json:"episode"`
	Live       bool               `json:"live"`
	CreatedAt  int64              `json:"createdAt"` // logical unix seconds
	ExpiresAt  int64              `json:"expiresAt"` // logical unix seconds
	Revocation store.Ref          `json:"revocation,omitempty"`
	Home       store.HomeID       `json:"home,omitempty"` // daemon with the episode's worktree
	Grants     []string           `json:"grants"`
}

func newSessionList() *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use:   "list --db FILE|URL",
		Short: "List sessions in mint order, one JSON object a line; no credential is stored or shown",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			s, err := w.openReading(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			now, err := session.Now(ctx, s, time.Now())
			if err != nil {
				return err
			}
			return session.Each(ctx, s, func(row store.Session) error {
				rec, err := session.Read(ctx, s, row)
				if err != nil {
					return err
				}
				l := listed{
					Credential: row.Credential, Episode: row.Episode, Live: row.Revocation == "" && now < rec.ExpiresAt,
					CreatedAt: rec.CreatedAt, ExpiresAt: rec.ExpiresAt, Revocation: row.Revocation, Home: rec.Home, Grants: []string{},
				}
				for _, g := range rec.Grants {
					l.Grants = append(l.Grants, session.FormatGrant(g))
				}
				line, err := json.Marshal(l)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", line)
				return err
			})
		},
	}
	w.flags(cmd, false)
	return cmd
}
