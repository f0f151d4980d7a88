package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"world/ci/rig"
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
	bin, err := rig.Programs(dir, "world/cmd/world-tool")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	worldTool = filepath.Join(bin, "world-tool")
	code := m.Run()
	// The jail forks from one thread that lives as long as the process.
	if err := goleak.Find(goleak.IgnoreAnyFunction("world/confine.newSpawner.func1")); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
