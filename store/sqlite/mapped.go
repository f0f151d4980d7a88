package sqlite

import (
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"world/fault"
)

// mapping is a whole file as memory. The library maps 2 GiB of a file at most and
// reads the rest by system calls, so it is handed pages of a map of ours.
type mapping struct {
	data  []byte
	upper uintptr // the table of methods that takes the place of the file's, *ioMethods

	// The library keeps these as bare addresses, so they are kept alive here.
	fetch   func(tls *libc.TLS, file uintptr, at int64, n int32, to uintptr) int32
	unfetch func(tls *libc.TLS, file uintptr, at int64, page uintptr) int32
}

// mapFile makes a connection that reads the whole file, much of it in no order, read
// it as memory: the system calls took a quarter of the time. What comes to the file
// later is read by these. Lists that queries make on the way are kept in memory, too:
// the disk may be full.
func (c *conn) mapFile() error {
	at, err := c.filePointer(lib.SQLITE_FCNTL_FILE_POINTER)
	if err != nil {
		return err
	}
	var info unix.Stat_t
	fd := int(in[lib.TunixFile](at).Fh)
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	m := &mapping{}
	// A file that cannot be mapped, as one without bytes cannot, is read by system calls.
	m.data, _ = unix.Mmap(fd, 0, int(info.Size), unix.PROT_READ, unix.MAP_SHARED)
	file := in[lib.Tsqlite3_file](at)
	m.fetch, m.unfetch = m.onFetch, func(*libc.TLS, uintptr, int64, uintptr) int32 { return lib.SQLITE_OK }
	m.upper = alloc(c.tls, int(unsafe.Sizeof(ioMethods{})))
	upper := in[ioMethods](m.upper)
	*upper = *in[ioMethods](file.FpMethods)
	upper.FxFetch, upper.FxUnfetch = address(m.fetch), address(m.unfetch)
	file.FpMethods, c.mapping = m.upper, m
	c.kept.chunk = make([]byte, 0, chunkBytes)
	return c.script("PRAGMA mmap_size = 1; PRAGMA temp_store = MEMORY") // any size lets it ask
}

// onFetch gives the address of a page, none for one that is not mapped.
func (m *mapping) onFetch(_ *libc.TLS, _ uintptr, at int64, n int32, to uintptr) int32 {
	page := in[uintptr](to)
	*page = 0
	if at >= 0 && at+int64(n) <= int64(len(m.data)) {
		*page = uintptr(unsafe.Pointer(&m.data[at]))
	}
	return lib.SQLITE_OK
}

// free lets the memory go, after the connection was closed.
func (m *mapping) free(tls *libc.TLS) {
	if m != nil {
		if m.data != nil {
			unix.Munmap(m.data)
		}
		libc.Xfree(tls, m.upper)
	}
}

// unread stands around a statement that reads a mapped file: a page that the disk
// does not give, or that is there no more, is a fault of memory. What it returns is
// to be deferred, and makes an error of that, Corrupt.
func unread(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			*err = fault.New("sqlite: read page", fault.Corrupt, "a page of the file cannot be read")
		default:
			panic(p)
		}
	}
}
