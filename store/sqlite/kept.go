package sqlite

import (
	"hash/maphash"

	"world/store"
	"world/store/rows"
)

// kept are values of rows that were read of late. Much of a row says what other rows
// say: its labels, its episode, the transition and the session of its call. Each
// such value is made once and found again by where its hash says.
type kept struct {
	texts [256]string
	refs  [256]struct {
		sum  [32]byte
		text store.Ref
	}
	chunk []byte // that bytes are copied to, many together; nil: each for itself
}

const (
	keptText   = 64      // bytes of the longest text that is kept
	chunkBytes = 1 << 16 // that are allocated together
)

var keptSeed = maphash.MakeSeed()

func (k *kept) text(b []byte) string {
	if len(b) > keptText {
		return string(b)
	}
	at := &k.texts[uint8(maphash.Bytes(keptSeed, b))]
	if *at != string(b) {
		*at = string(b)
	}
	return *at
}

// ref reads a ref from its column.
func (k *kept) ref(to rows.RefColumn, b []byte) error {
	if len(b) != 32 {
		return to.ScanBytes(b)
	}
	at := &k.refs[b[0]]
	if at.text == "" || at.sum != [32]byte(b) {
		at.sum = [32]byte(b)
		at.text = store.RefFromSum(at.sum)
	}
	to.Set(at.text)
	return nil
}

// copied are bytes of their own, nil for none.
func (k *kept) copied(b []byte) []byte {
	switch n := len(b); {
	case n == 0:
		return nil
	case k.chunk == nil || n > chunkBytes/4:
		return append(make([]byte, 0, n), b...)
	case n > cap(k.chunk)-len(k.chunk):
		k.chunk = make([]byte, 0, chunkBytes)
	}
	start := len(k.chunk)
	k.chunk = append(k.chunk, b...)
	return k.chunk[start:len(k.chunk):len(k.chunk)]
}
