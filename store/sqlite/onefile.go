package sqlite

import (
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"world/fault"
)

// lockByte is what a writer locks of the database itself, so that the file has
// one writer under all its names and whatever becomes of the lock file: far from
// the bytes that SQLite locks, and from any that a file could have.
const lockByte = 1 << 62

// oneFile is a database's file as this process has it open beside SQLite. When
// any descriptor of a file is closed, a process loses the locks that SQLite holds
// on it; so ours stay open until the last store of the file is closed.
type oneFile struct {
	id      inode
	stores  int
	writing bool // by a store of this process
	locker  *os.File
	prober  *os.File
}

type inode struct{ device, number uint64 }

var files = struct {
	sync.Mutex
	open map[inode]*oneFile
}{open: map[inode]*oneFile{}}

// enter counts one more store of the file at path.
func enter(path string) (*oneFile, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return nil, fault.Wrap("sqlite: open", fault.Unavailable, err, "%s cannot be found", filepath.Base(path))
	}
	id := inode{s.Dev, s.Ino}
	files.Lock()
	defer files.Unlock()
	f := files.open[id]
	if f == nil {
		f = &oneFile{id: id}
		files.open[id] = f
	}
	f.stores++
	return f, nil
}

// lock makes the calling store the file's writer, without waiting.
func (f *oneFile) lock(path string) (err error) {
	const op = "sqlite: lock"
	name := filepath.Base(path)
	held := fault.New(op, fault.Locked, "another process writes %s, by another name of the file or with its %s removed", name, name+lockSuffix)
	files.Lock()
	defer files.Unlock()
	if f.writing {
		return held
	}
	if f.locker == nil {
		f.locker, err = f.descriptor(path, os.O_RDWR)
	}
	if err == nil {
		err = lockRange(f.locker.Fd(), unix.Flock_t{Type: unix.F_WRLCK, Start: lockByte, Len: 1})
	}
	if isHeld(err) {
		return held
	}
	if err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "%s cannot be locked", name)
	}
	f.writing = true
	return nil
}

// written reports whether some process writes the file. It takes nothing. In
// doubt it says yes.
func (f *oneFile) written(path string) bool {
	files.Lock()
	defer files.Unlock()
	if f.writing {
		return true
	}
	if f.prober == nil {
		var err error
		if f.prober, err = f.descriptor(path, os.O_RDONLY); err != nil {
			return true
		}
	}
	return rangeLocked(f.prober.Fd(), unix.Flock_t{Start: lockByte, Len: 1})
}

// descriptor opens the file, which must still be the one that was entered.
func (f *oneFile) descriptor(path string, mode int) (*os.File, error) {
	file, err := os.OpenFile(path, mode|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &s); err != nil || f.id != (inode{s.Dev, s.Ino}) {
		file.Close()
		return nil, fault.Wrap("sqlite: lock", fault.Unavailable, err, "%s was replaced meanwhile", filepath.Base(path))
	}
	return file, nil
}

// leave ends what one store has of the file, its lock if it was the writer.
func (f *oneFile) leave(writer bool) {
	files.Lock()
	defer files.Unlock()
	if writer {
		lockRange(f.locker.Fd(), unix.Flock_t{Type: unix.F_UNLCK, Start: lockByte, Len: 1})
		f.writing = false
	}
	if f.stores--; f.stores > 0 {
		return
	}
	delete(files.open, f.id)
	for _, file := range []*os.File{f.locker, f.prober} {
		if file != nil {
			file.Close()
		}
	}
}
