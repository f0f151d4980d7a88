package confine

import (
	"bytes"
	"io"
	"sync"
)

// capture keeps stdout and stderr up to a common size and tells when it is passed.
type capture struct {
	over chan struct{} // closed when there was more

	mu    sync.Mutex
	left  int64
	ended bool
	text  [2]bytes.Buffer
}

func newCapture(limit int64) *capture {
	return &capture{over: make(chan struct{}), left: limit}
}

func (c *capture) stream(i int) io.Writer { return stream{c, i} }

type stream struct {
	*capture
	index int
}

// Write keeps what fits and accepts the rest, so that the writer is not told.
func (s stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(int64(len(p)), s.left)
	s.text[s.index].Write(p[:n])
	s.left -= n
	if n < int64(len(p)) && !s.ended {
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

func (c *capture) taken() (stdout, stderr []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text[0].Bytes(), c.text[1].Bytes()
}
