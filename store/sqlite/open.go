package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	driver "modernc.org/sqlite"

	"world/fault"
	"world/store"
	"world/store/batch"
)

// Options says how to open a store. The zero value opens it for writing.
type Options struct {
	// ReadOnly takes no lock, applies no migration and leaves the files as they
	// are. Only a store that was not closed needs a folder that can be written.
	ReadOnly bool
	Readers  int // connections for reading, 4 when 0
	// Sealed opens a store for writing though it is held or sealed (store.Seal).
	Sealed bool
}

// Store is a world in one SQLite file.
type Store struct {
	path    string // canonical
	reading mode   // how connections for reading are opened
	lock    nameLock
	file    *oneFile
	readers *pool
	writer  *writer // nil when read-only
	mirror  *mirror // likewise
	closing sync.Once

	leasing chan struct{} // one slot: leases change hands one at a time
	mu      sync.RWMutex
	held    map[store.EpisodeID]int64 // epochs that this process took; the rows decide
}

var _ store.Store = (*Store)(nil)

// fastSync syncs the same bytes as fsync without a journal commit of the file
// system for a time stamp, which SQLite does not read.
var fastSync = sync.OnceFunc(func() { driver.Fdatasync(true) })

// Open opens the store in a file, for writing unless opts says otherwise. A
// writer creates a missing file, takes the writer lock first and migrates an
// older schema; it ends with everything in the file itself. Locked: another
// process writes. Version: another program's file or a newer schema, left
// untouched. Corrupt: the file or its log is damaged. NotFound: there is no store
// to read.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	const op = "sqlite: open"
	if ctx.Err() != nil {
		return nil, batch.Ended(ctx, op)
	}
	fastSync()
	canonical, err := canonicalPath(path)
	if err != nil {
		return nil, fault.Wrap(op, fault.NotFound, err, "there is no folder for %s", filepath.Base(path))
	}
	s := &Store{path: canonical, reading: readOnly, leasing: make(chan struct{}, 1), held: map[store.EpisodeID]int64{}}
	if opts.ReadOnly {
		err = s.openReading(opts)
	} else {
		err = s.openWriting(opts)
	}
	if err != nil {
		return nil, asFault(op, err)
	}
	return s, nil
}

// canonicalPath resolves links, so that one file has one lock however it is
// named. The file itself may be missing; its folder may not.
func canonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	return filepath.Join(dir, filepath.Base(abs)), err
}

func (s *Store) openWriting(opts Options) (err error) {
	if s.lock, err = lockName(s.path); err != nil {
		return err
	}
	var w *conn
	locked := false
	defer func() {
		if err == nil {
			return
		}
		if w != nil {
			w.close()
		}
		if s.file != nil {
			s.file.leave(locked)
		}
		s.lock.refuse()
	}()
	exists, err := checkFiles(s.path)
	if err != nil {
		return err
	}
	if !exists {
		err = create(s.path)
	} else {
		err = checkLog(s.path)
	}
	if err != nil {
		return err
	}
	if s.file, err = enter(s.path); err != nil {
		return err
	}
	if err = s.file.lock(s.path); err != nil {
		return err
	}
	locked = true
	if w, err = connect(s.path, readWrite); err != nil {
		return err
	}
	if err = prepareSchema(w); err != nil {
		return err
	}
	if !opts.Sealed {
		seal, err := readSeal(w)
		if err = errors.Join(err, seal.Refuse("sqlite: open")); err != nil {
			return err
		}
	}
	if err = endLeases(w); err != nil {
		return err
	}
	if err = w.gatherLog(s.lock.file); err != nil {
		return err
	}
	checkpoints, err := connect(s.path, readWrite)
	if err != nil {
		return err
	}
	// Who reads beside us may keep some of the log; nobody waits for that.
	if err = checkpoints.script("PRAGMA busy_timeout = 0"); err != nil {
		checkpoints.close()
		return err
	}
	empty(checkpoints)
	if s.readers, err = s.newReaders(opts); err != nil {
		checkpoints.close()
		return err
	}
	s.mirror = newMirror()
	w.known.mirror = s.mirror
	s.writer = startWriter(w, checkpoints)
	return nil
}

func (s *Store) openReading(opts Options) error {
	exists, err := checkFiles(s.path)
	if err == nil && !exists {
		err = fault.New("sqlite: open", fault.NotFound, "there is no store in %s", filepath.Base(s.path))
	}
	if err == nil {
		err = checkLog(s.path)
	}
	if err != nil {
		return err
	}
	if s.file, err = enter(s.path); err != nil {
		return err
	}
	s.reading = readingMode(s.path)
	if s.readers, err = s.newReaders(opts); err != nil {
		s.file.leave(false)
	}
	return err
}

func (s *Store) newReaders(opts Options) (*pool, error) {
	n := opts.Readers
	if n <= 0 {
		n = 4
	}
	return newPool(n, func() (*conn, error) {
		c, err := connect(s.path, s.reading)
		if err != nil {
			return nil, err
		}
		if err := checkSchema(c); err != nil {
			c.close()
			return nil, err
		}
		return c, nil
	})
}

// Close implements store.Store. A second Close does nothing.
func (s *Store) Close() (err error) {
	s.closing.Do(func() {
		s.readers.close()
		if s.writer != nil {
			err = s.writer.close()
			s.file.leave(true)
			s.lock.file.Close()
			return
		}
		s.file.leave(false)
		if s.reading == readOnly {
			tidy(s.path)
		}
	})
	return asFault("sqlite: close", err)
}
