package confine

import (
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// spawner starts children. "Die with your parent" binds a child to the OS thread
// that forked it, not to the process, so children are forked from one thread that
// is locked and never ends: it lives exactly as long as the process.
type spawner struct {
	work chan func()
	err  error // there is none
}

// slack is how late, in nanoseconds, the timers of what begins in the jail may be, at
// least until it runs a program. Go's runtime looks 50 thousand times a second what its
// threads wait for, for as long as a short process lives; with this a few times.
const slack = 1e6

// usualSlack is what programs have: the kernel's own.
const usualSlack = 50e3

// newSpawner makes a spawner whose thread first enters where its children begin.
func newSpawner(enter func() error) *spawner {
	s, entered := &spawner{work: make(chan func())}, make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: a thread that failed to enter ends
		err := enter()
		if err == nil {
			err = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
		}
		if entered <- err; err != nil {
			return
		}
		for start := range s.work {
			start()
		}
	}()
	s.err = <-entered
	return s
}

var (
	spawning = sync.OnceValue(func() *spawner { return newSpawner(func() error { return nil }) })

	// offline is a spawner whose children begin in a network of their own, which has
	// no way out and not even a loopback, and which they share. To make and unmake
	// one is a good part of what a fence costs, so verbs that may not make a socket
	// anyway do without one each. Only root can have this spawner.
	offline = sync.OnceValue(func() *spawner {
		return newSpawner(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	})
)

// start starts a prepared command on the spawner's thread.
func (s *spawner) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	s.work <- func() { result <- cmd.Start() }
	return <-result
}
