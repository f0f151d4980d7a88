package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// worldTool is the binary that daemons of these tests find beside themselves.
var worldTool string

// TestMain makes this binary the programs of the scripts too.
func TestMain(m *testing.M) { testscript.Main(suite{m}, programs) }

type suite struct{ m *testing.M }

// Run implements testscript.TestingM.
func (s suite) Run() int { return build(s.m) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ailang-worldd-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	worldTool = filepath.Join(dir, "world-tool")
	cmd := exec.Command("go", "build", "-trimpath", "-o", worldTool, "world/cmd/world-tool")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build of world-tool: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	// The jail forks from one thread that lives as long as the process.
	if err := goleak.Find(goleak.IgnoreAnyFunction("world/confine.newSpawner.func1")); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
