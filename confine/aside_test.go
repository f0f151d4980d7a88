package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/confine"
)

func TestAside(t *testing.T) {
	a, b := confine.Aside(), confine.Aside()
	if a == b || !confine.IsAside(a) || !confine.IsAside(b) {
		t.Errorf("names that can be foreseen, or are none: %s, %s", a, b)
	}
	for _, name := range []string{"", "." + a, a + ".", a[1:], a[:len(a)-5] + ".tmp", strings.Replace(a, "-tool-", "-tool-0", 1), ".world-tool-.tmp",
		".world-tool-" + strings.Repeat("g", 32) + ".tmp", ".world-tool-" + strings.Repeat("0", 16) + "/" + strings.Repeat("0", 15) + ".tmp"} {
		if confine.IsAside(name) {
			t.Errorf("%q is taken for one", name)
		}
	}
}

// TestSweepAside removes what lies aside at the top, deep, closed and linked things
// among it, and nothing else, through no link.
func TestSweepAside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	folder, file, link := confine.Aside(), confine.Aside(), confine.Aside()
	deep := filepath.Join(dir, folder, "gone-1")
	for range 300 {
		deep = filepath.Join(deep, "d")
	}
	err := errors.Join(os.MkdirAll(deep, 0o755), os.MkdirAll(filepath.Join(dir, "kept", folder), 0o755), os.Mkdir(filepath.Join(dir, folder+"x"), 0o755),
		os.WriteFile(filepath.Join(deep, "f"), nil, 0), os.WriteFile(filepath.Join(dir, folder, "0"), nil, 0o600), os.WriteFile(filepath.Join(dir, file), nil, 0o600),
		os.WriteFile(filepath.Join(outside, "stays"), nil, 0o600), os.Symlink(outside, filepath.Join(deep, "out")), os.Symlink(outside, filepath.Join(dir, link)),
		os.Symlink(outside, filepath.Join(dir, folder, "1")), os.Chmod(deep, 0), os.Chmod(filepath.Join(dir, folder), 0o500))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 2 { // there may be nothing
		if err := confine.SweepAside(root); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != folder+"x" || entries[1].Name() != "kept" {
		t.Errorf("%v, %v", entries, err)
	}
	for _, stays := range []string{filepath.Join(dir, "kept", folder), filepath.Join(outside, "stays")} {
		if _, err := os.Lstat(stays); err != nil {
			t.Error(err)
		}
	}
	if err := confine.RemoveAside(root, folder); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
}
