package confine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"world/fault"
)

// grace is how much earlier the inner clock ends a run than the outer one, so that
// the orderly end comes first and can say which limit it was. Also how long pipes
// may stay open after the program is dead.
const grace = 150 * time.Millisecond

// Run runs one program and returns when its whole tree is dead. An error means
// that nothing ran: Unavailable when the floor is above the level reached or the
// fence could not be built, Invalid when the spec is not one. How a program that
// ran ended, well or badly, is in the Result.
func (j *Jail) Run(ctx context.Context, s Spec) (Result, error) {
	if j.reach.Level < s.Floor {
		return Result{}, fault.New("confine: run", fault.Unavailable,
			"this needs confinement level %s and the machine reaches %s", s.Floor, j.reach.Level)
	}
	if s.Warm && j.pool != nil {
		return j.pool.run(ctx, s)
	}
	return j.runAt(ctx, j.reach.Level, s)
}

func (j *Jail) runAt(ctx context.Context, level Level, s Spec) (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	if err := s.Overlay.admits(level, j.reach); err != nil {
		return Result{}, err
	}
	if s.FileAt != "" && level != Namespaces {
		return Result{}, fault.New("confine: run", fault.Unavailable, "a file at a place of its own needs level %s", Namespaces)
	}
	if s.shorten(ctx); s.Limits.Wall <= 0 || ctx.Err() != nil {
		return Result{Level: level, Exit: -1, Bound: boundOf(ctx)}, nil
	}
	s.User = j.userOf(s)
	r := &run{level: level, spec: s}
	defer r.closeFiles()
	if err := r.launch(j); err != nil {
		return Result{}, err
	}
	return r.watch(ctx)
}

// families is how many users a family has.
const families = 64

// userOf returns the user that runs a spec.
func (j *Jail) userOf(s Spec) User {
	if s.Family == "" {
		return s.User
	}
	return UserOf(fmt.Sprint(s.Family, " ", j.turn.Add(1)%families))
}

// innerWall is when the first stage itself ends the run.
func (s Spec) innerWall() time.Duration { return s.Limits.Wall - min(grace, s.Limits.Wall/4) }

// shorten cuts the wall time to what the context leaves.
func (s *Spec) shorten(ctx context.Context) {
	if end, ok := ctx.Deadline(); ok {
		s.Limits.Wall = min(s.Limits.Wall, time.Until(end)-s.Overlay.time())
	}
}

// boundOf says why a context ended: its deadline, unless somebody cancelled it.
func boundOf(ctx context.Context) Bound {
	if errors.Is(ctx.Err(), context.Canceled) {
		return CallerBound
	}
	return WallBound
}

// run is one run being prepared and watched.
type run struct {
	level Level
	spec  Spec
	waits bool // for its input
	cmd   *exec.Cmd

	mine   []*os.File // the daemon's ends: lifeline, report, info
	theirs []*os.File // to close here once the child has them

	report *os.File // read end: what the first stage says
	ask    *os.File // write end of the lifeline
	stdin  *os.File // write end of a waiting run's input; nil when the run has it from the start

	inside   <-chan int // see child
	reported <-chan []byte
	ended    <-chan error
	up       chan struct{} // closed when the first stage waits for the input
	began    time.Time     // of the run, or of its input's coming
	info     *os.File      // read end: bubblewrap's word on its child; nil at other levels
	output   *capture
}

// Descriptors of the first stage. Those above are the program's image, its file
// and bubblewrap's own.
const (
	stageFD = 3 + iota
	lifelineFD
	reportFD
)

