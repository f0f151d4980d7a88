// Command world-tool is everything that runs on the confined side of the fence.
package main

import (
	"os"

	"world/confine"
	"world/coordinator/capsule"
	"world/coordinator/capsule/starlark"
)

func main() {
	os.Exit(confine.Main(os.Args, map[string]confine.Verb{
		capsule.Verb: starlark.Serve,
	}))
}
