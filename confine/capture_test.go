package confine

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCapture: what is kept of a text is its beginning and its end, and the size
// of the rest is said, however the text arrives.
func TestCapture(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	wide := strings.Repeat("é世𝄞", 200) // characters of 2, 3 and 4 bytes
	tests := []struct {
		name, text string
		keep       int64
		dropped    int64 // -1: some bytes over what does not fit, up to whole characters
	}{
		{"nothing", "", 80, 0},
		{"all", long, 0, 0},
		{"what fits", long, 1000, 0},
		{"one byte too many", long, 999, 1},
		{"much", long, 80, 920},
		{"hardly anything", long, 1, 999},
		{"characters", wide, 80, -1},
		{"characters, cut elsewhere", wide, 85, -1},
	}
	for _, test := range tests {
		for _, piece := range []int{1, 7, 64, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", test.name, piece), func(t *testing.T) {
				c := newCapture(1<<20, test.keep)
				for left := test.text; left != ""; {
					n := min(piece, len(left))
					c.stream(1).Write([]byte(left[:n]))
					left = left[n:]
				}
				stdout, stderr, dropped := c.taken()
				if len(stdout) != 0 || c.full() {
					t.Errorf("stdout %q, full %t", stdout, c.full())
				}
				if test.dropped >= 0 && dropped != test.dropped {
					t.Errorf("%d bytes left out, want %d", dropped, test.dropped)
				}
				if dropped == 0 {
					if string(stderr) != test.text {
						t.Errorf("kept %q", stderr)
					}
					return
				}
				head, rest, ok := strings.Cut(string(stderr), fmt.Sprintf("\n…[%d bytes left out]…\n", dropped))
				kept := int64(len(head) + len(rest))
				if !ok || !strings.HasPrefix(test.text, head) || !strings.HasSuffix(test.text, rest) || kept+dropped != int64(len(test.text)) {
					t.Errorf("kept %q", stderr)
				}
				if kept > test.keep || kept < test.keep-6 || len(head) > len(rest) || !utf8.Valid(stderr) {
					t.Errorf("%d bytes of %d: %q", kept, test.keep, stderr)
				}
			})
		}
	}
}

// TestCaptureTogether: the common size holds for both streams, and says when it is
// passed, kept or not; where text is left out, what comes after it has its end kept.
func TestCaptureTogether(t *testing.T) {
	for _, keep := range []int64{0, 8} {
		c := newCapture(20, keep)
		c.stream(0).Write(make([]byte, 12))
		c.stream(1).Write(make([]byte, 8))
		if c.full() {
			t.Fatalf("keep %d: full at its size", keep)
		}
		if n, err := c.stream(0).Write(make([]byte, 5)); n != 5 || err != nil {
			t.Errorf("keep %d: the writer was told: %d, %v", keep, n, err)
		}
		<-c.over
		c.stream(1).Write([]byte("x")) // once more, after the end
		stdout, stderr, dropped := c.taken()
		if keep == 0 && (len(stdout) != 12 || len(stderr) != 8 || dropped != 0) || keep != 0 && (dropped != 9+1 || stderr[len(stderr)-1] != 'x') || !c.full() {
			t.Errorf("keep %d: %d and %d bytes, %d left out", keep, len(stdout), len(stderr), dropped)
		}
	}
}
