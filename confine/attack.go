package confine

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe is the attack, as a verb: file, TCP address, socket path, bound on processes.
func probe(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 4 {
		return 2
	}
	bound, err := strconv.ParseUint(args[3], 10, 32)
	if err != nil {
		return 2
	}
	var got attack
	if f, err := os.OpenFile(args[0], os.O_WRONLY, 0); err == nil {
		got.Write = true
		f.Close()
	}
	for i, network := range []string{"tcp", "unix"} {
		if c, err := net.DialTimeout(network, args[i+1], time.Second); err == nil {
			got.Connect = true
			c.Close()
		}
	}
	got.Fork = forkMany(probeForks, bound)
	if err := json.NewEncoder(stdout).Encode(got); err != nil {
		return 1
	}
	return 0
}

// forkMany reports whether n processes can live at the same time under a bound on
// processes. A bare copy of this process sets the bound and makes them, because
// where Go's runtime is denied a thread it breaks off. Those that it makes are children
// of this process, which buries them: in a container whose first process does not, they
// would stay and count against their user for ever.
func forkMany(n int, bound uint64) bool {
	var report [2]int
	if unix.Pipe2(report[:], unix.O_CLOEXEC) != nil {
		return false
	}
	defer unix.Close(report[0])
	limit := unix.Rlimit{Cur: bound, Max: bound}
	made := []byte{0}
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 {
		// In the copy: system calls and nothing else.
		unix.RawSyscall(unix.SYS_SETPGID, 0, 0, 0)
		_, _, errno = unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NPROC, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
		for i := 0; i < n && errno == 0; i++ {
			pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			for pid == 0 && errno == 0 {
				unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		if errno == 0 {
			made[0] = 1
		}
		unix.RawSyscall(unix.SYS_WRITE, uintptr(report[1]), uintptr(unsafe.Pointer(&made[0])), 1)
		for { // the copy and those that it made, which are a group
			unix.RawSyscall(unix.SYS_KILL, 0, uintptr(unix.SIGKILL), 0)
		}
	}
	unix.Close(report[1])
	if errno != 0 {
		return false
	}
	unix.Read(report[0], made)
	for {
		if _, err := unix.Wait4(-int(pid), nil, 0, nil); err != nil && err != unix.EINTR {
			return made[0] == 1
		}
	}
}
