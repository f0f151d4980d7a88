package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
	lib "modernc.org/sqlite/lib"

	"world/infile"
)

// A crash and damage look alike in the last transaction of a log (see checkLog),
// unless something else remembers that it was committed. The file of the writer
// lock does: behind every sync of the log the writer notes there where the commit
// frame lies and what the checksums had come to. The note is not synced. A killed
// process leaves it to the system, which keeps it; a crash of the machine may leave
// an older one, never one that is ahead of the log. So the log must reach its note,
// as long as it is the log that the note is about: one that was begun anew since
// has other salts.

// note is where the log stood at a commit. The zero one says nothing.
type note struct {
	salts uint64
	at    int64 // offset of the commit frame in the log, in bytes
	sum   chainSum
}

// noteSize is the size of a note, in bytes: three words of eight, and
// half a hash of them.
const noteSize = 3*8 + 16

// noting is what a gathered log needs to note its commits.
type noting struct {
	in   []byte // the notes' file as memory; nil: nothing is noted
	last note   // of the frame that was written last
	ends bool   // that frame ends a transaction
}

// frame looks at a write to the log: SQLite writes the header of each frame alone.
func (n *noting) frame(header []byte, at int64) {
	if len(header) != frameHeader {
		return
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(header[4*i:]) }
	n.last = note{salts: binary.BigEndian.Uint64(header[8:]), at: at, sum: chainSum{word(4), word(5)}}
	n.ends = word(1) != 0
}

// mapNotes is the file for notes as memory, where a note costs no system call (two
// writes a call took 3 % of it). The file is written to first, so that there is
// room for it on the disk. A file that cannot be mapped takes no notes: the log
// stands by itself.
func mapNotes(file *os.File) []byte {
	if file == nil {
		return nil
	}
	now := make([]byte, noteSize)
	file.ReadAt(now, 0)
	if _, err := file.WriteAt(now, 0); err != nil {
		return nil
	}
	in, err := unix.Mmap(int(file.Fd()), 0, noteSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return in
}

// synced notes the commit that a sync made durable.
func (n *noting) synced(rc int32) {
	if rc != lib.SQLITE_OK || n.in == nil || !n.ends {
		return
	}
	n.ends = false
	// Somebody who cuts the file short takes the memory away.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			n.in = nil
		}
	}()
	copy(n.in, n.last.bytes())
}

// unmap lets the memory go.
func (n *noting) unmap() {
	if n.in != nil {
		unix.Munmap(n.in)
		n.in = nil
	}
}

func (m note) bytes() []byte {
	b := make([]byte, 0, noteSize)
	b = binary.BigEndian.AppendUint64(b, m.salts)
	b = binary.BigEndian.AppendUint64(b, uint64(m.at))
	b = binary.BigEndian.AppendUint32(b, m.sum[0])
	b = binary.BigEndian.AppendUint32(b, m.sum[1])
	sum := sha256.Sum256(b)
	return append(b, sum[:16]...)
}

// readNote reads the note beside a database. One that is missing, half written or
// damaged is none.
func readNote(canonical string) note {
	f, err := infile.Open(canonical + lockSuffix)
	if err != nil {
		return note{}
	}
	defer f.Close()
	b := make([]byte, noteSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		return note{}
	}
	m := note{
		salts: binary.BigEndian.Uint64(b), at: int64(binary.BigEndian.Uint64(b[8:])),
		sum: chainSum{binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])},
	}
	if string(m.bytes()) != string(b) {
		return note{}
	}
	return m
}
