package confine

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"world/fault"
)

// run is one run being prepared and watched.
type run struct {
	level Level
	spec  Spec
	waits bool // for its input
	ends  *ends
	cmd   *exec.Cmd

	spawner *spawner // starts cmd

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
	out      [2]*os.File     // read ends of stdout and stderr
	read     <-chan struct{} // closed when all of them is in output
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
	given, err := order.handArgs()
	if err != nil {
		return unavailable(err)
	}
	handed := []struct {
		data []byte
		to   *int
	}{{r.spec.File, &order.File}, {given, &order.Given}}
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
	if err := r.command(argv, extra, j.outer); err != nil {
		return unavailable(err)
	}
	return nil
}

func (r *run) command(argv []string, extra []*os.File, outer bool) error {
	r.output = newCapture(r.spec.Limits.Output, r.spec.Limits.Keep)
	var theirs [2]*os.File
	for i := range theirs {
		var err error
		if theirs[i], err = r.pipe(true); err != nil {
			return err
		}
		r.out[i] = r.mine[len(r.mine)-1]
	}
	r.cmd = &exec.Cmd{
		Path: argv[0], Args: argv, Env: []string{}, Dir: "/", ExtraFiles: extra,
		Stdout: theirs[0], Stderr: theirs[1],
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true},
		WaitDelay:   grace, // for a program's input
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
	return nil
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

func (r *run) user() User { return userOf(r.spec.User) }

// userOf is who runs what a user is named for: an ordinary user himself.
func userOf(named User) User {
	if os.Geteuid() != 0 {
		return User(os.Geteuid())
	}
	return named
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
