package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"world/fault"
	"world/store"
)

// tapped counts what reaches the log of a store, and fails a write or a sync on demand.
type tapped struct {
	writes, syncs         int
	failWrite, failSync   bool
	write                 func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	sync                  func(*libc.TLS, uintptr, int32) int32
	lowerWrite, lowerSync uintptr
}

func tap(t *testing.T, s *Store) *tapped {
	t.Helper()
	g := s.writer.c.gather
	tp := &tapped{lowerWrite: g.lower.FxWrite, lowerSync: g.lower.FxSync}
	tp.write = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32 {
		tp.writes++
		if tp.failWrite {
			return lib.SQLITE_IOERR_WRITE
		}
		return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](tp.lowerWrite)(tls, file, from, n, at)
	}
	tp.sync = func(tls *libc.TLS, file uintptr, flags int32) int32 {
		tp.syncs++
		if tp.failSync {
			return lib.SQLITE_IOERR_FSYNC
		}
		return function[func(*libc.TLS, uintptr, int32) int32](tp.lowerSync)(tls, file, flags)
	}
	s.writer.queue.Between(func() { g.lower.FxWrite, g.lower.FxSync = address(tp.write), address(tp.sync) })
	t.Cleanup(func() {
		s.Close()
		runtime.KeepAlive(tp) // the library holds no more than addresses
	})
	return tp
}

