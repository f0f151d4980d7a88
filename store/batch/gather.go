package batch

import (
	"runtime"
	"time"
)

// gathering is how a queue waits for company. Those whose changes shared a batch go
// on at the same moment, and so they come back: a batch that waits for all of them
// is one commit where two would have been, and costs each less than it waits.
type gathering struct {
	patience time.Duration // how long the next may take to come, 0 to wait for nobody
	expected int           // how many could wait together now
	full     chan struct{} // closed when they do; nil while nobody waits for it
	without  int           // how many more batches do not wait, see vain; the lead's
	vain     int           // how many did not after the last one that waited in vain; the lead's
}

// vainLimit bounds how many batches do not wait after one that waited in vain, so
// that callers who do other things between their changes lose next to nothing.
const vainLimit = 64

// gather lets those go first who can go on at this moment, and waits for those who
// are expected for as long as one more of them comes within the patience.
func (q *Queue[T]) gather() {
	if q.patience == 0 || q.without > 0 {
		q.without = max(q.without-1, 0)
		runtime.Gosched()
		return
	}
	for seen := 0; ; {
		n, full := q.assembled()
		if full == nil {
			q.vain = 0
			return
		}
		if n == seen {
			q.vain = min(max(2*q.vain, 1), vainLimit)
			q.without = q.vain
			return
		}
		seen = n
		timer := time.NewTimer(q.patience)
		select {
		case <-full:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// assembled returns how many wait, and what is closed when all do who are expected:
// nil when they do already.
func (q *Queue[T]) assembled() (n int, full chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.full = nil
	if n = len(q.waiting); n < q.expected {
		q.full = make(chan struct{})
	}
	return n, q.full
}

// arrived is called under the lock when one more waits.
func (q *Queue[T]) arrived() {
	if q.full != nil && len(q.waiting) >= q.expected {
		close(q.full)
		q.full = nil
	}
}

// expect is called when a batch has run, before any of it can come back.
func (q *Queue[T]) expect(ran int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expected = min(ran+len(q.waiting), q.limit)
}
