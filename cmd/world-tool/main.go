// Command world-tool is everything that runs on the confined side of the fence.
//
// It starts once for every call: the Go runtime need not look for control groups
// each time, to learn of processors that they would take away.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
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
	os.Exit(confine.Main(os.Args, confine.Stage{Verbs: map[string]confine.Verb{
		capsule.Verb:    starlark.Serve,
		policytool.Verb: policytool.Serve,

		runner.Verb:       runner.Serve,
		runner.WorkerVerb: runner.Work,
	}, Rehearsals: map[string][]byte{
		capsule.Verb:    starlark.Rehearsal(),
		policytool.Verb: policytool.Rehearsal(),
	}, Apply: overlay.Apply}))
}
