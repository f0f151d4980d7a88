package runner

import (
	"io"
	"sync"
)

// relay passes a program's output on, up to a common size, and knows whether the
// last line of stderr has its end.
type relay struct {
	over chan struct{} // closed when there was more

	mu      sync.Mutex
	out     [2]io.Writer
	left    int64
	ended   bool
	unended bool // stderr stands in the middle of a line
}

func newRelay(stdout, stderr io.Writer, limit int64) *relay {
	return &relay{over: make(chan struct{}), out: [2]io.Writer{stdout, stderr}, left: limit}
}

func (r *relay) stdout() io.Writer { return relayed{r, 0} }
func (r *relay) stderr() io.Writer { return relayed{r, 1} }

type relayed struct {
	*relay
	index int
}

// Write passes on what fits.
func (s relayed) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(int64(len(p)), s.left)
	s.left -= n
	if n > 0 {
		if _, err := s.out[s.index].Write(p[:n]); err != nil {
			return 0, err
		}
		if s.index == 1 {
			s.unended = p[n-1] != '\n'
		}
	}
	if n < int64(len(p)) && !s.ended {
		s.ended = true
		close(s.over)
	}
	return len(p), nil
}

func (r *relay) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// endLine ends the line of stderr that the program left open, so that what follows
// stands on a line of its own, and reports whether there was one.
func (r *relay) endLine() (was bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was = r.unended; was {
		io.WriteString(r.out[1], "\n")
		r.unended = false
	}
	return was
}
