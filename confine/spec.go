package confine

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"world/fault"
)

// Spec is one run: what to run, what it may touch, and how long and large it may get.
type Spec struct {
	Floor Level // below it the run is refused

	Program *Image   // nil, and no Path: a verb of the first stage itself, which starts faster and may not fork
	Path    string   // a program of the system, in the place of Program: an absolute path
	Args    []string // of the program, without its name; of a verb, with it
	Env     []string // the whole environment, "NAME=value"
	Stdin   []byte

	// File is handed over read only; each argument that is FilePath becomes its path.
	// At a place of its own below Home it needs level namespaces, and Home is then the
	// working directory.
	File   []byte
	FileAt string // relative to Home; "" for no such place

	Worktree string   // absolute path of a real directory, the working directory; "" for none
	ReadOnly bool     // the worktree may not be written either
	Readable []string // absolute directories shown read only, besides the system's
	Hidden   []string // absolute directories that stay hidden besides those of the Jail

	Overlay *Overlay // a private layer over the worktree; nil: it is written directly

	Sockets bool // socket(2) is allowed; there is still no network at level namespaces

	User   User   // who runs it when the caller is root
	Family string // in the place of User: runs of a family take turns in many users
	Limits Limits

	// Warm lets a run begin in a process that waits for its input, and keeps others
	// waiting for runs that differ in nothing but Stdin and Limits.Wall, and for a
	// program Args. No process serves two. Of a program it is the first stage that
	// waits, with the fence around it, so it needs level namespaces; below it, a
	// program begins afresh.
	Warm bool
}

// FilePath stands in Args for the path of Spec.File, which depends on the level.
const FilePath = "{file}"

// Home is HOME inside level namespaces: private, empty, gone afterwards.
const Home = "/tmp/home"

// Limits bound one run. Every field but Keep and Together must be positive.
type Limits struct {
	Wall      time.Duration // until the whole tree is dead, counted outside and inside
	CPU       time.Duration // processor time of each process, rounded up to seconds
	Memory    int64         // bytes of private writable memory of each process (RLIMIT_DATA); from level landlock on there is no shared memory beside files
	Together  int64         // bytes of private memory in use by all processes of a program, and of what its sockets may hold, looked at 50 times a second at level namespaces; 0: no bound
	FileSize  int64         // bytes of each file written
	Files     int64         // descriptors of each process
	Processes int64         // processes and threads together; binds at level namespaces and under a user of its own
	Output    int64         // bytes of stdout and stderr together
	Keep      int64         // bytes kept of each of them, the middle left out; 0: all, and Output ends the run
	Scratch   int64         // bytes of the private /tmp at level namespaces, which a program may fill with a file, directory or link for each 4 KiB
}

// seconds is the processor time that one process may have.
func (l Limits) seconds() time.Duration {
	return (l.CPU + time.Second - 1) / time.Second * time.Second
}

// Bound names the limit that ended a run. Append only.
type Bound string

const (
	Unbounded    Bound = ""
	WallBound    Bound = "deadline"
	OutputBound  Bound = "output"
	CPUBound     Bound = "cpu"
	CallerBound  Bound = "cancelled"     // the caller's context was cancelled
	Died         Bound = "died"          // killed from inside: out of memory, a crash, a signal
	MemoryBound  Bound = "memory"        // a signal ended it with nearly all memory in use that it may have, or all of it together had too much
	SizeBound    Bound = "file size"     // killed as it wrote a file beyond its size
	SpaceBound   Bound = "space"         // its layer over the worktree is full
	FilesBound   Bound = "files"         // its layer holds as many files as it may
	ScratchBound Bound = "scratch files" // its private /tmp holds more files than it may
)

// Result is how a run ended. The tree is dead.
type Result struct {
	Level   Level
	Started bool // the program began; false means that it certainly did nothing
	Exit    int  // exit code; -1 when it did not exit by itself
	Bound   Bound
	Stdout  []byte
	Stderr  []byte
	Elapsed time.Duration
	Dropped int64 // bytes of stdout and stderr that were left out, see Limits.Keep

	// What became of the layer over the worktree; see Overlay.
	Applied  Applied
	Refused  string // why it was not, "" when it was or the program was ended
	Unjudged bool   // because the Applier did not come to its end in its time
	Changes  []byte // the Applier's report
}

// verb reports whether the run is of the first stage's own verb, not of a program.
func (s Spec) verb() bool { return s.Program == nil && s.Path == "" }

// check refuses a spec that could not mean anything. All of it is written by our
// own rooms, so a failure is a broken invariant of theirs, reported as Invalid.
func (s Spec) check() error {
	l := s.Limits
	for _, bound := range []int64{int64(l.Wall), int64(l.CPU), l.Memory, l.FileSize, l.Files, l.Processes, l.Output, l.Scratch} {
		if bound <= 0 {
			return invalid("every limit of a run must be positive")
		}
	}
	for _, path := range append([]string{s.Worktree, s.Path}, s.Readable...) {
		if path != "" && (!filepath.IsAbs(path) || filepath.Clean(path) != path) {
			return invalid("a path of a run must be absolute and clean")
		}
	}
	if l.Keep < 0 || l.Together < 0 {
		return invalid("a run cannot keep less than nothing")
	}
	for _, text := range slices.Concat(s.Args, s.Env, []string{s.Path}) {
		if strings.ContainsRune(text, 0) {
			return invalid("an argument of a run must not hold NUL")
		}
	}
	switch {
	case s.FileAt != "" && (s.Worktree != "" || s.File == nil || !filepath.IsLocal(s.FileAt)):
		return invalid("a file at a place of its own takes the place of a worktree")
	case s.Program != nil && s.Path != "":
		return invalid("a run has one program")
	case len(s.Args) == 0 && s.verb():
		return invalid("a run needs a program or a verb")
	}
	return s.Overlay.check(s)
}

func invalid(detail string) error { return fault.New("confine: run", fault.Invalid, "%s", detail) }
