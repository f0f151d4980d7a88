package fsck

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestSums holds a set of hashes to a map of them while it grows.
func TestSums(t *testing.T) {
	var s sums
	want := map[[32]byte]bool{}
	hash := func(i int) (sum [32]byte) {
		switch {
		case i == 5000:
			return sum // all zero
		case i%3 == 0: // alike but for the end
			sum[29], sum[30], sum[31] = 1, byte(i>>8), byte(i)
			return sum
		}
		return sha256.Sum256(fmt.Append(nil, i))
	}
	for i := range 10_000 {
		sum := hash(i)
		if s.has(&sum) != want[sum] {
			t.Fatalf("hash %d is there: %v", i, !want[sum])
		}
		if fresh := s.add(&sum); fresh == want[sum] {
			t.Fatalf("hash %d is new: %v", i, fresh)
		}
		want[sum] = true
		if s.add(&sum) || !s.has(&sum) {
			t.Fatalf("hash %d is not there once it was added", i)
		}
	}
	if n := len(want); len(s.slots) > 4*n {
		t.Errorf("%d hashes are in %d slots", n, len(s.slots))
	}
}

// TestNamed keeps each hash that was named at least once, and none over and over.
func TestNamed(t *testing.T) {
	var n named
	var often [32]byte
	for _, sum := range [][32]byte{{1}, often, {1}, often} {
		n.add(&sum)
	}
	want := map[[32]byte]bool{{1}: true, often: true}
	if len(n.all) != 2 {
		t.Fatalf("%d hashes of two are kept", len(n.all))
	}
	for i := range 10_000 {
		sum := sha256.Sum256(fmt.Append(nil, i))
		for _, s := range []*[32]byte{&sum, &often, &sum} {
			n.add(s)
			want[*s] = true
		}
	}
	for _, sum := range n.all {
		if !want[sum] {
			t.Fatalf("%x was never named", sum)
		}
	}
	got := map[[32]byte]bool{}
	for _, sum := range n.all {
		got[sum] = true
	}
	if len(got) != len(want) || len(n.all) > len(want)+200 {
		t.Errorf("%d hashes of %d are kept, in %d places", len(got), len(want), len(n.all))
	}
}
