package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/sqlite"
)

// image is what a kill leaves of a store: its file, its log, and no index.
type image struct {
	main, log []byte
	refs      []store.Ref // one a transaction, in their order
	frame     int         // bytes
	ends      []int       // frames that end a transaction, from 0
	notes     [][]byte    // of the writer's lock file, one behind each transaction
}

func newImage(t *testing.T) image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	newBook(t, s)
	var im image
	for _, body := range []string{"one", "two", "three", "four", "five", "six"} {
		im.refs = append(im.refs, keep(t, s, strings.Repeat(body, 3000))) // some frames a transaction
		im.notes = append(im.notes, read(t, path+".writer.lock"))
	}
	im.main, im.log = killed(t, path)
	im.frame = 24 + int(binary.BigEndian.Uint32(im.log[8:]))
	for n := range (len(im.log) - 32) / im.frame {
		if binary.BigEndian.Uint32(im.log[32+n*im.frame+4:]) != 0 {
			im.ends = append(im.ends, n)
		}
	}
	if len(im.ends) != len(im.refs) || im.ends[1]-im.ends[0] < 2 {
		t.Fatalf("%d transactions end in frames %v", len(im.refs), im.ends)
	}
	return im
}

// killed reads a store's files as they are now. Another process does: to open and
// close the database's file in this one would end the locks that SQLite holds.
func killed(t *testing.T, path string) (main, log []byte) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cp", path, path+"-wal", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return read(t, filepath.Join(dir, filepath.Base(path))), read(t, filepath.Join(dir, filepath.Base(path)+"-wal"))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// put lays the image down with a changed log.
func (im image) put(t *testing.T, change func(log []byte) []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "world.db")
	write(t, path, im.main)
	write(t, path+"-wal", change(bytes.Clone(im.log)))
	return path
}

// at is the offset of a byte of a frame.
func (im image) at(frame, offset int) int { return 32 + frame*im.frame + offset }

func flip(offset int) func([]byte) []byte {
	return func(log []byte) []byte { log[offset] ^= 4; return log }
}

// TestDamagedLog damages a log before its last transaction. SQLite would drop all
// that follows; the store is refused instead, and left as it is.
func TestDamagedLog(t *testing.T) {
	im := newImage(t)
	last := len(im.ends) - 1
	for what, change := range map[string]func([]byte) []byte{
		"magic":                              flip(3),
		"page size":                          flip(10),
		"header's salt":                      flip(17),
		"header's checksum":                  flip(31),
		"first frame":                        flip(im.at(0, 1000)),
		"page number":                        flip(im.at(1, 3)),
		"checksum":                           flip(im.at(1, 20)),
		"salt":                               flip(im.at(1, 9)),
		"a commit":                           flip(im.at(im.ends[2], im.frame-500)),
		"commit before the last transaction": flip(im.at(im.ends[last-1], im.frame-500)),
		"salt of the last transaction":       flip(im.at(im.ends[last], 12)),
		"a block of zeros": func(log []byte) []byte {
			clear(log[im.at(2, 0):im.at(3, 0)])
			return log
		},
		"a frame cut out": func(log []byte) []byte { return append(log[:im.at(1, 0):im.at(1, 0)], log[im.at(2, 0):]...) },
	} {
		t.Run(what, func(t *testing.T) {
			path := im.put(t, change)
			before := read(t, path+"-wal")
			for _, opts := range []sqlite.Options{{ReadOnly: true}, {}} {
				err := wantRefused(t, path, opts, fault.Corrupt)
				if !strings.Contains(fault.Public(err), "world.db-wal: ") {
					t.Errorf("%q does not name the log", fault.Public(err))
				}
			}
			if !bytes.Equal(before, read(t, path+"-wal")) || !bytes.Equal(im.main, read(t, path)) {
				t.Error("the refused store was changed")
			}
		})
	}
}

// TestTornLog leaves of the last transaction what a crash may leave: it is gone
// whole, what was before stays, and nothing is refused.
func TestTornLog(t *testing.T) {
	im := newImage(t)
	last, all := len(im.ends)-1, len(im.refs)
	changes := map[string]struct {
		change func([]byte) []byte
		whole  int // transactions
	}{
		"nothing torn":          {func(log []byte) []byte { return log }, all},
		"last page not written": {flip(im.at(im.ends[last], im.frame-500)), all - 1},
		"written out of order": {func(log []byte) []byte {
			clear(log[im.at(im.ends[last-1]+1, 0):im.at(im.ends[last-1]+2, 0)])
			return log
		}, all - 1},
		"no frame":             {func(log []byte) []byte { return log[:32] }, 0},
		"half a header":        {func(log []byte) []byte { return log[:16] }, 0},
		"a header of zeros":    {func([]byte) []byte { return make([]byte, 32) }, 0},
		"the file not written": {func([]byte) []byte { return nil }, 0},
	}
	for n := range im.ends[last] + 1 { // cut at and within each frame
		whole := 0
		for whole < all && im.ends[whole] < n {
			whole++
		}
		for what, offset := range map[string]int{" not begun": im.at(n, 0), " without data": im.at(n, 24), " half": im.at(n, im.frame/2)} {
			changes["frame "+string(rune('a'+n))+what] = struct {
				change func([]byte) []byte
				whole  int
			}{func(log []byte) []byte { return log[:offset] }, whole}
		}
	}
	for what, tt := range changes {
		path := im.put(t, tt.change)
		for _, opts := range []sqlite.Options{{ReadOnly: true}, {}} {
			s, err := sqlite.Open(t.Context(), path, opts)
			if err != nil {
				t.Errorf("%s, %+v: %v", what, opts, err)
				continue
			}
			for i, ref := range im.refs {
				if _, err := s.Object(t.Context(), ref); (err == nil) != (i < tt.whole) {
					t.Errorf("%s, %+v: transaction %d: %v", what, opts, i, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTheFileHoldsTheWorld takes the log away from a killed store: what was there
// at the genesis is in the file itself, and at a later start all of it.
func TestTheFileHoldsTheWorld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	b := newBook(t, s)
	later := keep(t, s, "later")
	alone := func() *sqlite.Store {
		t.Helper()
		main, _ := killed(t, path)
		moved := filepath.Join(t.TempDir(), "world.db")
		write(t, moved, main)
		return open(t, moved, sqlite.Options{ReadOnly: true})
	}
	a := alone()
	if _, err := a.Entry(t.Context(), 0); err != nil {
		t.Errorf("the genesis: %v", err)
	}
	if _, err := a.Object(t.Context(), b.source.Ref()); err != nil {
		t.Errorf("its object: %v", err)
	}
	if _, err := a.Object(t.Context(), later); !fault.Is(err, fault.NotFound) {
		t.Fatalf("the log was moved too early to show anything: %v", err)
	}
	main, log := killed(t, path)
	path = filepath.Join(t.TempDir(), "world.db")
	write(t, path, main)
	write(t, path+"-wal", log)
	open(t, path, sqlite.Options{})
	if _, err := alone().Object(t.Context(), later); err != nil {
		t.Errorf("after a start: %v", err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > 0 {
		t.Errorf("the log after a start: %v, %v", info, err)
	}
}
