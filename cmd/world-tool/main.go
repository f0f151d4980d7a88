// Command world-tool is everything that runs on the confined side of the fence.
package main

import (
	"os"

	"world/confine"
)

func main() {
	os.Exit(confine.Main(os.Args, map[string]confine.Verb{}))
}
