package sqlite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"

	"world/fault"
)

// SQLite reads its write-ahead log up to the first frame whose checksum does not
// hold, and drops the rest without a word: that is how it forgets a transaction
// that a crash cut off. Damage before the end looks the same to it, and every
// transaction behind the damage would be lost. The walk here tells them apart.
//
// Checksums are chained, each frame's over the one before, and salts mark the
// frames of one run of the log. A crash cuts off one transaction, the last: the
// next is not begun before a sync of it has returned. So a frame that follows a
// commit, and is chained to it, proves that all before it was committed, and what
// does not hold there is damage. That proof needs something behind the damage:
// for the last transaction the writer's note is the proof (see note).
//
// Source: the file format of SQLite, section 4, "The Write-Ahead Log".

const (
	logSuffix     = "-wal"
	logHeader     = 32 // bytes
	frameHeader   = 24 // bytes
	logMagic      = 0x377f0682
	logVersion    = 3007000
	maxLogAgain   = 16 // walks, while a daemon beside us starts its log anew
	smallestFrame = frameHeader + 512
)

// checkLog refuses, kind Corrupt, a write-ahead log of which committed
// transactions would be lost. It may be walked while its writer writes.
func checkLog(path string) error {
	const op = "sqlite: log"
	name := filepath.Base(path) + logSuffix
	f, err := os.Open(path + logSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "%s cannot be read", name)
	}
	defer f.Close()
	// What a walk met half written is whole in the next: a writer had gone on
	// from it before the first walk ended.
	var before logDamage
	for range maxLogAgain {
		found, err := walkLog(f, readNote(path))
		if err != nil {
			return fault.Wrap(op, fault.Unavailable, err, "%s cannot be read", name)
		}
		if found == (logDamage{}) {
			return nil
		}
		if found == before {
			return fault.New(op, fault.Corrupt, "%s: %s", name, found)
		}
		before = found
	}
	return fault.New(op, fault.Unavailable, "%s changes too fast to be checked", name)
}

// logDamage is what a walk found; the zero value is nothing.
type logDamage struct {
	what  string
	frame int64 // the first that does not hold, from 1
	salts uint64
}

func (d logDamage) String() string {
	if d.frame == 0 {
		return d.what
	}
	return fmt.Sprintf("frame %d %s", d.frame, d.what)
}

// walkLog walks a log once. It must reach the note, if that is about this log.
func walkLog(f *os.File, reach note) (logDamage, error) {
	info, err := f.Stat()
	if err != nil {
		return logDamage{}, err
	}
	head := make([]byte, logHeader)
	if _, err := f.ReadAt(head, 0); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil // a log that has not begun
		}
		return logDamage{}, err
	}
	l, ok := parseLog(head)
	if !ok {
		// The header was synced before the first frame was written.
		if info.Size() < logHeader+smallestFrame {
			return logDamage{}, nil
		}
		return logDamage{what: "the header does not hold, and transactions follow it"}, nil
	}
	frames := io.NewSectionReader(f, logHeader, info.Size()-logHeader)
	return l.walk(frames, reach)
}

// wal is the header of a log.
type wal struct {
	order binary.ByteOrder // of the words that checksums add up
	page  int              // bytes
	salts uint64
	sum   chainSum
}

type chainSum [2]uint32

func parseLog(head []byte) (wal, bool) {
	word := func(i int) uint32 { return binary.BigEndian.Uint32(head[4*i:]) }
	l := wal{order: binary.LittleEndian, page: int(word(2)), salts: binary.BigEndian.Uint64(head[16:])}
	if word(0) == logMagic|1 {
		l.order = binary.BigEndian
	}
	l.sum = chainSum{}.add(l.order, head[:24])
	ok := word(0)|1 == logMagic|1 && word(1) == logVersion && l.sum == chainSum{word(6), word(7)} &&
		l.page >= 512 && l.page <= 1<<16 && bits.OnesCount(uint(l.page)) == 1
	return l, ok
}

// add goes on with a checksum over a multiple of eight bytes.
func (s chainSum) add(order binary.ByteOrder, b []byte) chainSum {
	if order == binary.LittleEndian { // by far the most usual, and the compiler reads words at once
		for ; len(b) >= 8; b = b[8:] {
			s[0] += binary.LittleEndian.Uint32(b) + s[1]
			s[1] += binary.LittleEndian.Uint32(b[4:]) + s[0]
		}
		return s
	}
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
	return s
}

// walk looks for the first frame that does not hold, and then for proof that it
// once did.
func (l wal) walk(frames io.Reader, reach note) (logDamage, error) {
	frame := make([]byte, frameHeader+l.page)
	before, broken := l.sum, int64(0)
	committed := false // the frame before ends a transaction
	missing := reach.at > 0 && reach.salts == l.salts
	for n := int64(1); ; n++ {
		if _, err := io.ReadFull(frames, frame); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			if err == nil && missing {
				return logDamage{"does not hold or is missing, and a transaction was committed there", cmp.Or(broken, n), l.salts}, nil
			}
			return logDamage{}, err
		}
		word := func(i int) uint32 { return binary.BigEndian.Uint32(frame[4*i:]) }
		sum := chainSum{word(4), word(5)}
		chained := before.add(l.order, frame[:8]).add(l.order, frame[frameHeader:]) == sum
		ours := binary.BigEndian.Uint64(frame[8:]) == l.salts
		switch {
		case chained && !ours && broken == 0:
			return logDamage{"has other salts than the log it is chained into", n, l.salts}, nil
		case chained && ours && broken > 0 && committed:
			return logDamage{"does not hold, and a committed transaction follows it", broken, l.salts}, nil
		case !(chained && ours) && broken == 0:
			broken = n
		case broken == 0 && reach.at == logHeader+(n-1)*int64(len(frame)) && reach.sum == sum:
			missing = false
		}
		before, committed = sum, word(1) != 0
	}
}
