// Package confinetest builds the programs that tests of confinement run.
package confinetest

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"

	"world/confine"
)

var (
	mu     sync.Mutex
	images = map[string]*confine.Image{}
	jails  = map[confine.Level]*confine.Jail{} // by ceiling, without hidden paths
)

// WorldTool is the package of the program on the confined side.
const WorldTool = "world/cmd/world-tool"

// builtVariable names a folder in which the programs of the house are built already, as
// releases are: a run of every suite builds them once. An absolute path.
const builtVariable = "WORLD_BIN"

// Image builds a main package as releases are built, once a process, and seals it. A
// program of the house that is built already is taken as it is.
func Image(t testing.TB, pkg string) *confine.Image {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if image, ok := images[pkg]; ok {
		return image
	}
	obtain := build
	dir := os.Getenv(ImagesVariable)
	if dir == "" && path.Dir(pkg) == path.Dir(WorldTool) {
		dir = os.Getenv(builtVariable)
	}
	if dir != "" {
		obtain = func(pkg string) (*confine.Image, error) { return confine.SealFile(filepath.Join(dir, path.Base(pkg))) }
	}
	image, err := obtain(pkg)
	if err != nil {
		t.Fatal(err)
	}
	images[pkg] = image
	return image
}

func build(pkg string) (*confine.Image, error) {
	dir, err := os.MkdirTemp("", "world-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return confine.SealFile(path)
}

// Jail returns a jail of world-tool with a ceiling, 0 for none, and demands that it
// reaches it: a test of the fence on a machine without one would prove nothing.
// Those that hide nothing of their own are proved once a process.
func Jail(t testing.TB, ceiling confine.Level, hidden ...string) *confine.Jail {
	t.Helper()
	stage := Image(t, WorldTool)
	if ceiling == 0 {
		ceiling = confine.Namespaces
	}
	mu.Lock()
	defer mu.Unlock()
	if jail, ok := jails[ceiling]; ok && len(hidden) == 0 {
		return jail
	}
	jail, err := confine.New(confine.Options{Stage: stage, Ceiling: ceiling, Hidden: hidden})
	if err != nil {
		t.Fatal(err)
	}
	if jail.Reach().Level != ceiling {
		t.Fatalf("the machine reaches %s", jail.Reach())
	}
	if len(hidden) == 0 {
		jails[ceiling] = jail
	}
	return jail
}

// Dir returns a directory that programs' users can walk to, unlike t.TempDir of a
// root process, whose parents are closed to them.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}
