package confine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWithout: at level landlock, which can only admit, directories with something closed
// in them are admitted piece by piece, and no link for what it leads to.
func TestWithout(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return paths
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o755), os.Mkdir(filepath.Join(dir, "d"), 0o755),
		os.Symlink("a/b/shut", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range at("a/b/shut", "a/b/open", "a/file") {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ closed, dirs, files []string }{
		{nil, []string{dir}, nil},
		{at("e"), at("a", "d"), nil},
		{at("a/b/shut"), at("a/b/c", "d"), at("a/b/open", "a/file")},
		{at("a/b", "d"), nil, at("a/file")},
		{[]string{dir}, nil, nil},
	} {
		if dirs, files := without([]string{dir}, test.closed); !slices.Equal(dirs, test.dirs) || !slices.Equal(files, test.files) {
			t.Errorf("without %v: %v and %v", test.closed, dirs, files)
		}
	}
}

// TestIsForAll: one file or directory that not everybody may read is enough, wherever
// it lies; a link is no more than where it leads, which lies elsewhere.
func TestIsForAll(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "file")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o755), os.WriteFile(file, nil, 0o644), os.Symlink("nowhere", filepath.Join(dir, "link")), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	if !IsForAll(dir) || !IsForAll(filepath.Join(dir, "a")) {
		t.Error("control")
	}
	if err := os.Chmod(dir, 0o754); err != nil {
		t.Fatal(err)
	}
	if IsForAll(filepath.Join(dir, "a")) {
		t.Error("a directory that only its owner can walk to is for all")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, modes := range map[string][2]os.FileMode{file: {0o640, 0o644}, filepath.Dir(file): {0o751, 0o755}, dir: {0o700, 0o755}} {
		if err := os.Chmod(path, modes[0]); err != nil {
			t.Fatal(err)
		}
		if IsForAll(dir) {
			t.Errorf("%s at %v", path, modes[0])
		}
		if err := os.Chmod(path, modes[1]); err != nil {
			t.Fatal(err)
		}
	}
	if IsForAll(filepath.Join(dir, "none")) || IsForAll("/usr") {
		t.Error("what is not there, or too much to tell, is for all")
	}
}

// TestPrefix: an interpreter that a link of the system's leads to is where it leads.
func TestPrefix(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, link := filepath.Join(dir, "python", "bin", "python3"), filepath.Join(dir, "link")
	if err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o755), os.WriteFile(program, nil, 0o755), os.Symlink(program, link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		link: filepath.Join(dir, "python"), program: filepath.Join(dir, "python"),
		filepath.Join(dir, "none"): "", "/bin/sh": "", "/usr/bin/env": "",
	} {
		if got := Prefix(path); got != want {
			t.Errorf("%s lies in %q", path, got)
		}
	}
}
