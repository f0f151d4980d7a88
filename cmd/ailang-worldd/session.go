package main

import "github.com/spf13/cobra"

func newSession() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Mint, list and revoke sessions: who may do what until when",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionMint(), newSessionNew(), newSessionList(), newSessionRevoke(), newSessionEnd())
	return cmd
}
