package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"world/broker/law"
	"world/store"
)

// maxIndeterminate is how many intents are listed at most; the store's own limit.
const maxIndeterminate = 500

func newIndeterminate() *cobra.Command {
	cmd := &cobra.Command{Use: "indeterminate", Short: "Effects of which nobody knows whether they happened", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var w where
	list := &cobra.Command{
		Use:   "list --db FILE",
		Short: "List unreconciled indeterminate intents, oldest first, one JSON object a line",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := w.openReading(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			intents, err := s.Indeterminate(cmd.Context(), maxIndeterminate)
			if err != nil {
				return err
			}
			for _, i := range intents {
				line, err := json.Marshal(struct {
					Intent     string             `json:"intent"`
					Invocation store.InvocationID `json:"invocationId"`
					Effect     law.Effect         `json:"effect"`
					Scope      law.Scope          `json:"scope"`
					Cost       int64              `json:"cost"` // calls
					Request    store.Ref          `json:"requestRef"`
					At         int64              `json:"at"` // logical unix seconds
					Detail     store.Ref          `json:"detail,omitempty"`
				}{i.Name(), i.Invocation, i.Effect, i.Scope, i.Cost, i.Request, i.At, i.Outcome.Detail})
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	w.flags(list, false)
	cmd.AddCommand(list)
	return cmd
}
