package rig

import (
	"fmt"
	"os"
	"os/exec"
)

// builtVariable names a folder in which the programs of the house are built already,
// as releases are: a run of every suite builds them once. An absolute path.
const builtVariable = "WORLD_BIN"

// Programs returns a folder with programs of the house, given by their packages: the
// one that WORLD_BIN names, or dir, into which it builds them as releases are built.
func Programs(dir string, packages ...string) (bin string, err error) {
	if bin := os.Getenv(builtVariable); bin != "" {
		return bin, nil
	}
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-o", dir + "/"}, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return dir, nil
}

// Build hands over a folder with the programs of the house, which it removes afterwards
// if it had to build them. It returns an exit code.
func Build(pattern string, with func(bin string) int) int {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin, err := Programs(dir, "world/cmd/...")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return with(bin)
}
