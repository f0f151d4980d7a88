// Command world-tool is everything that runs on the confined side of the fence.
package main

import (
	"os"

	"world/cmd/internal/guard"
	"world/confine"
	"world/coordinator/capsule"
	"world/coordinator/capsule/starlark"
	"world/tools/overlay"
	"world/tools/policytool"
	"world/tools/runner"
)

func main() {
	guard.Enforce("world-tool")
	os.Exit(confine.Main(os.Args, map[string]confine.Verb{
		capsule.Verb:    starlark.Serve,
		policytool.Verb: policytool.Serve,

		runner.Verb:       runner.Serve,
		runner.WorkerVerb: runner.Work,
	}, overlay.Apply))
}
