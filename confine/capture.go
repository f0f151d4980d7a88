package confine

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// capture keeps stdout and stderr and tells when both together pass a common size. Of
// each it keeps at most keep bytes of its beginning and its end, however much comes:
// what a run says last counts also when it has said too much. When keep is 0, it keeps
// what fits in the common size.
type capture struct {
	over chan struct{} // closed when there was more than the common size

	mu    sync.Mutex
	left  int64
	ended bool
	text  [2]excerpt
}

func newCapture(limit, keep int64) *capture {
	c := &capture{over: make(chan struct{}), left: limit}
	for i := range c.text {
		c.text[i].keep = keep
	}
	return c
}

func (c *capture) stream(i int) io.Writer { return stream{c, i} }

type stream struct {
	*capture
	index int
}

// Write accepts everything, so that the writer is not told.
func (s stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fits := min(int64(len(p)), s.left)
	s.left -= fits
	if text := &s.text[s.index]; text.keep == 0 {
		text.add(p[:fits])
	} else {
		text.add(p)
	}
	if fits < int64(len(p)) && !s.ended {
		s.ended = true
		close(s.over)
	}
	return len(p), nil
}

func (c *capture) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *capture) taken() (stdout, stderr []byte, dropped int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stdout, a := c.text[0].result()
	stderr, b := c.text[1].result()
	return stdout, stderr, a + b
}

// excerpt is the beginning and the end of a text.
type excerpt struct {
	keep       int64 // 0: everything
	head, tail []byte
	middle     int64 // bytes between them
}

// add appends to the text. An eighth of what is kept is the beginning: errors and
// results stand at the end of an output.
func (e *excerpt) add(p []byte) {
	if e.keep == 0 {
		e.head = append(e.head, p...)
		return
	}
	n := min(int64(len(p)), e.keep/8-int64(len(e.head)))
	e.head = append(e.head, p[:n]...)
	e.tail = append(e.tail, p[n:]...)
	// Twice the room, so that few writes move bytes.
	if room := e.keep - e.keep/8; int64(len(e.tail)) > 2*room {
		e.trim(room)
	}
}

func (e *excerpt) trim(room int64) {
	if over := int64(len(e.tail)) - room; over > 0 {
		e.middle += over
		e.tail = slices.Delete(e.tail, 0, int(over))
	}
}

// result returns the text with the size of what was left out in its place. The
// cuts fall between characters where the text is UTF-8.
func (e *excerpt) result() (text []byte, dropped int64) {
	e.trim(e.keep - e.keep/8)
	if e.middle == 0 {
		return append(e.head, e.tail...), 0
	}
	head, tail := e.head, e.tail
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if utf8.RuneStart(head[len(head)-i]) {
			if !utf8.FullRune(head[len(head)-i:]) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	dropped = e.middle + int64(len(e.head)-len(head)) + int64(len(e.tail)-len(tail))
	text = slices.Concat(head, fmt.Appendf(nil, "\n…[%d bytes left out]…\n", dropped), tail)
	return text, dropped
}
