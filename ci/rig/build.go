package rig

import (
	"fmt"
	"os"
	"os/exec"
)

// Build builds the programs of the house as releases are built into a new folder
// for temporary files, calls with, and removes the folder. It returns an exit code.
func Build(pattern string, with func(bin string) int) int {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+"/", "world/cmd/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return with(dir)
}
