package confine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"world/fault"
)

// launch prepares a run and starts it.
func (r *run) launch(j *Jail) error {
	r.ends, r.spawner = &j.ends, spawning()
	if err := r.prepare(j); err != nil {
		return err
	}
	r.began = time.Now()
	if err := r.spawner.start(r.cmd); err != nil {
		return fault.Wrap("confine: run", fault.Unavailable, err, "the jail could not be started")
	}
	r.closeTheirs()
	r.inside = r.child()
	r.up = make(chan struct{})
	r.reported = background(r.drain)
	r.ended = background(r.cmd.Wait)
	r.read = r.listen()
	return nil
}

// watch stays with a run to its end.
func (r *run) watch(ctx context.Context) (Result, error) {
	clock := time.NewTimer(r.spec.Limits.Wall + r.spec.Overlay.time() - time.Since(r.began))
	defer clock.Stop()
	result := Result{Level: r.level, Exit: -1}
	var said []byte
	told := r.reported
	for done := false; !done; {
		done = true
		select {
		case <-r.ended:
			r.releaseChild()
		case said = <-told:
			if told, done = nil, r.isOver(said); done {
				r.leave()
			}
		case <-clock.C:
			result.Bound = WallBound
		case <-ctx.Done():
			result.Bound = boundOf(ctx)
		case <-r.output.over:
			result.Bound = OutputBound
		}
	}
	if result.Bound != Unbounded {
		r.stop(result.Bound, clock)
	}
	if told != nil {
		said = <-told
	}
	r.hearOut()
	r.settle(&result, said)
	result.Elapsed = time.Since(r.began)
	if !result.Started && result.Bound == Died {
		return Result{}, fault.Wrap("confine: run", fault.Unavailable,
			r.broke(result.Stderr), "the jail could not be built")
	}
	return result, nil
}

// broke tells, of a run in which no program began, what was said or else how it ended.
func (r *run) broke(stderr []byte) error {
	if text := strings.TrimSpace(string(stderr)); text != "" || r.cmd.ProcessState == nil {
		return errors.New(text)
	}
	return silent(fmt.Sprintf("%s ended without a word: %s", filepath.Base(r.cmd.Path), r.cmd.ProcessState))
}

// silent is how a process ended that did not say why.
type silent string

func (s silent) Error() string { return string(s) }

// settle reads what the first stage said over its own pipe, which the program
// does not have, so that nothing it prints can be taken for a limit or an exit.
func (r *run) settle(result *Result, said []byte) {
	result.Stdout, result.Stderr, result.Dropped = r.output.taken()
	said, started := bytes.CutPrefix(said, []byte(startedMark))
	end, far, err := readReport(said)
	result.Started = started
	switch {
	case err == nil:
		result.Applied, result.Refused, result.Unjudged, result.Changes = end.Applied, end.Refused, end.Unjudged, end.Changes
	case far == applying:
		result.Applied = MaybeApplied
	case far == judging:
		result.Refused, result.Unjudged = notJudged, true
	}
	if result.overruled(err == nil, far) {
		result.Exit, result.Bound = end.Exit, end.Bound
		return
	}
	switch {
	case result.Bound != Unbounded:
	case err != nil && result.Started && r.overran():
		result.Bound = CPUBound
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

// overruled reports whether a bound that was seen from outside came too late to have
// ended the program: the clock beside a whole report, or beside a program that had
// ended by itself, and its output when its changes have been applied. Only who called
// may take back what has an end already.
func (r *Result) overruled(whole bool, far phase) bool {
	switch r.Bound {
	case WallBound:
		return whole || far == judging
	case OutputBound:
		return r.Applied == WasApplied
	case Unbounded:
		return !whole && far == judging
	}
	return false
}

// readReport reads what the first stage said after its start, and how far the run came.
// err: it did not say how it ended; the exit code is there if the program did.
func readReport(said []byte) (end ending, far phase, err error) {
	if rest, ok := bytes.CutPrefix(said, []byte(endedMark)); ok {
		line, rest, _ := bytes.Cut(rest, []byte("\n"))
		end.Exit, _ = strconv.Atoi(string(line))
		said, far = rest, judging
	}
	if rest, ok := bytes.CutPrefix(said, []byte(applyingMark)); ok {
		said, far = rest, applying
	}
	return end, far, json.Unmarshal(said, &end)
}

// overran reports whether a verb that ended without a word has used up its processor
// time. The first stage has a second to look before it is killed for that; on a busy machine
// it may not get its turn in it, and cannot say so. A program's end is told by its parent.
func (r *run) overran() bool {
	if !r.spec.verb() || r.cmd.ProcessState == nil {
		return false
	}
	used := r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	return used >= r.spec.Limits.CPU/10*9
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
func (r *run) stop(bound Bound, clock *time.Timer) {
	if r.spec.Overlay != nil && bound != WallBound {
		r.ask.WriteString(string(bound) + "\n") // one that cannot be asked is killed below
		select {
		case <-r.ended:
			r.releaseChild()
			return
		case <-clock.C:
		}
	}
	r.kill()
	<-r.ended
}

// patience is how long bubblewrap has to name its child.
const patience = 2 * time.Second

func release(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

// releaseChild gives up what was kept of a child that is dead.
func (r *run) releaseChild() {
	if r.inside != nil {
		release(<-r.inside)
	}
}

// kill ends the whole tree, such that the end of the command is the end of the
// tree. Killing the first process of a pid namespace kills every other one before
// its parent sees it dead; that process is the command itself in an outer
// namespace, and bubblewrap's child otherwise. Below level namespaces the session's
// process group is what there is.
func (r *run) kill() {
	switch {
	case r.level < Namespaces:
		unix.Kill(-r.cmd.Process.Pid, unix.SIGKILL)
	case r.inside == nil:
		r.cmd.Process.Kill()
	default:
		select {
		case fd := <-r.inside:
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

// drain reads the little that the first stage has to say, and tells when one that
// waits has come so far.
func (r *run) drain() []byte {
	report := bufio.NewReader(io.LimitReader(r.report, maxReport))
	if mark, err := report.Peek(len(waitingMark)); err == nil && string(mark) == waitingMark {
		report.Discard(len(waitingMark))
		close(r.up)
	}
	var said []byte
	for {
		line, err := report.ReadBytes('\n')
		said = append(said, line...)
		switch {
		case err == nil && line[0] == '{', err == io.EOF: // an ending is the last line
			return said
		case err != nil:
			return nil
		}
	}
}
