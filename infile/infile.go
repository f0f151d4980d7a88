// Package infile reads files whose names an operator gives.
//
// It promises that what is not a regular file is refused and never waited for: a
// pipe that nobody writes, a device, a folder; and that no more is read than the
// caller allows. Errors are one line and name the file as it was given, so they
// are for the operator alone. It does not say whose a file may be.
package infile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"world/fault"
)

const op = "infile: read"

// Open opens a regular file for reading. Unavailable: it cannot be opened, and
// errors.Is finds why. Invalid: it is something else than a file.
func Open(path string) (*os.File, error) {
	// Looked at before it is opened too, because opening can be an act of its own
	// on a device.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, irregular(path)
	}
	// Non-blocking, so that a pipe put there in between is opened at once.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, unreadable(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = unreadable(path, err)
	case !info.Mode().IsRegular():
		err = irregular(path)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// Read returns what is in a regular file of at most limit bytes. It fails as Open
// does. Limit: the file is larger.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path, limit)
}

func read(f io.Reader, path string, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if int64(len(raw)) > limit {
		return nil, fault.New(op, fault.Limit, "%q has more than %d bytes", path, limit)
	}
	return raw, nil
}

func unreadable(path string, err error) error {
	if strings.ContainsRune(path, 0) {
		return fault.Wrap(op, fault.Invalid, err, "%q holds a NUL byte, as no path does", path)
	}
	return fault.Wrap(op, fault.Unavailable, err, "%q cannot be read", path)
}

func irregular(path string) error {
	return fault.New(op, fault.Invalid, "%q is not a regular file", path)
}

// Dir is a folder whose files are read as Read reads them, each up to Limit bytes.
type Dir struct {
	Path  string
	Limit int64
}

var _ fs.ReadFileFS = Dir{}

// Open implements fs.FS: a folder to list, or a regular file.
func (d Dir) Open(name string) (fs.File, error) {
	path, err := d.at("open", name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return os.Open(path)
	}
	return Open(path)
}

// ReadFile implements fs.ReadFileFS.
func (d Dir) ReadFile(name string) ([]byte, error) {
	path, err := d.at("read", name)
	if err != nil {
		return nil, err
	}
	return Read(path, d.Limit)
}

func (d Dir) at(act, name string) (string, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return "", &fs.PathError{Op: act, Path: name, Err: fs.ErrInvalid}
	}
	return filepath.Join(d.Path, local), nil
}
