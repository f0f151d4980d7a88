package confine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are system calls that reach around a fence of files and processes:
// rings do what other calls are filtered for, name spaces would be built inside
// the fence, memory of other processes is not the program's business, memory that
// belongs to no process (what was put into a pipe whole, and rules, too) is under no
// limit of one, a signal with a word of its own looks to who watches a program like
// a fault of his, and requests to a disk and watches of files are a store of the whole
// machine's, or of all that a user runs, which one program could empty.
var forbidden = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_SEMGET,
	unix.SYS_VMSPLICE, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_IO_SETUP,
	unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT,
	unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
}

// ofOthers are system calls that set what the kernel gives a process whose number is
// their first argument, 0 for who calls.
var ofOthers = []uint32{
	unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR,
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
}

// ioprioProcess says that ioprio_set is for one process, its second argument.
const ioprioProcess = 1

const newNamespace = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Offsets of struct seccomp_data: number, architecture, low halves of the first
// argument, of the second, which is fcntl's command, and of mmap's flags, its fourth, and both
// halves of what pidfd_send_signal is to tell, its third.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
	offsetCommand  = 24
	offsetInfoLow  = 32
	offsetInfoHigh = 36
	offsetMapFlags = 40
)

// filter installs a system call filter on every thread. Landlock does not govern
// UDP, unix sockets with a path or new processes; this does.
func filter(sockets, forks bool) error {
	if nativeArch == 0 {
		return errors.New("no system call filter for this architecture")
	}
	program := filterProgram(sockets, forks)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("system call filter: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("system call filter: thread %d keeps another one", thread)
	}
	return nil
}

// ruling is what becomes of one system call: instructions that end with an answer.
type ruling struct {
	call uint32
	then []unix.SockFilter
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func equal(k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

func anyBit(k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

func answer(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }

var (
	allow = answer(unix.SECCOMP_RET_ALLOW)
	deny  = answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
)

// filterProgram denies with EPERM, except clone3: its flags are out of a filter's
// sight, and ENOSYS makes every C library fall back to clone. To map memory that
// RLIMIT_DATA does not count answers ENOMEM: shared memory without a file, and what
// grows downwards, which the kernel takes for a stack.
func filterProgram(sockets, forks bool) []unix.SockFilter {
	calls := slices.Concat(forbidden, oldCalls)
	if !sockets {
		calls = append(calls, unix.SYS_SOCKET)
	}
	if !forks {
		calls = append(calls, forkCalls...)
	}
	rulings := make([]ruling, 0, 2*len(calls))
	rule := func(call uint32, then ...unix.SockFilter) { rulings = append(rulings, ruling{call, then}) }
	denied := []unix.SockFilter{deny}
	for _, call := range calls {
		rule(call, denied...)
	}
	// What a process may set for itself it must not set for who watches it.
	own := []unix.SockFilter{load(offsetArgument), equal(0, 0, 1), allow, deny}
	for _, call := range ofOthers {
		rule(call, own...)
	}
	for _, call := range [][2]uint32{{unix.SYS_SETPRIORITY, unix.PRIO_PROCESS}, {unix.SYS_IOPRIO_SET, ioprioProcess}} {
		rule(call[0], load(offsetArgument), equal(call[1], 0, 3), load(offsetCommand), equal(0, 0, 1), allow, deny)
	}
	// What a socket may hold is counted as what it may hold from the beginning.
	rule(unix.SYS_SETSOCKOPT, load(offsetCommand), equal(unix.SOL_SOCKET, 0, 3),
		load(offsetInfoLow), equal(unix.SO_SNDBUF, 0, 1), deny, allow)
	// Such a signal can also be sent through a descriptor, or be asked for when there is
	// something to read; without a word of its own it is as that of kill.
	rule(unix.SYS_PIDFD_SEND_SIGNAL, load(offsetInfoLow), equal(0, 0, 2), load(offsetInfoHigh), equal(0, 1, 0), deny, allow)
	// Locks of an open file have no owner that anybody could name, and are not counted.
	rule(unix.SYS_FCNTL, load(offsetCommand), equal(unix.F_SETSIG, 2, 0), equal(unix.F_OFD_SETLK, 2, 0), equal(unix.F_OFD_SETLKW, 1, 2),
		deny, answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EINVAL)), allow)
	rule(unix.SYS_MMAP, load(offsetMapFlags),
		anyBit(unix.MAP_GROWSDOWN, 2, 0), anyBit(unix.MAP_ANONYMOUS, 0, 2), anyBit(unix.MAP_SHARED, 0, 1),
		answer(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOMEM)), allow)
	rule(unix.SYS_CLONE3, answer(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)))
	// Who shares descriptors and is no thread leaves locks behind when it ends, whose
	// owner nobody can name.
	clone := []unix.SockFilter{load(offsetArgument), anyBit(newNamespace, 0, 1), deny,
		anyBit(unix.CLONE_FILES, 0, 2), anyBit(unix.CLONE_THREAD, 1, 0), deny}
	if !forks {
		clone = append(clone, anyBit(unix.CLONE_THREAD, 1, 0), deny)
	}
	rule(unix.SYS_CLONE, append(clone, allow)...)

	p := append(make([]unix.SockFilter, 0, 8*len(rulings)),
		load(offsetArch), equal(nativeArch, 1, 0), answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber))
	if foreignBit != 0 {
		p = append(p, anyBit(foreignBit, 0, 1), answer(unix.SECCOMP_RET_KILL_PROCESS))
	}
	slices.SortFunc(rulings, func(a, b ruling) int { return cmp.Compare(a.call, b.call) })
	return search(p, rulings)
}

// search adds what finds the ruling of the call that is loaded, among some sorted by
// call, and allows what has none. It halves them: the kernel runs a new filter once for
// every system call that there is, to learn which are always allowed.
func search(p []unix.SockFilter, rulings []ruling) []unix.SockFilter {
	if len(rulings) <= 2 {
		for _, r := range rulings {
			p = append(append(p, equal(r.call, 0, uint8(len(r.then)))), r.then...)
		}
		return append(p, allow)
	}
	half := len(rulings) / 2
	p = append(p,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: rulings[half].call, Jt: 0, Jf: 1},
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA})
	from := len(p)
	p = search(p, rulings[:half])
	p[from-1].K = uint32(len(p) - from)
	return search(p, rulings[half:])
}
