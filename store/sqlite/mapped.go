package sqlite

import (
	"runtime/debug"

	"world/fault"
)

// mapFile makes a connection that reads the whole file, much of it in no order, read
// it as memory: the system calls took a quarter of the time. What lies beyond 2 GiB,
// the library's bound, still comes by these. Lists that queries make on the way are
// kept in memory, too: the disk may be full.
func (c *conn) mapFile() error {
	c.mapped, c.kept.chunk = true, make([]byte, 0, chunkBytes)
	return c.script("PRAGMA mmap_size = 2147418112; PRAGMA temp_store = MEMORY")
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
