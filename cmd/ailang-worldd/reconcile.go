package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"world/daemon/admin"
	"world/session/attended"
)

func newReconcile() *cobra.Command {
	var w where
	var word attended.Word
	cmd := &cobra.Command{
		Use:   "reconcile ID --db FILE|URL --verdict VERDICT --note TEXT",
		Short: "Close an effect of which nobody knows whether it happened, after one human act at the terminal",
		Long: "Close an indeterminate intent, named as receipts names it or by the id of its call, with your\n" +
			"word for what happened. It is written down with a log entry. No cost is given back, nothing\n" +
			"is done again, and it cannot be taken back.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			word.ID = args[0]
			return reconcile(cmd, w, word)
		},
	}
	w.flags(cmd, true)
	cmd.Flags().StringVar(&word.Verdict, "verdict", "", "what happened: succeeded, failed or abandoned (required)")
	cmd.Flags().StringVar(&word.Note, "note", "", "how you know (required)")
	return cmd
}

func reconcile(cmd *cobra.Command, w where, word attended.Word) error {
	l, err := w.layout("")
	if err != nil {
		return err
	}
	if err := word.Check(); err != nil {
		return err
	}
	if err := l.db.Exists(cmd.Context()); err != nil {
		return err
	}
	terminal, err := attended.OpenFor("reconciling an intent")
	if err != nil {
		return err
	}
	defer terminal.Close()
	var done admin.Reconciled
	err = desks{
		local: func(d attended.Desk) error {
			r, err := d.Reconcile(cmd.Context(), terminal, word)
			done = admin.Reconciled(r)
			return err
		},
		daemon: func(c *admin.Client) (err error) {
			done, err = c.Reconcile(cmd.Context(), terminal, word)
			return err
		},
	}.at(cmd.Context(), l)
	if err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "reconciled %s as %s: log %d, %s\n", done.Intent, word.Verdict, done.Entry, done.Object)
	}
	return err
}
