package batch_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const patience = time.Millisecond

// gathers tells how batches of a queue with some patience come about.
type gathers struct {
	*testing.T
	*gate
}

func gather(t *testing.T, run func(g gathers)) {
	synctest.Test(t, func(t *testing.T) {
		run(gathers{t, newGateOf(8, patience, func(int) int { return 0 })})
	})
}

func (g gathers) begin(works ...int) {
	for _, n := range works {
		g.start(g.Context(), n)
	}
}

// together runs the works as one batch, so that its callers are expected back.
func (g gathers) together(works ...int) {
	g.Helper()
	g.begin(0)
	if got := fmt.Sprint(<-g.enter); got != "[0]" {
		g.Fatalf("batch %s, wanted one alone", got)
	}
	g.begin(works...)
	g.leave <- nil
	g.ran(works, 0)
}

// ran takes the next batch, which must be these works and begin after so long.
func (g gathers) ran(works []int, after time.Duration) {
	g.Helper()
	began := time.Now()
	got := <-g.enter
	if took := time.Since(began); fmt.Sprint(got) != fmt.Sprint(works) || took != after {
		g.Fatalf("batch %v after %v, wanted %v after %v", got, took, works, after)
	}
	g.leave <- nil
	synctest.Wait()
}

func TestABatchWaitsForThoseOfTheLast(t *testing.T) {
	gather(t, func(g gathers) {
		g.together(1, 2, 3)
		g.begin(4)
		time.Sleep(patience / 2)
		g.begin(5)
		g.ran([]int{4, 5}, patience/2+patience) // as long as another comes, and no longer
		g.begin(6)
		g.ran([]int{6}, 0) // the last one waited in vain

		g.together(7, 8)
		g.begin(9)
		time.Sleep(patience / 2)
		g.begin(10)
		g.ran([]int{9, 10}, 0) // all are there
	})
}

// TestWaitingInVainIsGivenUp lets pairs share batches and come back one by one: a
// batch that waits for the other does so ever more seldom, and at once again after
// one was not in vain.
func TestWaitingInVainIsGivenUp(t *testing.T) {
	gather(t, func(g gathers) {
		waited := func() string {
			var when string
			for range 8 {
				g.together(1, 2)
				g.begin(3)
				began := time.Now()
				<-g.enter
				when += map[time.Duration]string{0: "-", patience: "w"}[time.Since(began)]
				g.leave <- nil
				synctest.Wait()
			}
			return when
		}
		if got := waited(); got != "w-w--w--" {
			t.Fatalf("batches that waited: %s", got)
		}
		for range 2 { // which the last one in vain does without
			g.together(1, 2)
			g.begin(3)
			g.ran([]int{3}, 0)
		}
		g.together(1, 2)
		g.begin(3, 4)
		g.ran([]int{3, 4}, 0)
		// The pair's next batch waits in vain, and one does without it: not eight.
		if got := waited(); got != "-w--w---" {
			t.Errorf("batches that waited after one that was full: %s", got)
		}
	})
}

// TestOneCallerWaitsForNobody is the positive control of all above.
func TestOneCallerWaitsForNobody(t *testing.T) {
	gather(t, func(g gathers) {
		for n := range 10 {
			g.begin(n)
			g.ran([]int{n}, 0)
		}
	})
}
