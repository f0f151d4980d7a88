package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"world/fault"
)

// Reach is what the attacks at start showed: the highest level at which none of
// them got through, and why the levels above it were passed over.
type Reach struct {
	Level   Level
	Elapsed time.Duration
	passed  []string
}

// String is one line for a log.
func (r Reach) String() string {
	text := fmt.Sprintf("%s (denied a write, a connect and a fork in %s)", r.Level, r.Elapsed.Round(time.Millisecond))
	if r.Level == Process {
		text = "process (nothing is denied)"
	}
	if len(r.passed) > 0 {
		text += "; not " + strings.Join(r.passed, "; not ")
	}
	return text
}

// attack is how far the probe got.
type attack struct {
	Write   bool // opened an existing file outside for writing
	Connect bool // reached a listener on this host, by TCP or by unix socket
	Fork    bool // started as many processes as it wanted
}

// probeLimits leave a process room for its threads, and none for many more processes.
var probeLimits = Limits{
	Wall: 3 * time.Second, CPU: 2 * time.Second, Memory: 256 << 20, FileSize: 1 << 20,
	Files: 64, Processes: 512, Output: 1 << 16, Scratch: 1 << 20,
}

// probeForks is how many processes the probe tries to have at once, and
// probeBound how many it may have.
const (
	probeForks = 24
	probeBound = 16
)

// prove attacks each level from the top until one holds. The same attack runs
// once without a fence and must get through, or else its failing would prove
// nothing.
func (j *Jail) prove(ceiling Level) (Reach, error) {
	began := time.Now()
	target, err := newTarget()
	if err != nil {
		return Reach{}, fault.Wrap("confine: new", fault.Unavailable, err, "the fence cannot be tested")
	}
	defer target.close()
	free, err := j.attack(Process, target)
	if err != nil {
		return Reach{}, err
	}
	if free != (attack{Write: true, Connect: true, Fork: true}) {
		return Reach{}, fault.New("confine: new", fault.Unavailable, "the test of the fence fails without a fence")
	}
	var r Reach
	for r.Level = ceiling; r.Level > Process; r.Level-- {
		got, err := j.attack(r.Level, target)
		if r.Level == Namespaces && err != nil && j.outer {
			j.outer = false // some systems let bubblewrap alone make namespaces
			got, err = j.attack(r.Level, target)
		}
		if err == nil && got == (attack{}) {
			break
		}
		r.passed = append(r.passed, passedOver(r.Level, got, err))
	}
	r.Elapsed = time.Since(began)
	return r, nil
}

func passedOver(level Level, got attack, err error) string {
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Cause != nil {
			return level.String() + ": " + strings.TrimSpace(f.Cause.Error())
		}
		return level.String() + ": " + err.Error()
	}
	return fmt.Sprintf("%s: got through %+v", level, got)
}

// attack runs the probe at one level. Namespaces must hold without the filter on
// sockets; at landlock the filter is part of the fence.
func (j *Jail) attack(level Level, t target) (attack, error) {
	limits, bound := probeLimits, probeBound
	if level == Process {
		limits.Processes, bound = 1<<15, 1<<15
	}
	if level == Namespaces && j.bwrap == "" {
		return attack{}, fault.New("confine: new", fault.Unavailable, "bubblewrap is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.Wall)
	defer cancel()
	result, err := j.runAt(ctx, level, Spec{
		Args: []string{probeVerb, t.file, t.listener.Addr().String(), t.socket.Addr().String(), strconv.Itoa(bound)},
		User: UserOf("probe"), Sockets: level == Namespaces, Limits: limits,
	})
	if err != nil {
		return attack{}, err
	}
	var got attack
	if result.Bound != Unbounded || json.Unmarshal(result.Stdout, &got) != nil {
		return attack{}, fault.Wrap("confine: new", fault.Unavailable,
			errors.New(string(result.Bound)+" "+string(result.Stderr)), "the test of the fence did not end")
	}
	return got, nil
}

// target is what the probe attacks: a file that anybody may write, and listeners
// that anybody may connect to.
type target struct {
	dir, file string
	listener  net.Listener
	socket    net.Listener
}

func newTarget() (t target, err error) {
	if t.dir, err = os.MkdirTemp("", "world-probe-"); err != nil {
		return t, err
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.file = filepath.Join(t.dir, "canary")
	socket := filepath.Join(t.dir, "socket")
	if err = os.WriteFile(t.file, []byte("untouched"), 0o666); err != nil {
		return t, err
	}
	if t.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return t, err
	}
	if t.socket, err = net.Listen("unix", socket); err != nil {
		return t, err
	}
	err = errors.Join(os.Chmod(t.file, 0o666), os.Chmod(socket, 0o777), os.Chmod(t.dir, 0o711))
	return t, err
}

func (t target) close() {
	for _, l := range []net.Listener{t.listener, t.socket} {
		if l != nil {
			l.Close()
		}
	}
	os.RemoveAll(t.dir)
}

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
// where Go's runtime is denied a thread it breaks off.
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
			pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			for pid == 0 && errno == 0 {
				unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		if errno == 0 {
			made[0] = 1
		}
		unix.RawSyscall(unix.SYS_WRITE, uintptr(report[1]), uintptr(unsafe.Pointer(&made[0])), 1)
		for { // the copy and its children, which are a group
			unix.RawSyscall(unix.SYS_KILL, 0, uintptr(unix.SIGKILL), 0)
		}
	}
	unix.Close(report[1])
	if errno != 0 {
		return false
	}
	unix.Read(report[0], made)
	unix.Wait4(int(pid), nil, 0, nil)
	return made[0] == 1
}
