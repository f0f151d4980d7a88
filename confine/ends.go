package confine

import (
	"context"
	"sync"
)

// ends are the runs that were answered before their last process was gone. Only a
// verb inside namespaces is: nothing of it is left to do when it says how it ended,
// it may not start a process, and it is killed before the answer. To take down its
// address space and the namespaces around it is the kernel's work, for which nobody
// need wait, except who runs on the same worktree next.
type ends struct {
	all sync.WaitGroup

	mu sync.Mutex
	of map[string]map[*run]chan struct{} // by worktree
}

// whole returns a channel that is closed when all that a run has written is here, for
// a run that need not be waited for beyond that; nil for others.
func (r *run) whole(said []byte) <-chan struct{} {
	if r.level != Namespaces || !r.spec.verb() {
		return nil
	}
	end, started, _, err := readReport(said)
	if err != nil || !started || end.Wrote == nil {
		return nil
	}
	return r.output.all(*end.Wrote)
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
