package infile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"world/fault"
	"world/infile"
)

// made lays out one of everything that a name may stand for.
func made(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"file": "0123456789", "empty": ""} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(socket) })
	if err := errors.Join(
		os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("pipe"), 0o600), syscall.Bind(socket, &syscall.SockaddrUnix{Name: at("socket")}),
		os.Symlink(at("file"), at("link")), os.Symlink(at("pipe"), at("link-to-pipe")), os.Symlink(at("none"), at("link-to-nothing")),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := made(t)
	for name, want := range map[string]string{"file": "0123456789", "empty": "", "link": "0123456789"} {
		raw, err := infile.Read(filepath.Join(dir, name), 10)
		if err != nil || string(raw) != want {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	for _, row := range []struct {
		name, says string
		kind       fault.Kind
	}{
		{filepath.Join(dir, "pipe"), "is not a regular file", fault.Invalid},
		{filepath.Join(dir, "link-to-pipe"), "is not a regular file", fault.Invalid},
		{filepath.Join(dir, "folder"), "is not a regular file", fault.Invalid},
		{filepath.Join(dir, "socket"), "is not a regular file", fault.Invalid},
		{"/dev/zero", "is not a regular file", fault.Invalid},
		{filepath.Join(dir, "none"), "cannot be read", fault.Unavailable},
		{filepath.Join(dir, "link-to-nothing"), "cannot be read", fault.Unavailable},
		{filepath.Join(dir, "file", "below"), "cannot be read", fault.Unavailable},
		{"", "cannot be read", fault.Unavailable},
		{filepath.Join(dir, "fi\x00le"), `le" holds a NUL byte`, fault.Invalid},
		{filepath.Join(dir, "two\nlines"), "cannot be read", fault.Unavailable},
	} {
		_, err := infile.Read(row.name, 10)
		if !fault.Is(err, row.kind) || !strings.Contains(fault.Public(err), row.says) || strings.ContainsAny(fault.Public(err), "\x00\n") {
			t.Errorf("%q: %v, want %q in one line", row.name, err, row.says)
		}
	}
	if _, err := infile.Read(filepath.Join(dir, "file"), 9); !fault.Is(err, fault.Limit) || !strings.Contains(fault.Public(err), `file" has more than 9 bytes`) {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := infile.Read(filepath.Join(dir, "none"), 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause of a missing file: %v", err)
	}
}

// A pipe that takes a file's place between the two looks is opened without a
// writer, and refused.
func TestAPipeIsOpenedAtOnce(t *testing.T) {
	dir := made(t)
	turning := filepath.Join(dir, "turning")
	stop := make(chan struct{})
	turned := make(chan error, 1)
	go func() {
		for {
			for _, name := range []string{"file", "pipe"} {
				err := errors.Join(os.Link(filepath.Join(dir, name), turning+".new"), os.Rename(turning+".new", turning))
				if name == "file" { // a rename onto another name of the same file leaves both
					os.Remove(turning + ".new")
				}
				if err != nil {
					turned <- err
					return
				}
			}
			select {
			case <-stop:
				turned <- nil
				return
			default:
			}
		}
	}()
	for range 2000 {
		f, err := infile.Open(turning)
		if err == nil {
			f.Close()
		}
	}
	close(stop)
	if err := <-turned; err != nil {
		t.Fatal(err)
	}
}

func TestDir(t *testing.T) {
	plain := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(plain, "below"), 0o700), os.WriteFile(filepath.Join(plain, "below", "file"), []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(infile.Dir{Path: plain, Limit: 10}, "below/file"); err != nil {
		t.Error(err)
	}
	d := infile.Dir{Path: made(t), Limit: 9}
	for name, kind := range map[string]fault.Kind{"pipe": fault.Invalid, "file": fault.Limit, "none": fault.Unavailable} {
		if _, err := fs.ReadFile(d, name); !fault.Is(err, kind) {
			t.Errorf("reading %s: %v", name, err)
		}
	}
	if _, err := d.Open("pipe"); !fault.Is(err, fault.Invalid) {
		t.Errorf("opening a pipe: %v", err)
	}
	for _, name := range []string{"../file", "/file", "a\x00b"} {
		if _, err := d.ReadFile(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("reading %q: %v", name, err)
		}
	}
	if f, err := d.Open("file"); err != nil {
		t.Error(err)
	} else if raw, err := io.ReadAll(f); err != nil || string(raw) != "0123456789" {
		t.Errorf("%q, %v", raw, err)
	}
}
