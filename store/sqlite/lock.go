package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"world/fault"
	"world/infile"
)

// lockSuffix is added to the canonical path of the database.
const lockSuffix = ".writer.lock"

// nameLock is a held lock file.
type nameLock struct {
	file *os.File
	made bool // by us: there was none
}

// lockName takes the writer lock of a path without waiting. The lock belongs to
// the open file, so it ends with the process however that ends. Only its holder
// removes the file, and whoever locked a removed one starts again: otherwise two
// processes could lock two files of one name.
func lockName(canonical string) (nameLock, error) {
	const op = "sqlite: lock"
	name := canonical + lockSuffix
	for {
		f, made, err := openLock(name)
		if err != nil {
			return nameLock{}, fault.Wrap(op, fault.Unavailable, err, "the writer lock cannot be opened")
		}
		err = lockRange(f.Fd(), unix.Flock_t{Type: unix.F_WRLCK})
		if err == nil {
			ours, err1 := f.Stat()
			there, err2 := os.Stat(name)
			if err1 == nil && err2 == nil && os.SameFile(ours, there) {
				return nameLock{f, made}, nil
			}
			f.Close()
			continue
		}
		f.Close()
		if isHeld(err) {
			return nameLock{}, fault.New(op, fault.Locked, "another process holds %s", filepath.Base(name))
		}
		return nameLock{}, fault.Wrap(op, fault.Unavailable, err, "the writer lock cannot be taken")
	}
}

func openLock(name string) (f *os.File, made bool, err error) {
	f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NONBLOCK, 0o600)
		return f, false, err
	}
	return f, true, err
}

// refuse lets go of the lock of a store that was not opened, and leaves no file
// behind that was not there.
func (l nameLock) refuse() {
	if l.made {
		os.Remove(l.file.Name())
	}
	l.file.Close()
}

func lockRange(fd uintptr, l unix.Flock_t) error { return unix.FcntlFlock(fd, unix.F_OFD_SETLK, &l) }

func isHeld(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) }

// nameLocked reports whether some process holds the writer lock of a path. It
// takes nothing. In doubt it says yes, so that no running effect is called lost.
func nameLocked(canonical string) bool {
	f, err := infile.Open(canonical + lockSuffix)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	return rangeLocked(f.Fd(), unix.Flock_t{})
}

func rangeLocked(fd uintptr, probe unix.Flock_t) bool {
	probe.Type = unix.F_WRLCK
	err := unix.FcntlFlock(fd, unix.F_OFD_GETLK, &probe)
	return err != nil || probe.Type != unix.F_UNLCK
}
