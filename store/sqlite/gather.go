package sqlite

import (
	"os"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// gatherSize is how much of the write-ahead log is gathered at most, in bytes. A
// call's commit is half of it. SQLite writes less than 128 KiB at a time.
const gatherSize = 1 << 16

// gather stands between a connection and its write-ahead log. SQLite writes each
// page of a commit by two system calls, some forty in the two commits of a call,
// and these took longer than the bytes. Here they become one write before the sync.
//
// What is durable when stays the same: SQLite syncs the log before it tells
// anybody that a commit is in it (synchronous=FULL), and the sync first writes
// what was gathered. So does all else that looks at the log through this
// connection; others look only at what was committed. A write that fails fails
// the sync, and so the commit, and what was gathered is dropped, as SQLite drops
// the pages of a commit that failed.
type gather struct {
	lower ioMethods // the log's own
	upper uintptr   // the table that takes its place, *ioMethods
	mem   uintptr
	room  []byte // mem as Go sees it
	used  int    // bytes of room
	start int64  // where in the log they go
	noting

	// The library keeps these as bare addresses, so they are kept alive here.
	write    func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
	read     func(tls *libc.TLS, file, to uintptr, n int32, at int64) int32
	truncate func(tls *libc.TLS, file uintptr, size int64) int32
	sync     func(tls *libc.TLS, file uintptr, flags int32) int32
	fileSize func(tls *libc.TLS, file, size uintptr) int32
	close    func(tls *libc.TLS, file uintptr) int32
}

type ioMethods = lib.Tsqlite3_io_methods

// gatherLog makes the connection gather what it writes to its log. The log must
// be open, which it is once something was read in WAL mode. Commits are noted in
// the file notes, nil for nowhere.
func (c *conn) gatherLog(notes *os.File) error {
	at, err := c.filePointer(lib.SQLITE_FCNTL_JOURNAL_POINTER)
	if err != nil {
		return err
	}
	file := in[lib.Tsqlite3_file](at)
	if file.FpMethods == 0 {
		panic("sqlite: the write-ahead log is not open")
	}
	g := &gather{lower: *in[ioMethods](file.FpMethods), noting: noting{in: mapNotes(notes)}}
	g.mem = alloc(c.tls, gatherSize)
	g.room = libc.GoBytes(g.mem, gatherSize)
	g.write, g.read, g.truncate, g.sync, g.fileSize, g.close = g.onWrite, g.onRead, g.onTruncate, g.onSync, g.onFileSize, g.onClose
	g.upper = alloc(c.tls, int(unsafe.Sizeof(ioMethods{})))
	upper := in[ioMethods](g.upper)
	*upper = g.lower
	upper.FxWrite, upper.FxRead, upper.FxTruncate = address(g.write), address(g.read), address(g.truncate)
	upper.FxSync, upper.FxFileSize, upper.FxClose = address(g.sync), address(g.fileSize), address(g.close)
	file.FpMethods, c.gather = g.upper, g
	return nil
}

// free lets the memory go, after the connection was closed.
func (g *gather) free(tls *libc.TLS) {
	if g != nil {
		g.unmap()
		libc.Xfree(tls, g.mem)
		libc.Xfree(tls, g.upper)
	}
}

// onWrite gathers bytes that follow those gathered before.
func (g *gather) onWrite(tls *libc.TLS, file, from uintptr, n int32, at int64) int32 {
	g.frame(libc.GoBytes(from, int(n)), at)
	if g.used > 0 && (at != g.start+int64(g.used) || int(n) > len(g.room)-g.used) {
		if rc := g.flush(tls, file); rc != lib.SQLITE_OK {
			return rc
		}
	}
	if int(n) > len(g.room) {
		return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](g.lower.FxWrite)(tls, file, from, n, at)
	}
	if g.used == 0 {
		g.start = at
	}
	g.used += copy(g.room[g.used:], libc.GoBytes(from, int(n)))
	return lib.SQLITE_OK
}

// flush writes what was gathered. When that fails it is dropped.
func (g *gather) flush(tls *libc.TLS, file uintptr) int32 {
	if g.used == 0 {
		return lib.SQLITE_OK
	}
	n := int32(g.used)
	g.used = 0
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](g.lower.FxWrite)(tls, file, g.mem, n, g.start)
}

func (g *gather) onSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := g.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	rc := function[func(*libc.TLS, uintptr, int32) int32](g.lower.FxSync)(tls, file, flags)
	g.synced(rc)
	return rc
}

func (g *gather) onRead(tls *libc.TLS, file, to uintptr, n int32, at int64) int32 {
	if rc := g.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](g.lower.FxRead)(tls, file, to, n, at)
}

func (g *gather) onTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := g.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int64) int32](g.lower.FxTruncate)(tls, file, size)
}

func (g *gather) onFileSize(tls *libc.TLS, file, size uintptr) int32 {
	if rc := g.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](g.lower.FxFileSize)(tls, file, size)
}

// onClose drops what was gathered: it belongs to no commit.
func (g *gather) onClose(tls *libc.TLS, file uintptr) int32 {
	return function[func(*libc.TLS, uintptr) int32](g.lower.FxClose)(tls, file)
}

// in is memory of the library as a T. It is not for memory of Go.
func in[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// address is a function as the library calls it. Whoever takes it keeps f alive.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the inverse of address.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }
