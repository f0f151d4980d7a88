package confine

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestEndsWait: only who runs on the same worktree waits, for every earlier run there,
// and no longer than its context.
func TestEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ends
		gone := []chan error{make(chan error), make(chan error)}
		for _, ended := range gone {
			e.add(&run{spec: Spec{Worktree: "/a"}, ended: ended})
		}
		e.wait(t.Context(), "/b")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		e.wait(ended, "/a")
		waited := false
		go func() {
			e.wait(t.Context(), "/a")
			waited = true
		}()
		for range gone {
			if synctest.Wait(); waited {
				t.Fatal("it did not wait for all of them")
			}
			gone[0] <- nil
			gone = gone[1:]
		}
		if synctest.Wait(); !waited || len(e.of) != 0 {
			t.Errorf("waited %t, %d worktrees are kept", waited, len(e.of))
		}
		e.all.Wait()
	})
}
