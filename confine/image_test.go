package confine_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"world/confine"
	"world/fault"
)

// A program is read from a file and from nothing else: a pipe that nobody writes
// is not waited for.
func TestSealFileTakesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]fault.Kind{
		pipe: fault.Invalid, dir: fault.Invalid, "/dev/zero": fault.Invalid, filepath.Join(dir, "none"): fault.Unavailable,
	} {
		if _, err := confine.SealFile(path); !fault.Is(err, kind) {
			t.Errorf("%s: %v, want kind %v", path, err, kind)
		}
	}
	image, err := confine.SealFile(file)
	if err != nil {
		t.Fatal(err)
	}
	image.Close()
}
