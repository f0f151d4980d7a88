package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"world/fault"
	"world/store/rows"
)

// SQLite takes an empty file for an empty database, drops a log whose file is
// gone, and plays a journal back that it never wrote. So the files are looked at
// before it opens them, by name and size: reading the database's own file would
// let go of the locks that other connections of this process hold on it.

const (
	journalSuffix = "-journal"
	indexSuffix   = "-shm"
	freshSuffix   = ".new" // a store that is being made
)

// Exists reports whether there is a store in a file. Corrupt: there was one, and
// what is left is not whole.
func Exists(path string) (bool, error) {
	canonical, err := canonicalPath(path)
	if err != nil {
		return false, nil // no folder
	}
	return checkFiles(canonical)
}

func checkFiles(path string) (bool, error) {
	const op = "sqlite: open"
	name := filepath.Base(path)
	info, err := os.Stat(path)
	switch {
	case err != nil && sizeOf(path+logSuffix) > 0:
		return false, fault.New(op, fault.Corrupt, "%s is missing, and its write-ahead log is there", name)
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fault.Wrap(op, fault.Unavailable, err, "%s cannot be found", name)
	case !info.Mode().IsRegular():
		return false, fault.New(op, fault.NotFound, "%s is not a file", name)
	case info.Size() == 0:
		return false, fault.New(op, fault.Corrupt, "%s is empty, as no store ever is", name)
	case sizeOf(path+journalSuffix) > 0:
		return false, fault.New(op, fault.Corrupt, "%s lies beside the store, which never has a rollback journal", name+journalSuffix)
	}
	return true, nil
}

// sizeOf is a file's size in bytes, 0 when there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// create makes a store without entries, for its owner only. It appears whole or
// not at all. The caller holds the writer lock.
func create(path string) (err error) {
	const op = "sqlite: create"
	fresh := path + freshSuffix
	for _, suffix := range []string{"", journalSuffix, logSuffix, indexSuffix} {
		if err := os.Remove(fresh + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fault.Wrap(op, fault.Unavailable, err, "what is left of %s cannot be removed", filepath.Base(fresh))
		}
	}
	f, err := os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "%s cannot be created", filepath.Base(path))
	}
	f.Close()
	c, err := connect(fresh, readWrite)
	if err != nil {
		return err
	}
	err = makeSchema(c)
	if err = errors.Join(err, c.close()); err != nil { // closing moves the log and removes it
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "%s cannot be created", filepath.Base(path))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// readingMode is how to read a store. Where nothing can be written SQLite cannot
// keep its index beside the file, and where there is no log it needs none.
func readingMode(path string) mode {
	if unix.Access(filepath.Dir(path), unix.W_OK) != nil && sizeOf(path+logSuffix) == 0 {
		return immutable
	}
	return readOnly
}

// tidy removes the empty log and the index that SQLite made to read a store that
// was closed. Whoever leaves last does so, when it may write; beside others this
// does nothing.
func tidy(path string) {
	if info, err := os.Stat(path + logSuffix); err != nil || info.Size() > 0 {
		return
	}
	c, err := connect(path, readWrite)
	if err != nil {
		return
	}
	c.each(func(rows.Scanner) error { return nil }, "SELECT count(*) FROM sqlite_schema")
	c.close()
}
