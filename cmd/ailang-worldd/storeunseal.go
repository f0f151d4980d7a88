package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"world/fault"
	"world/session/attended"
	"world/store"
	"world/store/engine"
	"world/store/record"
)

func newStoreUnseal() *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use:   "unseal --db FILE|URL",
		Short: "Take a sealed or held store back into use, after one human act at the terminal",
		Long: "Take back a store whose world was copied, or whose copy was given up. It is written into its\n" +
			"log. If the copy is served too, there are two worlds from then on, each with the budgets\n" +
			"that the other spends.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return unseal(cmd, w) },
	}
	w.flags(cmd, false)
	return cmd
}

func unseal(cmd *cobra.Command, w where) (err error) {
	ctx := cmd.Context()
	p, err := engine.Parse(w.db)
	if err != nil {
		return err
	}
	s, err := p.Open(ctx, engine.Options{Sealed: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	seal, err := s.Seal(ctx)
	switch {
	case err != nil:
		return err
	case seal == store.Unsealed:
		return fault.New("cli: unseal", fault.Conflict, "the store is not sealed")
	case seal == store.Filling:
		return seal.Refuse("cli: unseal")
	}
	if err := confirmUnseal(ctx, p, seal); err != nil {
		return err
	}
	// The entry comes first: a store that is in use again has it.
	desk := attended.Desk{Office: officeOf(s), Wall: time.Now}
	entry, err := desk.Notice(ctx, record.Unseal, "the store was "+string(seal))
	if err != nil {
		return err
	}
	if err := s.SetSeal(ctx, seal, store.Unsealed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "unsealed: log %d\n", entry.Index)
	return err
}

func confirmUnseal(ctx context.Context, p engine.Place, seal store.Seal) error {
	terminal, err := attended.OpenFor("unsealing a store")
	if err != nil {
		return err
	}
	defer terminal.Close()
	ctx, cancel := context.WithTimeout(ctx, attended.AnswerTime)
	defer cancel()
	return terminal.Confirm(ctx, []string{
		fmt.Sprintf("%s is %s: its world was copied, or is being copied, to another store.", p, seal),
		"If both are served, budgets are spent twice.",
	}, "Confirm that this store goes on? [y/N] ")
}
