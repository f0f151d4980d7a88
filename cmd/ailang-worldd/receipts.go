package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"world/broker/law"
	"world/session"
	"world/store"
)

// maxIndeterminate is how many intents are listed at most; the store's own limit.
const maxIndeterminate = store.MaxListing

// pending is one intent as "receipts" prints it.
type pending struct {
	Intent     string             `json:"intent"`
	Invocation store.InvocationID `json:"invocationId"`
	Effect     law.Effect         `json:"effect"`
	Scope      law.Scope          `json:"scope"`
	Cost       int64              `json:"cost"` // calls
	Request    store.Ref          `json:"requestRef"`
	At         int64              `json:"at"`  // logical unix seconds
	Age        int64              `json:"age"` // seconds
	Detail     store.Ref          `json:"detail,omitempty"`
}

func newReceipts() *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use:   "receipts --db FILE|URL",
		Short: "List effects of which nobody knows whether they happened",
		Long: "List indeterminate intents that nobody has reconciled, the oldest first, one JSON object a\n" +
			"line, beside a running daemon or without one. Their cost stays spent and none is retried.\n" +
			"reconcile closes one.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := w.openReading(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			now, err := session.Now(cmd.Context(), s, time.Now())
			if err != nil {
				return err
			}
			intents, err := s.Indeterminate(cmd.Context(), maxIndeterminate)
			if err != nil {
				return err
			}
			if len(intents) == maxIndeterminate {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: these are the oldest %d; there may be more\n", cmd.CommandPath(), maxIndeterminate)
			}
			return list(cmd.OutOrStdout(), intents, now)
		},
	}
	w.flags(cmd, false)
	return cmd
}

func list(out io.Writer, intents []store.Intent, now int64) error {
	for _, i := range intents {
		line, err := json.Marshal(pending{
			i.Name(), i.Invocation, i.Effect, i.Scope, i.Cost, i.Request, i.At, now - i.At, i.Outcome.Detail,
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
