// Command hold is world-tool behind a wait: its policy-tool does not start
// while the worktree holds the file ".hold". It makes ".held" to say that it
// waits, so that a test or the demo knows when a call is in its handler.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"world/confine"
	"world/coordinator/capsule"
	"world/coordinator/capsule/starlark"
	"world/tools/policytool"
	"world/tools/runner"
)

func main() {
	os.Exit(confine.Main(os.Args, confine.Stage{Verbs: map[string]confine.Verb{
		capsule.Verb:    starlark.Serve,
		policytool.Verb: held,

		runner.Verb:       runner.Serve,
		runner.WorkerVerb: runner.Work,
	}}))
}

// held waits in the worktree, which is the working folder, and then serves.
func held(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(".hold"); err != nil {
			return policytool.Serve(args, stdin, stdout, stderr)
		}
		if err := os.WriteFile(".held", nil, 0o644); err != nil {
			fmt.Fprintln(stderr, "hold:", err)
			return 1
		}
		<-tick.C
	}
}
