package confine

import (
	"bytes"
	"context"
	"sync"
)

// ends are the runs that were answered before their last process was gone. Only one
// inside namespaces is, that has ended by itself: when the first stage says so, every
// process that it started is dead, nothing of its own is left to do, and it is killed
// before the answer. To take down its address space and the namespaces around it is
// the kernel's work, for which nobody need wait, except who runs on the same worktree
// next.
type ends struct {
	all sync.WaitGroup

	mu sync.Mutex
	of map[string]map[*run]chan struct{} // by worktree
}

// isOver reports whether a run need not be waited for any longer, by what its first
// stage said.
func (r *run) isOver(said []byte) bool {
	said, started := bytes.CutPrefix(said, []byte(startedMark))
	end, _, err := readReport(said)
	return err == nil && started && r.level == Namespaces && !end.Unstarted && end.Bound == Unbounded
}

// leave kills a run and lets it end by itself.
func (r *run) leave() {
	r.kill()
	r.ends.add(r)
}

func (e *ends) add(r *run) {
	gone := make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil {
		e.of = map[string]map[*run]chan struct{}{}
	}
	if e.of[r.spec.Worktree] == nil {
		e.of[r.spec.Worktree] = map[*run]chan struct{}{}
	}
	e.of[r.spec.Worktree][r] = gone
	e.all.Go(func() {
		<-r.ended
		e.mu.Lock()
		defer e.mu.Unlock()
		if delete(e.of[r.spec.Worktree], r); len(e.of[r.spec.Worktree]) == 0 {
			delete(e.of, r.spec.Worktree)
		}
		close(gone)
	})
}

// wait returns when every earlier run on a worktree is dead, or ctx ends.
func (e *ends) wait(ctx context.Context, worktree string) {
	e.mu.Lock()
	var gone []chan struct{}
	for _, g := range e.of[worktree] {
		gone = append(gone, g)
	}
	e.mu.Unlock()
	for _, g := range gone {
		select {
		case <-g:
		case <-ctx.Done():
			return
		}
	}
}
