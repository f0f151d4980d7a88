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

// space is the address space that a verb may have in the end, in bytes; 0 for other
// programs, some of which reserve as they like. The limit on writable memory is checked
// for what is mapped beside what is there: who reserves first, as our own runtime does
// for its heap, passes it once with any size.
func (o order) space() (uint64, error) {
	if o.child() {
		return 0, nil
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

// limit sets the resource limits, hard ones, so that nothing inside can raise them;
// space is that on address space, 0 for none.
// The processor limit warns a second before it kills, so that it can be named.
func (o order) limit(space uint64) error {
	l := o.Limits
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	limits := []struct {
		resource int
		limit    unix.Rlimit
	}{
		{unix.RLIMIT_CORE, unix.Rlimit{}},
		{unix.RLIMIT_CPU, unix.Rlimit{Cur: seconds, Max: seconds + 1}},
		{unix.RLIMIT_FSIZE, unix.Rlimit{Cur: uint64(l.FileSize), Max: uint64(l.FileSize)}},
		{unix.RLIMIT_NOFILE, unix.Rlimit{Cur: uint64(l.Files), Max: uint64(l.Files)}},
		{unix.RLIMIT_DATA, unix.Rlimit{Cur: uint64(l.Memory), Max: uint64(l.Memory)}},
	}
	if space != 0 {
		limits = append(limits, struct {
			resource int
			limit    unix.Rlimit
		}{unix.RLIMIT_AS, unix.Rlimit{Cur: space, Max: space}})
	}
	if o.Bounded {
		n := uint64(l.Processes)
		limits = append(limits, struct {
			resource int
			limit    unix.Rlimit
		}{unix.RLIMIT_NPROC, unix.Rlimit{Cur: n, Max: n}})
	}
	for _, set := range limits {
		if err := unix.Prlimit(0, set.resource, &set.limit, nil); err != nil {
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
