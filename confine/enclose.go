package confine

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// firstToGo makes this process and all that it starts the first ones that the kernel
// kills when memory runs out, before the daemon. A program can take it back as far as
// where the daemon stands, and no further.
func firstToGo() error { return os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// enclose raises the part of the fence that a process raises around itself.
func (o order) enclose() error {
	if err := noNewPrivileges(); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	space, err := o.space() // before /proc is out of sight
	if err != nil {
		return fmt.Errorf("address space: %w", err)
	}
	if o.Level < Namespaces && o.Worktree != "" {
		if err := os.Chdir(o.Worktree); err != nil {
			return err
		}
	}
	if o.Level == Landlock {
		if err := o.landlock(); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if err := o.limit(space); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if o.Level < Landlock {
		return nil
	}
	return filter(o.Sockets, o.child() || o.Args[0] == probeVerb && o.Level == Namespaces)
}

// noNewPrivileges takes from every thread the way to more rights by executing
// something. Bubblewrap has done so before this process began, and what a process
// begins with, each of its threads has.
func noNewPrivileges() error {
	if has, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil && has == 1 {
		return nil
	}
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// reservations are address space that our own runtime takes ahead of what it needs.
const reservations = 128 << 20

// widest is the address space of a program, in bytes: more than interpreters reserve,
// and few enough that the kernel's tables of it, a 512th, stay small.
const widest = 16 << 30

// space is the address space that a process may have in the end, in bytes; for other
// programs than verbs, some of which reserve as they like, what bounds the kernel's tables.
// The limit on writable memory is checked for what is mapped beside what is there: who
// reserves first, as our own runtime does for its heap, passes it once with any size.
func (o order) space() (uint64, error) {
	if o.child() {
		return widest, nil
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(statm), &pages); err != nil {
		return 0, err
	}
	return pages*uint64(os.Getpagesize()) + uint64(o.Limits.Memory) + reservations, nil
}

const (
	stack  = 8 << 20  // bytes of the first thread's, which the limit on writable memory does not count
	locked = 64 << 10 // bytes of memory that is never swapped out
	queued = 1024     // signals, and timers with them
)

// limit sets the resource limits, hard ones, so that nothing inside can raise them, or
// leaves those that are lower already; space is that on address space.
// The processor limit warns a second before it kills, so that it can be named.
func (o order) limit(space uint64) error {
	l := o.Limits
	seconds := uint64(l.seconds() / time.Second)
	type limit struct {
		resource   int
		soft, hard uint64
	}
	both := func(resource int, n uint64) limit { return limit{resource, n, n} }
	limits := []limit{
		both(unix.RLIMIT_CORE, 0), {unix.RLIMIT_CPU, seconds, seconds + 1},
		both(unix.RLIMIT_FSIZE, uint64(l.FileSize)), both(unix.RLIMIT_NOFILE, uint64(l.Files)),
		both(unix.RLIMIT_DATA, uint64(l.Memory)), both(unix.RLIMIT_AS, space), both(unix.RLIMIT_STACK, stack),
		// What the kernel keeps for a process, and how it is put before others.
		both(unix.RLIMIT_MEMLOCK, locked), both(unix.RLIMIT_SIGPENDING, queued), both(unix.RLIMIT_MSGQUEUE, 0),
		both(unix.RLIMIT_RTPRIO, 0), both(unix.RLIMIT_NICE, 0),
	}
	if o.Bounded {
		limits = append(limits, both(unix.RLIMIT_NPROC, uint64(l.Processes)))
	}
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(0, l.resource, nil, &now); err != nil {
			return err
		}
		set := unix.Rlimit{Cur: min(l.soft, now.Max), Max: min(l.hard, now.Max)}
		if err := unix.Prlimit(0, l.resource, &set, nil); err != nil {
			return err
		}
	}
	return nil
}

// landlock admits the worktree, and for other programs than ours what they need to
// start. Memory files lie outside every hierarchy and stay usable. The newest rules
// that the kernel knows apply; below the third version a file could be truncated.
func (o order) landlock() error {
	var rules []landlock.Rule
	if o.Worktree != "" && o.ReadOnly {
		rules = append(rules, landlock.RODirs(o.Worktree))
	} else if o.Worktree != "" {
		rules = append(rules, landlock.RWDirs(o.Worktree))
	}
	if o.child() {
		dirs, files := without(systemDirs, o.Closed)
		rules = append(rules,
			landlock.RODirs(append(dirs, o.Readable...)...).IgnoreIfMissing(),
			landlock.ROFiles(files...).IgnoreIfMissing(),
			landlock.ROFiles("/dev/random", "/dev/urandom").IgnoreIfMissing(),
			landlock.RWFiles("/dev/null").IgnoreIfMissing())
	}
	versions := []landlock.Config{landlock.V6, landlock.V5, landlock.V4}
	if !o.Sockets { // the fourth is the first that knows the network
		versions = append(versions, landlock.V3)
	}
	var err error
	for _, version := range versions {
		if err = version.Restrict(rules...); err == nil {
			return nil
		}
	}
	return errors.Join(errors.New("no version that is strong enough"), err)
}
