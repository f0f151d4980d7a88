package rootwalk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"world/rootwalk"
)

func tree(t *testing.T, names ...string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestWalksLikeFS: where names are texts, each visit is the one that fs.WalkDir makes,
// whatever is passed over.
func TestWalksLikeFS(t *testing.T) {
	root := tree(t, "a/b/c", "a/b/d", "a/e", "f", "g/h", "g/i", "z")
	if err := root.Symlink("a", "link"); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	for at, with := range map[string]error{"": nil, "a/b": fs.SkipDir, "a/b/c": fs.SkipDir, "g": fs.SkipAll, "g/h": failed, ".": fs.SkipDir, "f": fs.SkipDir} {
		seen := func(walk func(fs.WalkDirFunc) error) (all []string) {
			err := walk(func(name string, e fs.DirEntry, err error) error {
				info, infoErr := e.Info()
				all = append(all, fmt.Sprint(name, e.Type(), e.Name(), info.Mode(), err, infoErr))
				if name == at {
					return with
				}
				return nil
			})
			return append(all, fmt.Sprint(err))
		}
		for _, from := range []string{".", "a", "f"} {
			want := seen(func(visit fs.WalkDirFunc) error { return fs.WalkDir(root.FS(), from, visit) })
			if got := seen(func(visit fs.WalkDirFunc) error { return rootwalk.Walk(root, from, visit) }); !slices.Equal(got, want) {
				t.Errorf("%v at %q from %s:\n%v, want\n%v", with, at, from, got, want)
			}
		}
	}
}

// TestNamesAreBytes: fs.WalkDir stops where this goes on.
func TestNamesAreBytes(t *testing.T) {
	root := tree(t, "a", "dir\xff/q", "z\xfe")
	if err := fs.WalkDir(root.FS(), ".", func(_ string, _ fs.DirEntry, err error) error { return err }); !errors.Is(err, fs.ErrInvalid) {
		t.Fatalf("the library walks through: %v", err)
	}
	var names []string
	if err := rootwalk.Walk(root, ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}); err != nil || !slices.Equal(names, []string{".", "a", "dir\xff", "dir\xff/q", "z\xfe"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestWhatCannotBeListed is visited again with the error, and what is not there once.
func TestWhatCannotBeListed(t *testing.T) {
	root := tree(t, "a/b", "c")
	var visits []string
	err := rootwalk.Walk(root, ".", func(name string, _ fs.DirEntry, err error) error {
		visits = append(visits, fmt.Sprintf("%s %t", name, err != nil))
		if name == "a" && err == nil {
			return root.RemoveAll("a") // between the look and the listing
		}
		return nil
	})
	if err != nil || !slices.Equal(visits, []string{". false", "a false", "a true", "c false"}) {
		t.Errorf("%q, %v", visits, err)
	}
	if err := rootwalk.Walk(root, "none", func(_ string, _ fs.DirEntry, err error) error { return err }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}
