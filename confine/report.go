package confine

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// startedMark begins the report: from here on the program may have done something.
const startedMark = "started\n"

// waitingMark is before it in the report of a run that waits for its input.
const waitingMark = "waiting\n"

// applyingMark follows it in the report: from here on the worktree may be changed.
const applyingMark = "applying\n"

// ending ends the report.
type ending struct {
	Exit      int
	Bound     Bound
	Unstarted bool // the program could not be executed after all
	Applied   Applied
	Refused   string
	Changes   []byte
}

// text is the ending's line in the report.
func (e ending) text() ([]byte, error) {
	text, err := json.Marshal(e)
	return append(text, '\n'), err
}

// reporter writes the report, once.
type reporter struct {
	mu       sync.Mutex
	pipe     *os.File
	group    bool // there is no pid namespace: take the process group along
	settling bool // the program has ended by itself, and its layer is being applied
}

// start lets a waiting run begin.
type start struct {
	Wall time.Duration
	Args []string // a program's; a verb has its own from the beginning
}

// beginWord is before it in its line on the lifeline.
const beginWord = "begin "

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
			r.cut(Bound(said))
			continue
		}
		var begin start
		if err := json.Unmarshal([]byte(said), &begin); err != nil {
			break
		}
		time.AfterFunc(begin.Wall, func() { r.cut(WallBound) })
		begun <- begin
	}
	os.Exit(137)
}

// applying tells that from here on the worktree may be changed, and keeps the
// program's own bounds from ending what it no longer runs for.
func (r *reporter) applying() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settling = true
	r.pipe.WriteString(applyingMark)
}

// cut ends the run at a bound, if the program still runs.
func (r *reporter) cut(bound Bound) {
	r.mu.Lock()
	if !r.settling {
		r.finish(ending{Exit: -1, Bound: bound})
	}
	r.mu.Unlock()
}

// rehearse makes ready what the end will need.
func (r *reporter) rehearse() { ending{}.text() }

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
