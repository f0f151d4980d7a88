package fsck

import (
	"runtime"
	"sync"
)

const (
	batchRows  = 256     // that are worked on together
	batchBytes = 1 << 20 // or so many bytes of them
	batchesOut = 8       // that are worked on, or done and not yet taken, at one time
)

// ahead works on rows in batches on every processor, and hands them on in the order
// in which they came. Who adds rows also takes them, in one goroutine, so that only
// work must not share anything. It holds batchesOut batches at most.
type ahead[T any] struct {
	work  func(v *T)
	take  func(v *T) error
	batch []T
	bytes int
	spare [][]T // room of batches that were taken
	out   []*job[T]
	jobs  chan *job[T]
	group sync.WaitGroup
}

type job[T any] struct {
	rows []T
	done chan struct{}
}

// workers is how many goroutines work ahead.
func workers() int { return runtime.GOMAXPROCS(0) }

func newAhead[T any](work func(v *T), take func(v *T) error) *ahead[T] {
	a := &ahead[T]{work: work, take: take, jobs: make(chan *job[T], batchesOut)}
	for range workers() {
		a.group.Go(func() {
			for j := range a.jobs {
				for i := range j.rows {
					a.work(&j.rows[i])
				}
				close(j.done)
			}
		})
	}
	return a
}

// add gives a row of so many bytes to be worked on, and takes those that are due.
func (a *ahead[T]) add(v T, size int) error {
	a.batch = append(a.batch, v)
	if a.bytes += size; len(a.batch) < batchRows && a.bytes < batchBytes {
		return nil
	}
	a.send()
	if len(a.out) < batchesOut {
		return nil
	}
	return a.next()
}

func (a *ahead[T]) send() {
	j := &job[T]{rows: a.batch, done: make(chan struct{})}
	a.out = append(a.out, j)
	a.jobs <- j
	a.batch, a.bytes = nil, 0
	if n := len(a.spare); n > 0 {
		a.batch, a.spare = a.spare[n-1], a.spare[:n-1]
	}
}

func (a *ahead[T]) next() error {
	j := a.out[0]
	a.out = a.out[1:]
	<-j.done
	for i := range j.rows {
		if err := a.take(&j.rows[i]); err != nil {
			return err
		}
	}
	clear(j.rows)
	a.spare = append(a.spare, j.rows[:0])
	return nil
}

// end takes what is left, also when err ended what adds, and ends the work.
func (a *ahead[T]) end(err error) error {
	if len(a.batch) > 0 {
		a.send()
	}
	for len(a.out) > 0 {
		if failed := a.next(); err == nil {
			err = failed
		}
	}
	close(a.jobs)
	a.group.Wait()
	return err
}
