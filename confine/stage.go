package confine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Verb is one command of the program that is a Jail's first stage. It returns the
// exit code. It writes to stdout and stderr as they are given, and has ended all its
// writing when it returns.
type Verb func(args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Stage is what a program that is a Jail's first stage can do.
type Stage struct {
	Verbs map[string]Verb

	// Rehearsals are inputs that a process which waits for one is tried with first,
	// by verb, so that its own finds everything in place. What such an input does
	// must leave nothing behind; its output goes nowhere.
	Rehearsals map[string][]byte

	Apply Applier // judges and applies what programs change in a layer over a worktree; nil where none do
}

// Hidden verbs of the first stage.
const (
	stageVerb = "stage"
	probeVerb = "probe"
)

// order is what the first stage is told to do.
type order struct {
	Level    Level
	Wall     time.Duration // from the first stage's own start
	Program  int           // descriptor of the program; 0: a verb, or at Path
	Path     string
	Script   bool // the program names an interpreter, which must open it
	File     int  // descriptor of Spec.File; 0: none, or it is at FilePath
	FilePath string
	Args     []string
	Given    int // descriptor of a program's Args in JSON; 0: they are in Args, or come on the lifeline
	Env      []string
	Worktree string
	ReadOnly bool
	Readable []string
	Closed   []string // what a program may not read of the system's directories, though its user may
	Sockets  bool
	Bounded  bool // the user is this run's alone, so that its processes can be counted
	Limits   Limits
	Overlay  *Overlay
	Law      int  // descriptor of Overlay.Law
	Waits    bool // for a line on the lifeline that says how long it may take from then on
}

// child reports whether the order is for another program, not for a verb.
func (o order) child() bool { return o.Program != 0 || o.Path != "" }

// handArgs takes a program's arguments out of the order and returns them in JSON, nil
// for none: the order is one argument itself, which Linux bounds at 128 KiB, and in
// JSON a byte may take six.
func (o *order) handArgs() ([]byte, error) {
	if !o.child() || len(o.Args) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(o.Args)
	o.Args = nil
	return text, err
}

// takeArgs reads what handArgs has taken out.
func (o *order) takeArgs() error {
	if o.Given == 0 {
		return nil
	}
	f := os.NewFile(uintptr(o.Given), "arguments")
	defer f.Close()
	return json.NewDecoder(f).Decode(&o.Args)
}

// Main is the main function of a program that serves verbs and is a Jail's first
// stage. It returns the exit code.
func Main(argv []string, s Stage) int {
	if len(argv) < 2 {
		fmt.Fprintln(os.Stderr, "a verb is required")
		return 2
	}
	if argv[1] == stageVerb {
		return s.begin(argv[2:])
	}
	verb, ok := s.Verbs[argv[1]]
	if argv[1] == overlayProbeVerb {
		verb, ok = overlayProbe, true
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown verb")
		return 2
	}
	return verb(argv[2:], os.Stdin, os.Stdout, os.Stderr)
}

// begin raises the rest of the fence around itself and then becomes the program:
// by calling its own verb, or as the parent of another program. Whatever fails
// before the mark fails the run without anything having run.
func (s Stage) begin(args []string) int {
	var o order
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &o) != nil {
		return refuse("the order is unreadable")
	}
	// Nothing but the pipes and what the order names survives into a program.
	if err := unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return refuse("close range", err)
	}
	unix.Close(stageFD)
	if err := o.takeArgs(); err != nil {
		return refuse("arguments", err)
	}
	r := &reporter{pipe: os.NewFile(reportFD, "report"), group: o.Level < Namespaces && o.child() && unix.Getpgrp() == os.Getpid()}
	// Below namespaces the daemon's death signals only this process, and inside
	// them there is a moment before that signal is armed; the pipe covers both.
	begun := make(chan start, 1)
	// Read without blocking, it takes no thread to wait for. A program may leave no room
	// for threads, so beside one there is one from the beginning.
	if err := unix.SetNonblock(lifelineFD, !o.child()); err != nil {
		return refuse("lifeline", err)
	}
	go r.live(os.NewFile(lifelineFD, "lifeline"), begun)
	if !o.Waits {
		r.clock(o.Wall)
	}
	if err := firstToGo(); err != nil {
		return refuse("oom score", err)
	}
	if o.Waits && o.child() {
		KeepThreads()
		r.rehearse()
		o.Args = r.wait(begun).Args
	}
	var l layer
	if o.Overlay != nil {
		var err error
		if l, err = o.lay(); err != nil {
			return refuse("overlay", err)
		}
	}
	if err := o.enclose(); err != nil {
		return refuse("enclose", err)
	}
	if o.child() {
		return supervise(o, r, func(e *ending) {
			if o.Overlay != nil {
				l.settle(o, r, s.Apply, e)
			}
		})
	}
	return s.call(o, r, begun)
}

// call becomes a verb.
func (s Stage) call(o order, r *reporter, begun <-chan start) int {
	verb, ok := s.Verbs[o.Args[0]]
	if o.Args[0] == probeVerb {
		verb, ok = probe, true
	}
	if !ok {
		return refuse("unknown verb")
	}
	os.Clearenv()
	for _, pair := range o.Env {
		name, value, _ := strings.Cut(pair, "=")
		os.Setenv(name, value)
	}
	debug.SetMemoryLimit(o.Limits.Memory / 4 * 3)
	args := o.arguments()[1:]
	if o.Waits {
		if input, ok := s.Rehearsals[o.Args[0]]; ok {
			verb(args, bytes.NewReader(input), io.Discard, io.Discard)
		}
		r.wait(begun)
	}
	o.heed(r)
	r.begin()
	r.end(ending{Exit: verb(args, os.Stdin, os.Stdout, os.Stderr)})
	return 0
}

// heed ends a verb when it has spent its processor time, for which it looks when all
// of it can be spent at the earliest: to wait for the kernel's warning would take threads.
// Another program than this process is measured at its end.
func (o order) heed(r *reporter) {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil && used(usage) >= o.Limits.seconds() {
		r.cut(CPUBound)
	}
	left := (o.Limits.seconds() - used(usage)) / time.Duration(runtime.GOMAXPROCS(0))
	time.AfterFunc(max(left, time.Millisecond), func() { o.heed(r) })
}

// arguments returns the program's arguments with the file's path filled in.
func (o order) arguments() []string {
	path := o.FilePath
	if o.File != 0 {
		path = "/proc/self/fd/" + strconv.Itoa(o.File)
	}
	args := make([]string, len(o.Args))
	for i, arg := range o.Args {
		if args[i] = arg; arg == FilePath {
			args[i] = path
		}
	}
	return args
}

// refuse says on stderr, which only the daemon's log sees, why nothing ran.
func refuse(what string, err ...error) int {
	fmt.Fprintln(os.Stderr, "first stage:", what, err)
	return 125
}
