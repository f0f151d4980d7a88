package confine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"world/fault"
)

// wait starts the prepared run and watches it to its end.
func (r *run) wait(ctx context.Context) (Result, error) {
	began := time.Now()
	clock := time.NewTimer(r.spec.Limits.Wall + r.spec.Overlay.time())
	defer clock.Stop()
	if err := start(r.cmd); err != nil {
		return Result{}, fault.Wrap("confine: run", fault.Unavailable, err, "the jail could not be started")
	}
	r.closeTheirs()
	inside := r.child()
	reported := background(func() []byte { return drain(r.report) })
	ended := background(r.cmd.Wait)

	result := Result{Level: r.level, Exit: -1}
	select {
	case <-ended:
	case <-clock.C:
		result.Bound = WallBound
	case <-ctx.Done():
		result.Bound = boundOf(ctx)
	case <-r.output.over:
		result.Bound = OutputBound
	}
	if result.Bound != Unbounded {
		r.stop(result.Bound, inside, ended, clock)
	} else if inside != nil {
		release(<-inside)
	}
	r.settle(&result, <-reported)
	result.Elapsed = time.Since(began)
	if !result.Started && result.Bound == Died {
		return Result{}, fault.Wrap("confine: run", fault.Unavailable,
			errors.New(string(result.Stderr)), "the jail could not be built")
	}
	return result, nil
}

// settle reads what the first stage said over its own pipe, which the program
// does not have, so that nothing it prints can be taken for a limit or an exit.
func (r *run) settle(result *Result, said []byte) {
	result.Stdout, result.Stderr, result.Dropped = r.output.taken()
	said, result.Started = bytes.CutPrefix(said, []byte(startedMark))
	var end ending
	said, applying := bytes.CutPrefix(said, []byte(applyingMark))
	err := json.Unmarshal(said, &end)
	switch {
	case err == nil:
		result.Applied, result.Refused, result.Changes = end.Applied, end.Refused, end.Changes
	case applying:
		result.Applied = MaybeApplied
	}
	switch {
	case result.Bound != Unbounded:
	case err != nil:
		result.Bound = Died
	case end.Unstarted:
		result.Started, result.Bound = false, Died
	case r.output.full():
		result.Bound = OutputBound
	default:
		result.Exit, result.Bound = end.Exit, end.Bound
	}
}

// child learns which process is the first one inside the namespaces, in a form
// that cannot come to mean another process. The channel yields -1 when there is none.
func (r *run) child() <-chan int {
	if r.info == nil {
		return nil
	}
	return background(func() int {
		var told struct {
			Pid int `json:"child-pid"`
		}
		if err := json.NewDecoder(io.LimitReader(r.info, 1<<12)).Decode(&told); err != nil || told.Pid <= 0 {
			return -1
		}
		fd, err := unix.PidfdOpen(told.Pid, 0)
		if err != nil {
			return -1
		}
		return fd
	})
}

// stop ends the tree at a bound. A stage that may be applying a layer is asked
// first, and given what time is left for it; others are killed.
func (r *run) stop(bound Bound, inside <-chan int, ended <-chan error, clock *time.Timer) {
	if r.spec.Overlay != nil && bound != WallBound {
		r.ask.WriteString(string(bound)) // one that cannot be asked is killed below
		select {
		case <-ended:
			if inside != nil {
				release(<-inside)
			}
			return
		case <-clock.C:
		}
	}
	r.kill(inside)
	<-ended
}

// patience is how long bubblewrap has to name its child.
const patience = 2 * time.Second

func release(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

// kill ends the whole tree, such that the end of the command is the end of the
// tree. Killing the first process of a pid namespace kills every other one before
// its parent sees it dead; that process is the command itself in an outer
// namespace, and bubblewrap's child otherwise. Below level namespaces the session's
// process group is what there is.
func (r *run) kill(inside <-chan int) {
	switch {
	case r.level < Namespaces:
		unix.Kill(-r.cmd.Process.Pid, unix.SIGKILL)
	case inside == nil:
		r.cmd.Process.Kill()
	default:
		select {
		case fd := <-inside:
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			release(fd)
		case <-time.After(patience): // bubblewrap says it before it does anything else
			r.cmd.Process.Kill()
		}
	}
}

// background runs f and keeps its result for whoever asks.
func background[T any](f func() T) <-chan T {
	c := make(chan T, 1)
	go func() { c <- f() }()
	return c
}

// maxReport is room for an ending with what an Applier has changed, in base64, and
// why it refused.
const maxReport = 2 * MaxChanges

// drain reads the little that the first stage has to say.
func drain(f *os.File) []byte {
	said, err := io.ReadAll(io.LimitReader(f, maxReport))
	if err != nil {
		return nil
	}
	return said
}
