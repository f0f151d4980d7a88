package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"world/fault"
	"world/store/engine"
	"world/store/transfer"
)

func newStore() *cobra.Command {
	cmd := &cobra.Command{Use: "store", Short: "Move a whole world between stores", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newStoreCopy(), newStoreUnseal())
	return cmd
}

func newStoreCopy() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy --from FILE|URL --to FILE|URL",
		Short: "Move a world with its archive to another store, and seal the one it leaves",
		Long: "Copy every row of a world that no daemon serves into an empty store, prove by fsck, head and\n" +
			"spend that it is the same, and seal the source, so that only one of them goes on. A copy\n" +
			"that was cut off is finished by running it again. State directories and worktrees stay where\n" +
			"they are: serve the copy with the same --state-dir.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := engine.Parse(from)
			if err != nil {
				return fault.Wrap("cli: copy", fault.Invalid, err, "--from is a file or postgres://USER@HOST:PORT/NAME")
			}
			target, err := engine.Parse(to)
			if err != nil {
				return fault.Wrap("cli: copy", fault.Invalid, err, "--to is a file or postgres://USER@HOST:PORT/NAME")
			}
			if source == target {
				return fault.New("cli: copy", fault.Invalid, "--from and --to are the same store")
			}
			return copyStore(cmd.Context(), cmd, source, target)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the store to move (required)")
	cmd.Flags().StringVar(&to, "to", "", "an empty store, made when it is missing (required)")
	return cmd
}

func copyStore(ctx context.Context, cmd *cobra.Command, source, target engine.Place) (err error) {
	from, err := source.Open(ctx, engine.Options{Sealed: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := target.Open(ctx, engine.Options{Sealed: true, Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	m := newMeter(cmd.ErrOrStderr(), cmd.CommandPath())
	report, err := transfer.Run(ctx, from, to, m.tell)
	if !report.Check.Clean() {
		summarize(cmd.OutOrStdout(), report.Check)
	}
	if err != nil {
		return err
	}
	m.total("rows", report.Rows)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "copied to %s: head %d %s; the copy is clean and spends the same; %s is sealed\n",
		target, report.Head.Index, report.Head.World, source)
	return err
}
