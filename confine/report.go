package confine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// startedMark begins the report: from here on the program may have done something.
const startedMark = "started\n"

// waitingMark is before it in the report of a run that waits for its input.
const waitingMark = "waiting\n"

// endedMark follows it in the report of a run over a layer: the program has ended by
// itself, with the exit code behind it on the line.
const endedMark = "ended "

// applyingMark follows that: from here on the worktree may be changed.
const applyingMark = "applying\n"

// ending ends the report.
type ending struct {
	Exit      int
	Bound     Bound
	Unstarted bool // the program could not be executed after all
	Applied   Applied
	Refused   string
	Unjudged  bool // the layer, in its time
	Changes   []byte
}

// text is the ending's line in the report. One with nothing of a layer, as every verb's
// is, needs no encoder, which takes long to make.
func (e ending) text() ([]byte, error) {
	if !e.Unstarted && e.Applied == NotApplied && e.Refused == "" && !e.Unjudged && e.Changes == nil {
		return fmt.Appendf(nil, "{\"Exit\":%d,\"Bound\":%q}\n", e.Exit, e.Bound), nil
	}
	text, err := json.Marshal(e)
	return append(text, '\n'), err
}

// reporter writes the report, once.
type reporter struct {
	mu       sync.Mutex
	pipe     *os.File
	group    bool // there is no pid namespace: take the process group along
	phase    phase
	wall     time.Time          // when the program's time ends
	asked    Bound              // for what the daemon wants an end to the judging
	unjudged context.CancelFunc // ends the judging
}

// phase is how far a run has come.
type phase int

const (
	running  phase = iota
	judging        // the program has ended by itself, and its layer is looked at
	applying       // and is being applied
)

// start lets a waiting run begin.
type start struct {
	Wall time.Duration
	Args []string // a program's; a verb has its own from the beginning
}

// beginWord is before it in its line on the lifeline.
const beginWord = "begin "

// line is what follows that word: the time in nanoseconds, and the arguments in JSON.
func (s start) line() ([]byte, error) {
	args, err := json.Marshal(s.Args)
	return fmt.Appendf(nil, "%d %s\n", s.Wall, args), err
}

// readStart reads it.
func readStart(line string) (s start, err error) {
	wall, args, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(wall, 10, 64)
	if err != nil {
		return s, err
	}
	s.Wall = time.Duration(n)
	return s, json.Unmarshal([]byte(args), &s.Args)
}

// maxLine is how long a line on the lifeline may be, in bytes: as long as all that
// a program may be started with on Linux, in JSON.
const maxLine = 16 << 20

// live ends this process when the daemon's end of the lifeline closes, which it
// does with the daemon. Lines on it let a waiting run begin, or ask for an end that
// leaves an applying stage in peace.
func (r *reporter) live(lifeline *os.File, begun chan<- start) {
	lines := bufio.NewScanner(lifeline)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		said, ok := strings.CutPrefix(lines.Text(), beginWord)
		if !ok {
			r.ask(Bound(said))
			continue
		}
		begin, err := readStart(said)
		if err != nil {
			break
		}
		r.clock(begin.Wall)
		begun <- begin
	}
	os.Exit(137)
}

// clock starts the program's time.
func (r *reporter) clock(wall time.Duration) {
	r.mu.Lock()
	r.wall = time.Now().Add(wall)
	r.mu.Unlock()
	time.AfterFunc(wall, func() { r.cut(WallBound) })
}

// over tells that the program has ended by itself, and keeps its own bounds from
// ending what it no longer runs for.
func (r *reporter) over(exit int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = judging
	fmt.Fprintf(r.pipe, "%s%d\n", endedMark, exit)
}

// judge returns a context that ends some time after the program's time would have, or
// when the daemon asks for an end.
func (r *reporter) judge(more time.Duration) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx, cancel := context.WithDeadline(context.Background(), r.wall.Add(more))
	if r.unjudged = cancel; r.asked != Unbounded {
		cancel()
	}
	return ctx, cancel
}

// apply tells that from here on the worktree may be changed, unless the time for that
// is over.
func (r *reporter) apply(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	r.phase = applying
	r.pipe.WriteString(applyingMark)
	return true
}

// now is how far the run has come, and the end that was asked for.
func (r *reporter) now() (phase, Bound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phase, r.asked
}

// cut ends the run at a bound, if the program still runs.
func (r *reporter) cut(bound Bound) {
	r.mu.Lock()
	if r.phase == running {
		r.finish(ending{Exit: -1, Bound: bound})
	}
	r.mu.Unlock()
}

// ask ends the run for the daemon, unless its layer is being applied.
func (r *reporter) ask(bound Bound) {
	r.cut(bound)
	r.mu.Lock()
	if r.asked = bound; r.unjudged != nil {
		r.unjudged()
	}
	r.mu.Unlock()
}

// rehearse makes ready what the end of a run over a layer will need.
func (r *reporter) rehearse() { ending{Applied: WasApplied}.text() }

// wait says that this process waits, and returns what it is to begin with.
func (r *reporter) wait(begun <-chan start) start {
	r.pipe.WriteString(waitingMark)
	return <-begun
}

func (r *reporter) begin() { r.pipe.WriteString(startedMark) }

// end reports how the run ended and ends this process, and with it, inside
// namespaces, every other one.
func (r *reporter) end(e ending) {
	r.mu.Lock()
	r.finish(e)
}

// finish is end with the lock held. It does not return, so the first end wins.
func (r *reporter) finish(e ending) {
	if text, err := e.text(); err == nil {
		r.pipe.Write(text)
	}
	if r.group {
		unix.Kill(0, unix.SIGKILL)
	}
	os.Exit(max(e.Exit, 0))
}
