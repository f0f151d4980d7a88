package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"world/fault"
)

// lockSuffix is added to the canonical path of the database.
const lockSuffix = ".writer.lock"

// lockWriter takes the writer lock without waiting. The lock belongs to the open
// file, so it ends with the process however that ends; the file itself stays,
// because removing it would let two processes lock two files of one name.
func lockWriter(canonical string) (*os.File, error) {
	const op = "sqlite: lock"
	f, err := os.OpenFile(canonical+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(op, fault.Unavailable, err, "the writer lock cannot be opened")
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, fault.New(op, fault.Locked, "another process holds %s", filepath.Base(canonical)+lockSuffix)
	}
	return nil, fault.Wrap(op, fault.Unavailable, err, "the writer lock cannot be taken")
}

// writerLives reports whether some process holds the writer lock. It takes
// nothing. In doubt it says yes, so that no running effect is called lost.
func writerLives(canonical string) bool {
	f, err := os.Open(canonical + lockSuffix)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	probe := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &probe)
	return err != nil || probe.Type != unix.F_UNLCK
}
