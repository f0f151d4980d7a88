package confine

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// listen takes in what a run writes, and returns a channel that is closed when nothing
// more will come or nobody waits for it any longer; see hearOut.
func (r *run) listen() <-chan struct{} {
	var both sync.WaitGroup
	for i, pipe := range r.out {
		both.Go(func() {
			to := r.output.stream(i)
			if _, err := io.Copy(to, pipe); errors.Is(err, os.ErrDeadlineExceeded) {
				rest(to, pipe)
			}
		})
	}
	return background(func() struct{} { both.Wait(); return struct{}{} })
}

// hearOut returns when all that a run wrote is in its output. Inside namespaces whoever
// could write is dead, so that is what the pipes hold now. Below them somebody may be
// left who holds them open, for whom it waits no longer than grace.
func (r *run) hearOut() {
	var wait time.Duration
	if r.level < Namespaces {
		wait = grace
	}
	for _, pipe := range r.out {
		pipe.SetReadDeadline(time.Now().Add(wait)) // a pipe of ours has deadlines
	}
	<-r.read
}

// maxPipe is more than any pipe holds, in bytes.
const maxPipe = 2 << 20

// rest takes in what a pipe still holds, and waits for nothing.
func rest(to io.Writer, pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return // it is closed
	}
	raw.Control(func(fd uintptr) {
		piece := make([]byte, 1<<12)
		for left := maxPipe; left > 0; {
			n, err := unix.Read(int(fd), piece)
			if err == unix.EINTR {
				continue
			}
			if n <= 0 {
				return
			}
			to.Write(piece[:n])
			left -= n
		}
	})
}
