package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"world/confine"
)

// What starts processes, meddles with others, and outlives its parent.

// fork starts as many processes as it is told, all alive at once.
func fork(a []string) (string, error) {
	for range number(a[0]) {
		c := exec.Command("/proc/self/exe", "sleep")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return "", err
		}
		defer c.Process.Kill()
	}
	return "", nil
}

// haunted is what a process remembers of the runs that it served.
var haunted string

// haunt leaves its input wherever it can, for a later run to find, and says what
// it found of an earlier one.
func haunt(_ []string, stdin io.Reader, stdout, _ io.Writer) int {
	found := haunted + os.Getenv("GHOST")
	places := []string{"/tmp/ghost", confine.Home + "/ghost", "/dev/shm/ghost"}
	for _, path := range places {
		b, _ := os.ReadFile(path)
		found += string(b)
	}
	b, _ := io.ReadAll(stdin)
	haunted += string(b)
	os.Setenv("GHOST", haunted)
	for _, path := range places {
		os.WriteFile(path, b, 0o666)
	}
	fmt.Fprintf(stdout, "ok uid %d found %q", os.Getuid(), found)
	return 0
}

// meddle sets limits and priorities of a process, 0 for itself, in every way that there
// is, and says how many got through.
func meddle(a []string) (string, error) {
	pid, set := uintptr(number(a[0])), 0
	limit := unix.Rlimit{Cur: 1 << 19, Max: 1 << 20}
	attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: 19}
	priority, processors := int32(0), [16]uint64{}
	for i := range processors {
		processors[i] = ^uint64(0)
	}
	calls := [][4]uintptr{
		{unix.SYS_PRLIMIT64, pid, unix.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit))},
		{unix.SYS_SCHED_SETPARAM, pid, uintptr(unsafe.Pointer(&priority)), 0},
		{unix.SYS_SCHED_SETSCHEDULER, pid, 3 /* SCHED_BATCH */, uintptr(unsafe.Pointer(&priority))},
		{unix.SYS_SCHED_SETATTR, pid, uintptr(unsafe.Pointer(&attributes)), 0},
		{unix.SYS_SCHED_SETAFFINITY, pid, unsafe.Sizeof(processors), uintptr(unsafe.Pointer(&processors))},
		{unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, pid, 19},
		{unix.SYS_IOPRIO_SET, 1, pid, 2<<13 | 7},
	}
	for _, call := range calls {
		if _, _, errno := unix.Syscall6(call[0], call[1], call[2], call[3], 0, 0, 0); errno == 0 {
			set++
		}
	}
	return fmt.Sprintf("%d of %d", set, len(calls)), nil
}

// tick makes a file grow for as long as it lives.
func tick(a []string) (string, error) {
	for {
		f, err := os.OpenFile(a[0], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return "", err
		}
		f.WriteString(".")
		f.Close()
		time.Sleep(time.Millisecond)
	}
}

// queue sends a process a signal that looks like a fault of its own, in every way that
// there is, and says how many got through.
func queue(a []string) (string, error) {
	pid, sent := number(a[0]), 0
	var info [128]byte
	word := func(i int, value int32) { *(*int32)(unsafe.Pointer(&info[i])) = value }
	word(0, int32(unix.SIGSEGV))
	word(8, -1) // SI_QUEUE
	at := uintptr(unsafe.Pointer(&info))
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "", err
	}
	for _, call := range [][5]uintptr{
		{unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(unix.SIGSEGV), at},
		{unix.SYS_RT_TGSIGQUEUEINFO, uintptr(pid), uintptr(pid), uintptr(unix.SIGSEGV), at},
		{unix.SYS_PIDFD_SEND_SIGNAL, uintptr(pidfd), uintptr(unix.SIGSEGV), at},
	} {
		if _, _, errno := unix.Syscall6(call[0], call[1], call[2], call[3], call[4], 0, 0); errno == 0 {
			sent++
		}
	}
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		return "", err
	}
	for _, set := range [][2]int{{unix.F_SETSIG, int(unix.SIGSEGV)}, {unix.F_SETOWN, pid}, {unix.F_SETFL, unix.O_ASYNC}} {
		if _, err := unix.FcntlInt(uintptr(pipe[0]), set[0], set[1]); err == nil && set[0] == unix.F_SETSIG {
			sent++
		}
	}
	unix.Write(pipe[1], []byte("x"))
	time.Sleep(50 * time.Millisecond) // for whoever dies of it
	return strconv.Itoa(sent), nil
}

// litter leaves a process in a session of its own that ticks on, and ends.
func litter(a []string) (string, error) {
	c := exec.Command("/proc/self/exe", "tick", a[0])
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return "", err
	}
	for {
		if info, err := os.Stat(a[0]); err == nil && info.Size() > 3 {
			return "", nil
		}
	}
}

// daemon runs tick in a jail of its own and says when it does: worktree, level,
// "verb", "program", "overlay" or "warm", user.
func daemon(a []string) (string, error) {
	image, err := confine.SealFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	level, err := confine.ParseLevel(a[1])
	if err != nil {
		return "", err
	}
	jail, err := confine.New(confine.Options{Stage: image, Ceiling: level, Workers: 4})
	if err != nil {
		return "", err
	}
	spec := confine.Spec{
		Floor: level, Args: []string{"tick", filepath.Join(a[0], "ticks")}, Worktree: a[0], User: confine.User(number(a[3])),
		Limits: confine.Limits{
			Wall: time.Minute, CPU: time.Minute, Memory: 256 << 20, FileSize: 1 << 20, Files: 64,
			Processes: 64, Output: 1 << 10, Scratch: 1 << 20,
		},
	}
	switch a[2] {
	case "program":
		spec.Program = image
	case "overlay":
		spec.Program = image
		spec.Overlay = &confine.Overlay{Law: []byte("a law"), Bytes: 1 << 20, Files: 16, Time: time.Second}
	case "warm": // one that ran, so that others wait, besides the one that runs
		spec.Warm = true
		first := spec
		first.Args = []string{"echo", a[0]}
		if _, err := jail.Run(context.Background(), first); err != nil {
			return "", err
		}
	}
	fmt.Println("ready")
	result, err := jail.Run(context.Background(), spec)
	return fmt.Sprintf("%+v", result), err
}
