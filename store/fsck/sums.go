package fsck

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// sums is a set of hashes, of 32 to 64 bytes each once there are many: a map of
// them takes twice that, and as much time. The zero sums is empty.
type sums struct {
	slots [][32]byte // a power of two of them; one that is all zero is free
	n     int
	zero  bool // the hash that is all zero is a member
	seed  maphash.Seed
	shift int // leaves as many bits as count the slots
}

const leastSlots = 1 << 10

// add adds a hash, and reports whether it is new.
func (s *sums) add(sum *[32]byte) bool {
	if *sum == ([32]byte{}) {
		fresh := !s.zero
		s.zero = true
		return fresh
	}
	if s.n >= len(s.slots)/4*3 {
		s.grow()
	}
	slot := s.find(sum)
	if *slot == *sum {
		return false
	}
	*slot = *sum
	s.n++
	return true
}

// has reports whether a hash was added.
func (s *sums) has(sum *[32]byte) bool {
	if *sum == ([32]byte{}) {
		return s.zero
	}
	return s.n > 0 && *s.find(sum) == *sum
}

// find is the slot that holds a hash, or that it would go to. Where the search
// begins is not for those to choose whose bytes are hashed. It begins in the order of
// what it hashes to, so that a set which grows is copied from front to back.
func (s *sums) find(sum *[32]byte) *[32]byte {
	mask, start := uint64(len(s.slots)-1), binary.LittleEndian.Uint64(sum[:])
	for at := maphash.Bytes(s.seed, sum[:]) >> s.shift; ; at++ {
		slot := &s.slots[at&mask]
		first := binary.LittleEndian.Uint64(slot[:])
		if first == start && *slot == *sum || first == 0 && *slot == ([32]byte{}) {
			return slot
		}
	}
}

func (s *sums) grow() {
	before := s.slots
	if before == nil {
		s.seed = maphash.MakeSeed()
	}
	s.slots = make([][32]byte, max(leastSlots, 2*len(before)))
	s.shift = 64 - bits.TrailingZeros(uint(len(s.slots)))
	for i := range before {
		if before[i] != ([32]byte{}) {
			*s.find(&before[i]) = before[i]
		}
	}
}