// TestOneWriteACommit: a commit of many pages is one write and one sync of the log,
// in this order, and the next reader sees it.
func TestOneWriteACommit(t *testing.T) {
	s := openInternal(t)
	keepOne(t, s, "the log has begun")
	tp := tap(t, s)
	for n := range 20 {
		var objects []store.Object
		for i := range 20 {
			objects = append(objects, store.NewObject("test", "test", fmt.Appendf(nil, "%d %0100d", n, i)))
		}
		if err := s.Keep(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
		if tp.writes != n+1 || tp.syncs != n+1 {
			t.Fatalf("after %d commits: %d writes, %d syncs", n+1, tp.writes, tp.syncs)
		}
		for _, o := range objects {
			if got, err := s.Object(t.Context(), o.Ref()); err != nil || !bytes.Equal(got.Bytes(), o.Bytes()) {
				t.Fatalf("%s is not there: %v", o.Bytes(), err)
			}
		}
	}
	if err := checkLog(s.path); err != nil {
		t.Fatal(err)
	}
}

// TestLargeCommit: what does not fit is written in parts, also when SQLite writes
// pages before it commits, reads them back, and writes them again.
func TestLargeCommit(t *testing.T) {
	s := openInternal(t)
	tp := tap(t, s)
	var objects []store.Object
	for n := range 40 {
		objects = append(objects, store.NewObject("test", "test", bytes.Repeat([]byte{byte(n)}, n*gatherSize)))
	}
	for n := range 3000 { // in no order, so that pages of the index are written more than once
		objects = append(objects, store.NewObject("test", "test", fmt.Appendf(nil, "%0900d", n)))
	}
	if err := s.Keep(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	if tp.writes < 10 {
		t.Fatalf("all was written by %d writes", tp.writes)
	}
	for _, o := range objects {
		if got, err := s.Object(t.Context(), o.Ref()); err != nil || !bytes.Equal(got.Bytes(), o.Bytes()) {
			t.Fatalf("an object of %d bytes is not there: %v", len(o.Bytes()), err)
		}
	}
	if err := checkLog(s.path); err != nil {
		t.Fatal(err)
	}
	a, err := s.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if lines, err := a.Engine(t.Context()); err != nil || len(lines) > 0 {
		t.Fatalf("%q, %v", lines, err)
	}
}

// TestLogFails: a write or a sync of the log that fails, fails the commit. Nothing
// of it is seen, then or later, and the store goes on when the disk does.
func TestLogFails(t *testing.T) {
	for name, fail := range map[string]func(*tapped, bool){
		"write": func(tp *tapped, on bool) { tp.failWrite = on },
		"sync":  func(tp *tapped, on bool) { tp.failSync = on },
	} {
		t.Run(name, func(t *testing.T) {
			s := openInternal(t)
			keepOne(t, s, "before")
			tp := tap(t, s)
			fail(tp, true)
			lost := store.NewObject("test", "test", []byte("lost"))
			err := s.Keep(t.Context(), []store.Object{lost})
			if !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Uncertain) {
				t.Fatalf("a commit that was not written: %v", err)
			}
			if _, err := s.Object(t.Context(), lost.Ref()); !fault.Is(err, fault.NotFound) {
				t.Fatalf("it is seen: %v", err)
			}
			fail(tp, false)
			keepOne(t, s, "after")
			for body, want := range map[string]bool{"before": true, "lost": false, "after": true} {
				if _, err := s.Object(t.Context(), store.RefOf([]byte(body))); (err == nil) != want {
					t.Errorf("%s: %v", body, err)
				}
			}
			if err := s.Keep(t.Context(), []store.Object{lost}); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

// TestGather holds a gathered file to what it stands for: after every sync the
// file below is what was written, and every look at it before sees the same.
func TestGather(t *testing.T) {
	tls := libc.NewTLS()
	defer tls.Close()
	const most = 3 * gatherSize
	mem := alloc(tls, most)
	defer libc.Xfree(tls, mem)
	room := libc.GoBytes(mem, most)

	var below, want []byte
	put := func(file *[]byte, at int, b []byte) {
		*file = append(*file, make([]byte, max(at+len(b)-len(*file), 0))...)
		copy((*file)[at:], b)
	}
	write := func(_ *libc.TLS, _, from uintptr, n int32, at int64) int32 {
		put(&below, int(at), libc.GoBytes(from, int(n)))
		return lib.SQLITE_OK
	}
	read := func(_ *libc.TLS, _, to uintptr, n int32, at int64) int32 {
		copy(libc.GoBytes(to, int(n)), below[at:])
		return lib.SQLITE_OK
	}
	truncate := func(_ *libc.TLS, _ uintptr, size int64) int32 { below = below[:size]; return lib.SQLITE_OK }
	sync := func(*libc.TLS, uintptr, int32) int32 { return lib.SQLITE_OK }
	size := func(_ *libc.TLS, _, to uintptr) int32 { *in[int64](to) = int64(len(below)); return lib.SQLITE_OK }
	g := &gather{mem: alloc(tls, gatherSize), lower: ioMethods{FxWrite: address(write), FxRead: address(read),
		FxTruncate: address(truncate), FxSync: address(sync), FxFileSize: address(size)}}
	g.room = libc.GoBytes(g.mem, gatherSize)
	defer libc.Xfree(tls, g.mem)

	random := rand.New(rand.NewPCG(1, 2))
	next, gathered := 0, 0
	for step := range 20000 {
		switch random.IntN(12) {
		default: // mostly one after the other, as a log is written
			n := 1 + random.IntN(3000)
			if random.IntN(200) == 0 {
				n = gatherSize + random.IntN(gatherSize)
			}
			at := min(next, len(want))
			if random.IntN(8) == 0 {
				at = random.IntN(len(want) + 1)
			}
			for i := range n {
				room[i] = byte(random.Uint32())
			}
			g.onWrite(tls, 0, mem, int32(n), int64(at))
			put(&want, at, room[:n])
			next = at + n
			if !bytes.Equal(below, want) {
				gathered++
			}
		case 0:
			if g.onSync(tls, 0, 0); !bytes.Equal(below, want) {
				t.Fatalf("step %d: a sync left something out", step)
			}
		case 1:
			at := random.IntN(len(want) + 1)
			n := random.IntN(min(len(want)-at, 5000) + 1)
			if g.onRead(tls, 0, mem, int32(n), int64(at)); !bytes.Equal(room[:n], want[at:at+n]) {
				t.Fatalf("step %d: a read sees something else", step)
			}
		case 2:
			if g.onFileSize(tls, 0, mem); *in[int64](mem) != int64(len(want)) {
				t.Fatalf("step %d: a size of %d, not %d", step, *in[int64](mem), len(want))
			}
		case 3:
			if len(want) > 4*gatherSize {
				want = want[:random.IntN(len(want))]
				g.onTruncate(tls, 0, int64(len(want)))
			}
		}
	}
	if gathered == 0 {
		t.Fatal("nothing was gathered")
	}
	runtime.KeepAlive([]any{write, read, truncate, sync, size})
}
