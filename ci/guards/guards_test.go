package guards_test

import (
	"os"
	"path/filepath"
	"testing"

	"world/ci/guards"
)

// root is the top of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// built builds what is left without a removal's guards.
func built(t *testing.T, r guards.Removal) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "world-guards-") // not TMPDIR: the folder around a worktree must lie where a jail has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := r.Build(root(t), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOneGuard takes one guard out, so that each run of the suite shows that it is seen.
func TestOneGuard(t *testing.T) {
	r, ok := guards.Of(guards.PathRefusal)
	if !ok {
		t.Fatal("nothing takes it out")
	}
	acts, err := guards.Run(built(t, r), r.Tests, false)
	if err != nil {
		t.Fatal(err)
	}
	if red, err := r.Red(acts); err != nil || len(red) < 3 {
		t.Errorf("red are %q: %v", red, err)
	}
	// The control: the acts that other guards stop are stopped still.
	for _, a := range acts {
		if a.Guard != r.Guard && a.Result != "pass" {
			t.Errorf("%s, which %q stops, ends with %q", a.Name, a.Guard, a.Result)
		}
	}
}
