package confinetest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ImagesVariable names a directory of built programs for a test process that
// cannot build them, or must not.
const ImagesVariable = "WORLD_TEST_IMAGES"

// ordinary is the user that tests of a root process drop to, and ordinaryGroup his
// group, which has another number. They have no names.
const (
	ordinary      = 61000
	ordinaryGroup = 61100
)

// AsOrdinaryUser runs this process's tests that match a pattern again, as an
// ordinary user who finds these programs built. A process that is ordinary already
// has nothing to run again.
func AsOrdinaryUser(t *testing.T, pattern string, pkgs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	dir := Dir(t)
	for _, pkg := range pkgs {
		program, err := io.ReadAll(Image(t, pkg).Reader())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path.Base(pkg)), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/proc/self/exe", "-test.run="+pattern, "-test.v")
	if err := Ordinary(cmd, dir); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: Test") {
		t.Fatalf("as an ordinary user: %v\n%s", err, out)
	}
}

// Ordinary makes a root process's command that of an ordinary user, who finds the
// programs of a folder built and has a home in it.
func Ordinary(cmd *exec.Cmd, dir string) error {
	home, err := os.MkdirTemp(dir, "home-")
	if err != nil {
		return err
	}
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home, ImagesVariable + "=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinaryGroup}}
	cmd.Dir = home
	return errors.Join(os.Chmod(home, 0o711), os.Chown(home, ordinary, ordinaryGroup))
}
