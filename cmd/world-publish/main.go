// Command world-publish publishes, attended: a person at a controlling terminal
// types a phrase for every act.
//
// Exit codes: 0 done; 1 failed; 2 usage; 3 STOP, with the fence that stopped it
// on standard error. It publishes transitions to a store's own registry.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"world/cmd/internal/guard"
	"world/cmd/internal/secret"
)

const program = "world-publish"

const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitStop   = 3
)

// stop is the refusal of one fence.
type stop struct {
	fence  string // ci, tty, confirmation or store
	reason string // one word, "" for none
	err    error
}

func (s stop) Error() string {
	line := "STOP fence=" + s.fence
	if s.reason != "" {
		line += " reason=" + s.reason
	}
	if s.err != nil {
		line += "\n" + s.err.Error()
	}
	return line
}

func (s stop) Unwrap() error { return s.err }

// failure is an act that was begun and did not come about.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

func main() {
	args := secret.Args()
	guard.Enforce(program)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	cancel()
	os.Exit(report(err))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           program,
		Short:         "Publish, one attended act at a time",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newTransitions())
	return root
}

// report prints an error and returns its exit code.
func report(err error) int {
	if err == nil {
		return exitDone
	}
	var stopped stop
	if errors.As(err, &stopped) {
		fmt.Fprintln(os.Stderr, stopped.Error())
		return exitStop
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
	var failed failure
	if errors.As(err, &failed) {
		return exitFailed
	}
	return exitUsage
}
