// Command ailang-worldd is the daemon and the operator's command line.
//
// Exit codes: 0 done; 1 usage, refusal or client failure; 2 the store or the
// start failed; 3 integrity: evidence does not hold. Results go to stdout, words
// about them to stderr.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"world/cmd/internal/guard"
	"world/cmd/internal/secret"
)

func main() {
	args := secret.Args()
	guard.Enforce(program)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one verb and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	verb, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if err.Error() != "" {
		fmt.Fprintf(stderr, "%s: %s\n", verb.CommandPath(), startupText(err))
	}
	return exitCode(err)
}
