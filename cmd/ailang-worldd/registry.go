package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/confine"
	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/store"
	"world/store/engine"
	"world/tools"
)

func newRegistry() *cobra.Command {
	cmd := &cobra.Command{Use: "registry", Short: "What transitions a world serves", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newRegistryUpgrade())
	return cmd
}

func newRegistryUpgrade() *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use:   "upgrade --db FILE|URL",
		Short: "Take over this binary's built-in transitions, after one human act at the terminal",
		Long: "Publish this binary's built-in transitions, pinned to its interpreter, as one more revision\n" +
			"of the registry. Other transitions stay, and so do the interpreters of recorded calls. The\n" +
			"daemon of a file must be stopped first, and serve anew afterwards; those of a database go on.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			return upgrade(cmd.Context(), w, filepath.Join(filepath.Dir(self), "world-tool"), cmd.OutOrStdout())
		},
	}
	w.flags(cmd, false)
	return cmd
}

// upgrade asks only when there is something to ask about.
func upgrade(ctx context.Context, w where, worldTool string, out io.Writer) (err error) {
	l, err := w.layout("")
	if err != nil {
		return err
	}
	if err := l.db.Exists(ctx); err != nil {
		return err
	}
	interpreter, err := sealed(worldTool)
	if err != nil {
		return err
	}
	s, err := l.db.Open(ctx, engine.Options{})
	if fault.Is(err, fault.Locked) {
		return fault.Wrap("cli: upgrade", fault.Locked, err, "a daemon holds the store; stop it, upgrade, and serve anew")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	differ, err := registry.Differences(ctx, s, tools.Builtins(), store.RefOf(interpreter))
	if err != nil {
		return err
	}
	if len(differ) == 0 {
		fmt.Fprintln(out, "nothing to upgrade: the registry serves this binary's built-ins")
		return nil
	}
	if err := confirmUpgrade(ctx, differ, store.RefOf(interpreter)); err != nil {
		return err
	}
	now, err := session.Now(ctx, s, time.Now())
	if err != nil {
		return err
	}
	revision, _, err := registry.Upgrade(ctx, s, tools.Builtins(), interpreter, now)
	if err == nil {
		fmt.Fprintf(out, "upgraded %d transitions: revision %d, %s\n", len(differ), revision.Revision, revision.Ref)
	}
	return err
}

// sealed reads a program that is to be kept, as it would be run.
func sealed(path string) ([]byte, error) {
	image, err := confine.SealFile(path)
	if err != nil {
		return nil, err
	}
	program, err := io.ReadAll(image.Reader())
	return program, errors.Join(err, image.Close())
}

func confirmUpgrade(ctx context.Context, differ []registry.Difference, interpreter store.Ref) error {
	terminal, err := attended.OpenFor("upgrading the registry")
	if err != nil {
		return err
	}
	defer terminal.Close()
	notice := []string{"This binary's built-ins that the registry does not serve as they are here:"}
	for _, d := range differ {
		what := "not served"
		if len(d.What) > 0 {
			what = "other " + strings.Join(d.What, ", ")
		}
		notice = append(notice, fmt.Sprintf("  %s: %s", d.ID, what))
	}
	ctx, cancel := context.WithTimeout(ctx, attended.AnswerTime)
	defer cancel()
	return terminal.Confirm(ctx, notice,
		fmt.Sprintf("Confirm upgrade of %d transition(s) under interpreter %s? [y/N] ", len(differ), interpreter))
}
