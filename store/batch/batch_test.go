package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"world/fault"
	"world/store/batch"
)

// gate is a queue whose batches wait to be let through, one at a time.
type gate struct {
	*batch.Queue[int]
	enter chan []int // what the next batch holds
	leave chan error // what its members get
}

func newGate(limit int) *gate { return newGateOf(limit, 0, func(int) int { return 0 }) }

func newGateOf(limit int, patience time.Duration, kind func(int) int) *gate {
	g := &gate{enter: make(chan []int), leave: make(chan error)}
	g.Queue = batch.NewOfKinds(limit, patience, kind, func(all []*batch.Change[int]) {
		var works []int
		for _, ch := range all {
			works = append(works, ch.Work)
		}
		g.enter <- works
		err := <-g.leave
		for _, ch := range all {
			ch.Err = err
		}
	})
	return g
}

// start runs a change beside the test and returns where its error will be.
func (g *gate) start(ctx context.Context, work int) <-chan error {
	end := make(chan error, 1)
	go func() { end <- g.Do(ctx, "test: change", work) }()
	synctest.Wait()
	return end
}

func TestWhatWaitsSharesABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(3)
		ctx := t.Context()
		var ends []<-chan error
		for n := range 6 {
			ends = append(ends, g.start(ctx, n))
		}
		var batches []string
		for range 3 {
			batches = append(batches, fmt.Sprint(<-g.enter))
			g.leave <- nil
		}
		if got := fmt.Sprint(batches); got != "[[0] [1 2 3] [4 5]]" {
			t.Fatalf("batches %s: the first goes alone, and no more than three go together", got)
		}
		for n, end := range ends {
			if err := <-end; err != nil {
				t.Errorf("change %d: %v", n, err)
			}
		}
	})
}

// TestABatchIsOfOneKind lets odd and even changes wait in one queue: whoever waits
// longest says which go, in their order, and none is passed over for ever.
func TestABatchIsOfOneKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateOf(3, 0, func(n int) int { return n % 2 })
		var ends []<-chan error
		for _, n := range []int{0, 1, 2, 3, 4, 5, 7} {
			ends = append(ends, g.start(t.Context(), n))
		}
		var batches []string
		for n := range 4 {
			batches = append(batches, fmt.Sprint(<-g.enter))
			if n == 0 {
				ends = append(ends, g.start(t.Context(), 6))
			}
			g.leave <- nil
		}
		if got := fmt.Sprint(batches); got != "[[0] [1 3 5] [2 4 6] [7]]" {
			t.Fatalf("batches %s", got)
		}
		for _, end := range ends {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestErrorsReachTheirCallers(t *testing.T) {
	refused := errors.New("refused")
	q := batch.New(8, func(all []*batch.Change[int]) {
		for _, ch := range all {
			if ch.Work%2 == 1 {
				ch.Err = refused
			}
		}
	})
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			if err := q.Do(t.Context(), "test: change", n); (err != nil) != (n%2 == 1) {
				t.Errorf("change %d: %v", n, err)
			}
		})
	}
	wg.Wait()
}

// TestOneBatchAtATime counts without a lock of its own what batches do.
func TestOneBatchAtATime(t *testing.T) {
	ran := map[int]int{}
	q := batch.New(5, func(all []*batch.Change[int]) {
		for _, ch := range all {
			ran[ch.Work]++
		}
	})
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			if err := q.Do(t.Context(), "test: change", n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Go(func() { q.Between(func() { ran[-1]++ }) })
	wg.Wait()
	for n := -1; n < 200; n++ {
		if ran[n] != 1 {
			t.Errorf("change %d ran %d times", n, ran[n])
		}
	}
}

func TestEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8)
		first := g.start(t.Context(), 1)
		if got := <-g.enter; !slices.Equal(got, []int{1}) {
			t.Fatalf("batch %v", got)
		}
		running, stop := context.WithCancel(t.Context())
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waits := g.start(limited, 2)
		stays := g.start(running, 3)
		time.Sleep(time.Second)
		err := <-waits
		if !fault.Is(err, fault.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a change whose time ran out while it waited: %v", err)
		}
		g.leave <- nil
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		// What a batch has taken up is not taken back.
		if got := <-g.enter; !slices.Equal(got, []int{3}) {
			t.Fatalf("batch %v: the change that left must not run", got)
		}
		stop()
		synctest.Wait()
		select {
		case err := <-stays:
			t.Fatalf("a running change came back before its fate was known: %v", err)
		default:
		}
		g.leave <- nil
		if err := <-stays; err != nil {
			t.Fatal(err)
		}
		if err := g.Do(running, "test: change", 4); !fault.Is(err, fault.Timeout) || !errors.Is(err, context.Canceled) {
			t.Fatalf("a change under an ended context: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8)
		running := g.start(t.Context(), 1)
		<-g.enter
		waiting := g.start(t.Context(), 2)
		closed := make(chan struct{})
		go func() { g.Close(); close(closed) }()
		synctest.Wait()
		if err := <-waiting; !fault.Is(err, fault.Unavailable) {
			t.Fatalf("a change that waited for a closed queue: %v", err)
		}
		select {
		case <-closed:
			t.Fatal("closed while a batch runs")
		default:
		}
		g.leave <- nil
		if err := <-running; err != nil {
			t.Fatal(err)
		}
		<-closed
		if err := g.Do(t.Context(), "test: change", 3); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("a change after closing: %v", err)
		}
		g.Between(func() { t.Error("between batches of a closed queue") })
	})
}

// TestBrokenBatch panics in a batch of three: the leader's call ends with the
// panic, the others learn that nothing is known, and the queue goes on.
func TestBrokenBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan bool) // whether the batch breaks
		q := batch.New(3, func([]*batch.Change[int]) {
			if <-let {
				panic("an invariant is broken")
			}
		})
		ends := make(chan error, 4)
		do := func(work int) {
			go func() {
				defer func() {
					if cause := recover(); cause != nil {
						ends <- errBroken
					}
				}()
				ends <- q.Do(t.Context(), "test: change", work)
			}()
			synctest.Wait()
		}
		for work := range 4 {
			do(work) // the first leads alone, the others wait for it
		}
		let <- false
		if err := <-ends; err != nil {
			t.Fatalf("the first batch: %v", err)
		}
		let <- true
		panics, unknown := 0, 0
		for range 3 {
			switch err := <-ends; {
			case errors.Is(err, errBroken):
				panics++
			case fault.Is(err, fault.Uncertain):
				unknown++
			default:
				t.Fatalf("a member of the broken batch: %v", err)
			}
		}
		if panics != 1 || unknown != 2 {
			t.Fatalf("%d members panicked and %d know nothing", panics, unknown)
		}
		do(9)
		let <- false
		if err := <-ends; err != nil {
			t.Fatalf("after a broken batch: %v", err)
		}
	})
}

var errBroken = errors.New("the call broke off")
