// Command world-law proves, runs and breaks the law.
//
// Exit codes: 0 done and as it should be; 1 tried and not proved, or not as it
// should be; 2 could not be tried: a solver is missing or a file does not parse.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"world/cmd/internal/guard"
)

// endTime is how long what runs may take to end after a signal. Not everything
// asks whether it should go on.
const endTime = 2 * time.Second

func main() {
	guard.Enforce(program)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends us at once
		time.AfterFunc(endTime, func() {
			fmt.Fprintf(os.Stderr, "%s: stopped in the middle\n", program)
			os.Exit(exitUntried)
		})
	})
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one verb and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	verb, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "%s: %s\n", verb.CommandPath(), oneLine(err))
	return exitCode(err)
}
