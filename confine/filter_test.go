package confine

import (
	"testing"

	"golang.org/x/sys/unix"
)

// judge runs a filter program as the kernel would, for the instructions it uses.
func judge(t *testing.T, program []unix.SockFilter, arch, number, argument uint32) uint32 {
	t.Helper()
	var accumulator uint32
	first, second := argument, argument
	if number == unix.SYS_SETSOCKOPT { // the second and the third
		argument, second = argument&0xffff, argument>>16
	}
	if number == unix.SYS_SETPRIORITY || number == unix.SYS_IOPRIO_SET { // both count
		first, second = argument&0xffff, argument>>16
	}
	for at := 0; at < len(program); at++ {
		i := program[at]
		skip := func(yes bool) {
			if yes {
				at += int(i.Jt)
			} else {
				at += int(i.Jf)
			}
		}
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			accumulator = map[uint32]uint32{offsetNumber: number, offsetArch: arch, offsetArgument: first, offsetMapFlags: argument,
				offsetCommand: second, offsetInfoLow: argument & 0xffff, offsetInfoHigh: argument >> 16}[i.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			skip(accumulator == i.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			skip(accumulator&i.K != 0)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			skip(accumulator >= i.K)
		case unix.BPF_JMP | unix.BPF_JA:
			at += int(i.K)
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		default:
			t.Fatalf("instruction %d is unknown: %+v", at, i)
		}
	}
	t.Fatal("the program has no end")
	return 0
}

func TestFilterProgram(t *testing.T) {
	const (
		allow   = unix.SECCOMP_RET_ALLOW
		deny    = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		nomem   = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOMEM)
		absent  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
		invalid = unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)
		kill    = unix.SECCOMP_RET_KILL_PROCESS
		thread  = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	)
	type test struct {
		name             string
		number, argument uint32
		strict, lenient  uint32 // without and with sockets and forks
	}
	tests := []test{
		{"read", unix.SYS_READ, 0, allow, allow},
		{"execve", unix.SYS_EXECVE, 0, allow, allow},
		{"socketpair", unix.SYS_SOCKETPAIR, 0, allow, allow},
		{"socket", unix.SYS_SOCKET, 0, deny, allow},
		{"clone a process", unix.SYS_CLONE, uint32(unix.SIGCHLD), deny, allow},
		{"clone a thread", unix.SYS_CLONE, thread, allow, allow},
		{"clone a user namespace", unix.SYS_CLONE, unix.CLONE_NEWUSER | uint32(unix.SIGCHLD), deny, deny},
		{"clone a net namespace for a thread", unix.SYS_CLONE, unix.CLONE_NEWNET | thread, deny, deny},
		{"map private memory", unix.SYS_MMAP, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS, allow, allow},
		{"map a file", unix.SYS_MMAP, unix.MAP_SHARED, allow, allow},
		{"map shared memory", unix.SYS_MMAP, unix.MAP_SHARED | unix.MAP_ANONYMOUS, nomem, nomem},
		{"map shared memory, validated", unix.SYS_MMAP, unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS, nomem, nomem},
		{"map what grows", unix.SYS_MMAP, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN, nomem, nomem},
		{"clone3", unix.SYS_CLONE3, 0, absent, absent},
		{"signal through a descriptor", unix.SYS_PIDFD_SEND_SIGNAL, 0, allow, allow},
		{"signal with a word, low", unix.SYS_PIDFD_SEND_SIGNAL, 8, deny, deny},
		{"signal with a word, high", unix.SYS_PIDFD_SEND_SIGNAL, 8 << 16, deny, deny},
		{"flags of a descriptor", unix.SYS_FCNTL, unix.F_SETFL, allow, allow},
		{"memory into a pipe", unix.SYS_VMSPLICE, 0, deny, deny},
		{"requests to a disk", unix.SYS_IO_SETUP, 0, deny, deny},
		{"watches of files", unix.SYS_INOTIFY_INIT1, 0, deny, deny},
		{"watches of a file system", unix.SYS_FANOTIFY_INIT, 0, deny, deny},
		{"rules", unix.SYS_LANDLOCK_CREATE_RULESET, 0, deny, deny},
		{"option of a socket", unix.SYS_SETSOCKOPT, unix.SOL_SOCKET<<16 | unix.SO_RCVBUF, allow, allow},
		{"room of a socket", unix.SYS_SETSOCKOPT, unix.SOL_SOCKET<<16 | unix.SO_SNDBUF, deny, deny},
		{"option of a protocol", unix.SYS_SETSOCKOPT, unix.IPPROTO_TCP<<16 | unix.SO_SNDBUF, allow, allow},
		{"priority of its own", unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, allow, allow},
		{"priority of another", unix.SYS_SETPRIORITY, unix.PRIO_PROCESS | 1<<16, deny, deny},
		{"priority of its group", unix.SYS_SETPRIORITY, unix.PRIO_PGRP, deny, deny},
		{"disk priority of its own", unix.SYS_IOPRIO_SET, ioprioProcess, allow, allow},
		{"disk priority of another", unix.SYS_IOPRIO_SET, ioprioProcess | 1<<16, deny, deny},
		{"disk priority of its user", unix.SYS_IOPRIO_SET, 3, deny, deny},
		{"signal of a descriptor", unix.SYS_FCNTL, unix.F_SETSIG, deny, deny},
		{"lock of a process", unix.SYS_FCNTL, unix.F_SETLK, allow, allow},
		{"lock of an open file", unix.SYS_FCNTL, unix.F_OFD_SETLK, invalid, invalid},
		{"lock of an open file, waiting", unix.SYS_FCNTL, unix.F_OFD_SETLKW, invalid, invalid},
		{"clone what shares descriptors", unix.SYS_CLONE, unix.CLONE_FILES | unix.CLONE_VM | uint32(unix.SIGCHLD), deny, deny},
		{"clone what shares memory", unix.SYS_CLONE, unix.CLONE_VM | unix.CLONE_VFORK | uint32(unix.SIGCHLD), deny, allow},
	}
	every := func(name string, calls []uint32, argument, strict, lenient uint32) {
		for _, call := range calls {
			tests = append(tests, test{name, call, argument, strict, lenient})
		}
	}
	every("forbidden", forbidden, 0, deny, deny)
	every("an old call", oldCalls, 0, deny, deny)
	every("fork", forkCalls, 0, deny, allow)
	every("of its own", ofOthers, 0, allow, allow)
	every("of another", ofOthers, 1, deny, deny)
	strict, lenient := filterProgram(false, false), filterProgram(true, true)
	for _, test := range tests {
		if got := judge(t, strict, nativeArch, test.number, test.argument); got != test.strict {
			t.Errorf("%s (%d), strict: %#x", test.name, test.number, got)
		}
		if got := judge(t, lenient, nativeArch, test.number, test.argument); got != test.lenient {
			t.Errorf("%s (%d), lenient: %#x", test.name, test.number, got)
		}
		if got := judge(t, lenient, nativeArch+1, test.number, test.argument); got != kill {
			t.Errorf("%s of another architecture: %#x", test.name, got)
		}
		if got := judge(t, lenient, nativeArch, test.number|foreignBit, test.argument); foreignBit != 0 && got != kill {
			t.Errorf("%s of the other ABI: %#x", test.name, got)
		}
	}
}
