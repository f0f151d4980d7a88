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
	return RefFromSum(sha256.Sum256(b))
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
	sum, ok := r.Parsed()
	if !ok {
		panic("store: Sum of a ref that was never parsed")
	}
	return sum
}

// Parsed is ParseRef and Sum in one, false for what is no ref.
func (r Ref) Parsed() (sum [sha256.Size]byte, ok bool) {
	digits, ok := strings.CutPrefix(string(r), refPrefix)
	if !ok || len(digits) != 2*sha256.Size {
		return sum, false
	}
	var bad byte
	for i := range sum {
		high, low := hexDigit[digits[2*i]], hexDigit[digits[2*i+1]]
		bad |= high | low
		sum[i] = high<<4 | low
	}
	return sum, bad < 16
}

// RefFromSum is the inverse of Sum, for engines that keep the 32 bytes.
func RefFromSum(sum [sha256.Size]byte) Ref {
	var text [len(refPrefix) + 2*sha256.Size]byte
	hex.Encode(text[copy(text[:], refPrefix):], sum[:])
	return Ref(text[:])
}

// lowerHex reports whether s is exactly n lowercase hex digits.
func lowerHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := 0; i < len(s); i++ {
		if hexDigit[s[i]] == noDigit {
			return false
		}
	}
	return true
}

// hexDigit is what a lowercase digit stands for. It is a table because a call checks
// the refs of all that it names.
var hexDigit = func() (value [256]byte) {
	for i := range value {
		value[i] = noDigit
	}
	for i, c := range "0123456789abcdef" {
		value[c] = byte(i)
	}
	return value
}()

// noDigit has bits that no digit has.
const noDigit = 0xf0
