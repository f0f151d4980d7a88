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
			sum[0], sum[30], sum[31] = 1, byte(i>>8), byte(i)
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
	n := 0
	for sum := range s.all {
		if !want[*sum] {
			t.Fatalf("%x was never added", *sum)
		}
		n++
	}
	if n != len(want) || len(s.slots) > 4*n {
		t.Errorf("%d hashes of %d, in %d slots", n, len(want), len(s.slots))
	}
	for range s.all {
		break
	}
}
