package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestUnnamed: the file of a credential has no name before the credential is in it,
// so that whoever is killed at the question leaves nothing, and it takes no name that
// is another's.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "credential")
	empty := func(when string) {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v", when, entries, err)
		}
	}
	f, _, err := unnamed(path)
	if err != nil {
		t.Fatal(err)
	}
	empty("before it is written")
	f.Close()
	empty("given up")
	f, publish, err := unnamed(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("token\n"); err != nil {
		t.Fatal(err)
	}
	empty("before it is published")
	if err := publish(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if content, readErr := os.ReadFile(path); err != nil || readErr != nil || string(content) != "token\n" || info.Mode() != 0o600 {
		t.Errorf("%q, %v, %v, %v", content, info, err, readErr)
	}
	if _, _, err := unnamed(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	late := filepath.Join(dir, "late")
	if _, publish, err = unnamed(late); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(late, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publish(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that was taken meanwhile: %v", err)
	}
}
