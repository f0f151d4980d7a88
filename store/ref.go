package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"world/fault"
)

const refPrefix = "sha256:"

// Ref is the content address of an object: "sha256:" and 64 lowercase hex
// digits of the exact bytes stored (D7). The zero Ref is "" and names nothing.
type Ref string

// RefOf hashes bytes.
func RefOf(b []byte) Ref {
	sum := sha256.Sum256(b)
	return Ref(refPrefix + hex.EncodeToString(sum[:]))
}

// ParseRef accepts exactly the text form of a ref.
func ParseRef(s string) (Ref, error) {
	digits, ok := strings.CutPrefix(s, refPrefix)
	if !ok || !lowerHex(digits, 2*sha256.Size) {
		return "", fault.New("store: parse ref", fault.Invalid, "a ref is sha256: and 64 lowercase hex digits")
	}
	return Ref(s), nil
}

// Sum returns the 32 bytes of a ref that ParseRef or RefOf made.
func (r Ref) Sum() [sha256.Size]byte {
	var sum [sha256.Size]byte
	digits, ok := strings.CutPrefix(string(r), refPrefix)
	if n, err := hex.Decode(sum[:], []byte(digits)); !ok || err != nil || n != sha256.Size {
		panic("store: Sum of a ref that was never parsed")
	}
	return sum
}

// RefFromSum is the inverse of Sum, for engines that keep the 32 bytes.
func RefFromSum(sum [sha256.Size]byte) Ref {
	return Ref(refPrefix + hex.EncodeToString(sum[:]))
}

// lowerHex reports whether s is exactly n lowercase hex digits.
func lowerHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !lowerHexDigit[s[i]] {
			return false
		}
	}
	return true
}

// lowerHexDigit is a table because a call checks the refs of all that it names.
var lowerHexDigit = func() (is [256]bool) {
	for _, c := range "0123456789abcdef" {
		is[c] = true
	}
	return is
}()