func (r *run) prepare(j *Jail) error {
	unavailable := func(err error) error {
		return fault.Wrap("confine: run", fault.Unavailable, err, "the jail could not be built")
	}
	if os.Geteuid() == 0 && r.spec.User == 0 {
		return invalid("a program never runs as root")
	}
	if err := r.checkWorktree(); err != nil {
		return err
	}
	if r.waits {
		if _, err := r.pipe(false); err != nil {
			return unavailable(err)
		}
		r.stdin = r.mine[0]
	}
	lifeline, err := r.pipe(false)
	if err != nil {
		return unavailable(err)
	}
	r.ask = r.mine[len(r.mine)-1]
	report, err := r.pipe(true)
	if err != nil {
		return unavailable(err)
	}
	r.report = r.mine[len(r.mine)-1]
	extra := []*os.File{j.stage.file, lifeline, report}
	order := r.order()
	order.Waits = r.waits
	if r.spec.Program != nil {
		order.Program = 3 + len(extra)
		order.Script = r.spec.Program.script
		extra = append(extra, r.spec.Program.file)
	}
	handed := []struct {
		data []byte
		to   *int
	}{{r.spec.File, &order.File}}
	if r.spec.Overlay != nil {
		handed = append(handed, struct {
			data []byte
			to   *int
		}{r.spec.Overlay.Law, &order.Law})
	}
	for _, hand := range handed {
		if hand.data == nil {
			continue
		}
		f, err := sealBytes("file", hand.data)
		if err != nil {
			return unavailable(err)
		}
		r.theirs = append(r.theirs, f)
		*hand.to = 3 + len(extra)
		extra = append(extra, f)
	}
	argv := []string{"/proc/self/fd/" + strconv.Itoa(stageFD)}
	if r.level == Namespaces {
		fence, err := r.fence(j, &order, &extra)
		if err != nil {
			return err
		}
		argv = append(append([]string{j.bwrap}, fence...), argv...)
	}
	text, err := json.Marshal(order)
	if err != nil {
		return unavailable(err)
	}
	argv = append(argv, stageVerb, string(text))
	r.command(argv, extra, j.outer)
	return nil
}

func (r *run) command(argv []string, extra []*os.File, outer bool) {
	r.output = newCapture(r.spec.Limits.Output, r.spec.Limits.Keep)
	r.cmd = &exec.Cmd{
		Path: argv[0], Args: argv, Env: []string{}, Dir: "/", ExtraFiles: extra,
		Stdout: r.output.stream(0), Stderr: r.output.stream(1),
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true},
		WaitDelay:   grace,
	}
	switch {
	case r.stdin != nil:
		r.cmd.Stdin = r.theirs[0]
	case len(r.spec.Stdin) > 0:
		r.cmd.Stdin = bytes.NewReader(r.spec.Stdin)
	}
	if os.Geteuid() == 0 {
		id := uint32(r.spec.User)
		r.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id, Gid: id}
	}
	if r.level == Namespaces && outer {
		outerNamespace(r.cmd.SysProcAttr)
	}
}

// checkWorktree refuses a worktree that is a link, or reached through one: what is
// bound into the jail must be what was named.
func (r *run) checkWorktree() error {
	for _, path := range append([]string{r.spec.Worktree}, r.spec.Readable...) {
		if path == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || real != path || !isDir(path) {
			return invalid("a path of a run is not a real directory")
		}
		if !Reachable(path, r.user()) {
			return fault.New("confine: run", fault.Unavailable,
				"a directory above the worktree does not let the program's user through (it needs mode o+x)")
		}
	}
	return nil
}

func (r *run) user() User {
	if os.Geteuid() != 0 {
		return User(os.Geteuid())
	}
	return r.spec.User
}

// pipe makes a pipe between daemon and jail, to write up to the daemon or to hold
// down from it, keeps the daemon's end last in mine and returns the jail's.
func (r *run) pipe(up bool) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if up {
		r.mine, r.theirs = append(r.mine, read), append(r.theirs, write)
		return write, nil
	}
	r.mine, r.theirs = append(r.mine, write), append(r.theirs, read)
	return read, nil
}

func (r *run) closeFiles() {
	for _, f := range append(r.mine, r.theirs...) {
		f.Close() // a second close of the child's ends is harmless
	}
}

// closeTheirs lets the child alone hold its ends, so that their end can be seen here.
func (r *run) closeTheirs() {
	for _, f := range r.theirs {
		f.Close()
	}
}
