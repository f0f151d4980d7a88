// Command victim plays the script on its standard input until it ends or is
// killed. Built with the tag "stops" it ends itself where WORLD_STOP says.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"world/ci/crash/scene"
)

func main() {
	var script scene.Script
	err := json.NewDecoder(os.Stdin).Decode(&script)
	if err == nil {
		err = scene.Play(context.Background(), script, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
}
