package main

import "github.com/spf13/cobra"

const program = "ailang-worldd"

// newRoot builds the command tree. Every verb is made by a function of its own
// file and listed here.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "An authority boundary for AI agents: the daemon and its operator's tools",
		Args:  cobra.NoArgs,
		// Errors are printed once, by run.
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.AddCommand(
		newServe(),
		newSession(),
		newWhy(), newFsck(), newReplay(), newReceipts(), newReconcile(), newRegistry(), newStore(), newDoctor(),
		newHealth(), newHead(), newLog(), newObject(),
	)
	return root
}
