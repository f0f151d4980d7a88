package confine

import (
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervise runs a program other than the first stage as its child, so that clock,
// lifeline and report stay in hands that are ours. Inside namespaces this is
// process 1: it cannot be signalled or traced from inside, and its end is
// everybody's end. settled completes the ending of a program that ended by itself.
func supervise(o order, r *reporter, settle func(*ending)) int {
	runtime.LockOSThread() // the child dies with this thread
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return refuse("dumpable", err)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, usualSlack, 0, 0, 0); err != nil {
		return refuse("timers", err)
	}
	path, name, files := o.Path, o.Path, []uintptr{0, 1, 2}
	if path == "" {
		path, name = "/proc/self/fd/"+strconv.Itoa(o.Program), "program"
	}
	if o.Script {
		path, files = "/proc/self/fd/"+strconv.Itoa(len(files)), append(files, uintptr(o.Program))
	}
	if o.File != 0 {
		files = append(files, uintptr(o.File))
		o.File = len(files) - 1
	}
	// Process 1 gets every signal that it handles, from anybody inside. Those that are
	// ignored the program would inherit; those that are caught it does not.
	signal.Notify(make(chan os.Signal, 1))
	if !o.Waits { // one that waited has made them then
		KeepThreads()
	}
	r.begin()
	child, err := syscall.ForkExec(path, append([]string{name}, o.arguments()...), &syscall.ProcAttr{
		Env: o.Env, Files: files,
		// A session of its own, so that nothing that is for a group or a session is for who
		// watches. Below namespaces the group is what is ended.
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: o.Level == Namespaces},
	})
	if err != nil {
		refuse("start", err)
		r.end(ending{Exit: 126, Unstarted: true})
	}
	go o.together(r)
	for i := range 3 {
		unix.Close(i) // so that the program's own end closes them
	}
	status, usage := reap(child)
	e := ending{Exit: status.ExitStatus(), Bound: o.bound(status, usage)}
	if e.Bound == Unbounded && o.Overlay != nil {
		r.over(e.Exit)
	}
	if o.Level == Namespaces {
		bury()
	}
	if e.Bound == Unbounded {
		settle(&e)
	}
	r.end(e)
	return 0
}

// bound says which limit a program's end shows, Unbounded for none. A program that
// exits has ended by itself, whatever it was refused before. One that a signal ended
// is measured, since anybody inside may send one.
func (o order) bound(status unix.WaitStatus, usage unix.Rusage) Bound {
	signal := lethal(status)
	switch {
	case signal == 0:
		return Unbounded
	// One that ignores the warning is killed a second later.
	case o.spent(usage) && (signal == unix.SIGXCPU || signal == unix.SIGKILL):
		return CPUBound
	// One that is refused memory breaks off as it likes; the kernel says no more than
	// how much it had.
	case usage.Maxrss*1024 >= o.Limits.Memory/8*7 && (signal == unix.SIGKILL || signal == unix.SIGSEGV || signal == unix.SIGABRT):
		return MemoryBound
	case !status.Signaled():
		return Unbounded
	case signal == unix.SIGXFSZ:
		return SizeBound
	}
	return Died
}

// spent reports whether about as much processor time was used as one process may have.
func (o order) spent(usage unix.Rusage) bool {
	return used(usage) >= o.Limits.CPU/4*3
}

// used is the processor time of a process.
func used(usage unix.Rusage) time.Duration {
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// lethal is the signal that ended a program, or one that it watched and whose end it
// passes on as shells do; 0 for none.
func lethal(status unix.WaitStatus) unix.Signal {
	if status.Signaled() {
		return status.Signal()
	}
	return unix.Signal(max(status.ExitStatus()-128, 0))
}

// reap waits for the child and, as process 1, buries everybody else on the way.
func reap(child int) (unix.WaitStatus, unix.Rusage) {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, 0, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			os.Exit(125) // no child at all: there is nothing to report
		}
		if pid == child {
			return status, usage
		}
	}
}
