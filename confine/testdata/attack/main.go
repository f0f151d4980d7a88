// Command attack is a first stage whose verbs try to get out. Each prints what
// happened: "ok" and what it got, or the error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"world/confine"
)

func main() { os.Exit(confine.Main(os.Args, confine.Stage{Verbs: verbs(), Apply: apply})) }

func verbs() map[string]confine.Verb {
	return map[string]confine.Verb{
		"look":    verb(look),
		"echo":    echo,
		"read":    verb(func(a []string) (string, error) { b, err := os.ReadFile(a[0]); return string(b), err }),
		"list":    verb(list),
		"write":   verb(write),
		"mkdir":   verb(func(a []string) (string, error) { return "", os.Mkdir(a[0], 0o755) }),
		"remove":  verb(func(a []string) (string, error) { return "", os.Remove(a[0]) }),
		"connect": verb(connect),
		"fork":    verb(fork),
		"unshare": verb(func([]string) (string, error) { return "", unix.Unshare(unix.CLONE_NEWUSER) }),
		"ptrace":  verb(func(a []string) (string, error) { return "", unix.PtraceAttach(number(a[0])) }),
		"ring":    verb(ring),
		"files":   verb(files),
		"grow":    verb(grow),
		"forge":   verb(forge),
		"eat":     verb(eat),
		"share":   verb(share),
		"memfd":   verb(func([]string) (string, error) { _, err := unix.MemfdCreate("m", 0); return "", err }),
		"segment": verb(func([]string) (string, error) {
			_, err := unix.SysvShmGet(unix.IPC_PRIVATE, 1<<20, 0o600)
			return "", err
		}),
		"spin": verb(func(a []string) (string, error) {
			if len(a) > 0 { // deaf to the warning
				signal.Ignore(unix.SIGXCPU)
			}
			for {
			}
		}),
		"sleep":  verb(func([]string) (string, error) { time.Sleep(time.Hour); return "", nil }),
		"flood":  flood,
		"exit":   func(a []string, _ io.Reader, _, _ io.Writer) int { return number(a[0]) },
		"crash":  verb(func([]string) (string, error) { panic("crash") }),
		"tick":   verb(tick),
		"hoard":  verb(hoard),
		"dig":    verb(dig),
		"tables": verb(tables),
		"strew":  verb(strew),
		"pair":   verb(pair),
		"meddle": verb(meddle),
		"occupy": verb(occupy),
		"queue":  verb(queue),
		"lie":    verb(lie),
		"link":   verb(func(a []string) (string, error) { return os.Readlink(a[0]) }),
		"litter": verb(litter),
		"kill":   verb(func([]string) (string, error) { return "", unix.Kill(os.Getppid(), unix.SIGKILL) }),
		"daemon": verb(daemon),
		"haunt":  haunt,
	}
}

func verb(f func([]string) (string, error)) confine.Verb {
	return func(args []string, _ io.Reader, stdout, _ io.Writer) int {
		got, err := f(args)
		if err != nil {
			fmt.Fprint(stdout, err)
			return 1
		}
		fmt.Fprint(stdout, "ok "+got)
		return 0
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// look describes the process as it finds itself.
func look([]string) (string, error) {
	fds := []string{}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !runtimes(to) {
			fds = append(fds, e.Name())
		}
	}
	block, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return "", err
	}
	dir, _ := os.Getwd()
	groups, _ := os.Getgroups()
	caps := unix.CapUserData{}
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]any{
		"fds": fds, "env": os.Environ(), "block": string(block), "uid": os.Getuid(), "gid": os.Getgid(), "groups": groups,
		"dir": dir, "caps": caps.Effective | caps.Permitted, "args": os.Args[1:],
	})
	return string(b), err
}

// runtimes tells what Go's own runtime holds open: its poller, the limits of its
// control group, and the directory that is being read.
func runtimes(target string) bool {
	return strings.HasSuffix(target, "/fd") || strings.Contains(target, "[event") || strings.HasPrefix(target, "/sys/fs/cgroup/")
}

func echo(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	io.Copy(stdout, stdin)
	fmt.Fprint(stderr, strings.Join(args, " "))
	return 0
}

func list(a []string) (string, error) {
	entries, err := os.ReadDir(a[0])
	names := ""
	for _, e := range entries {
		names += e.Name() + "\n"
	}
	return names, err
}

func write(a []string) (string, error) {
	f, err := os.OpenFile(a[0], os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.WriteString("written")
	return "", err
}

func connect(a []string) (string, error) {
	c, err := net.DialTimeout(a[0], a[1], time.Second)
	if err != nil {
		return "", err
	}
	if a[0] == "udp" { // connecting sends nothing
		if _, err := c.Write([]byte("hello")); err != nil {
			return "", err
		}
	}
	return "", c.Close()
}

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

func ring([]string) (string, error) {
	params := make([]byte, 256)
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
	if errno != 0 {
		return "", errno
	}
	return "", nil
}

func files([]string) (string, error) {
	for n := range 50 {
		if _, _, err := os.Pipe(); err != nil {
			return "", err
		}
		if n == 10 {
			fmt.Fprint(os.Stderr, "ten pipes")
		}
	}
	return "", nil
}

// grow writes until a file can grow no further.
func grow(a []string) (string, error) {
	f, err := os.Create(a[0])
	if err != nil {
		return "", err
	}
	block := make([]byte, 1<<16)
	for range 1 << 10 {
		if _, err := f.Write(block); err != nil {
			return "", err
		}
	}
	return "", nil
}

// forge says on every descriptor but stdout what the first stage says at an end.
func forge([]string) (string, error) {
	for fd := 3; fd < 64; fd++ {
		unix.Write(fd, []byte(`{"Exit":7,"Bound":"deadline"}`))
	}
	fmt.Fprint(os.Stderr, "started\n"+`{"Exit":7,"Bound":"deadline"}`)
	return "", nil
}

func eat([]string) (string, error) {
	var held [][]byte
	for range 1 << 12 {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		held = append(held, b)
	}
	return strconv.Itoa(len(held)), nil
}

// several runs a verb in so many processes at once, which is its last argument.
func several(verb string, a []string) error {
	var all []*exec.Cmd
	for range number(a[1]) {
		c := exec.Command("/proc/self/exe", verb, a[0], "1")
		if err := c.Start(); err != nil {
			return err
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// pair holds so many sockets, in so many processes at once, for some time.
func pair(a []string) (string, error) {
	if number(a[1]) > 1 {
		return "", several("pair", a)
	}
	for range number(a[0]) / 2 {
		if _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
			return "", err
		}
	}
	time.Sleep(300 * time.Millisecond)
	return "", nil
}

// hoard holds some MiB that it has written and made read only, in so many processes
// at once, for some time.
func hoard(a []string) (string, error) {
	if number(a[1]) > 1 {
		return "", several("hoard", a)
	}
	for left := number(a[0]); left > 0; left -= 4 {
		b, err := unix.Mmap(-1, 0, 4<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return "", err
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		if err := unix.Mprotect(b, unix.PROT_READ); err != nil {
			return "", err
		}
	}
	time.Sleep(500 * time.Millisecond)
	return "", nil
}

// occupy writes to some MiB that it has mapped in the place of a reservation, in one
// piece, and holds them for some time.
func occupy(a []string) (string, error) {
	size := uintptr(number(a[0])) << 20
	at, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return "", err
	}
	if _, err = unix.MmapPtr(-1, 0, at, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED); err != nil {
		return "", err
	}
	for b := unsafe.Slice((*byte)(at), size); len(b) > 0; b = b[4096:] {
		b[0] = 1
	}
	time.Sleep(500 * time.Millisecond)
	return "", nil
}

// dig writes some MiB down the first thread's stack, having asked for as much.
func dig(a []string) (string, error) {
	size := uintptr(number(a[0])) << 20
	unix.Setrlimit(unix.RLIMIT_STACK, &unix.Rlimit{Cur: uint64(size) * 2, Max: unix.RLIM_INFINITY})
	high := uintptr(unsafe.Pointer(unsafe.StringData(os.Args[0]))) // where the kernel put it
	for at := high; at > high-size; at -= 4096 {
		// Its answer says whether it could be written.
		if _, _, errno := unix.RawSyscall(unix.SYS_GETRANDOM, at&^4095, 1, 0); errno != 0 {
			return "", errno
		}
	}
	return "", nil
}

// tables reads one page in each 2 MiB of so many GiB that it has only reserved, for
// which the kernel keeps a table each, and stays a moment.
func tables(a []string) (string, error) {
	b, err := unix.Mmap(-1, 0, number(a[0])<<30, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return "", err
	}
	if err := unix.Madvise(b, unix.MADV_NOHUGEPAGE); err != nil {
		return "", err
	}
	sum := byte(0)
	for at := 0; at < len(b); at += 2 << 20 {
		sum += b[at]
	}
	time.Sleep(300 * time.Millisecond)
	return strconv.Itoa(int(sum)), nil
}

// strew makes so many empty files in the private /tmp, and stays a moment.
func strew(a []string) (string, error) {
	for i := range number(a[0]) {
		if err := os.WriteFile(filepath.Join("/tmp", strconv.Itoa(i)), nil, 0o600); err != nil {
			return "", err
		}
	}
	time.Sleep(300 * time.Millisecond)
	return "", nil
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

// share maps memory that is not private: "anonymous", "stack" (what grows is not
// counted either), or the shared map of a file.
func share(a []string) (string, error) {
	flags, fd := unix.MAP_SHARED|unix.MAP_ANONYMOUS, -1
	switch a[0] {
	case "anonymous":
	case "stack":
		flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN
	default:
		f, err := os.OpenFile(a[0], os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		flags, fd = unix.MAP_SHARED, int(f.Fd())
	}
	b, err := unix.Mmap(fd, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return "", err
	}
	b[0] = 1
	return "", nil
}

func flood(a []string, _ io.Reader, stdout, stderr io.Writer) int {
	w := bufio.NewWriter(stdout)
	if len(a) > 0 {
		w = bufio.NewWriter(stderr)
	}
	for {
		if _, err := w.WriteString("flood "); err != nil {
			return 1
		}
	}
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

// lie says on the report's descriptor how it ended, and goes on.
func lie(a []string) (string, error) {
	if _, err := unix.Write(5, []byte(a[1]+"\n")); err != nil {
		return "", err
	}
	return tick(a)
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

// apply stands for the judge of layers: it refuses one that holds a file "bad", and
// thinks about one that holds "thinks", until its time is over about "late", beyond
// that about "deaf", and dies over "dies". It takes its time to apply "slow", fails
// over "broken", and otherwise copies the regular files of the layer's top.
func apply(ctx context.Context, t confine.TakeOver) ([]byte, error) {
	entries, err := fs.ReadDir(t.Layer.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch e.Name() {
		case "bad":
			return nil, fmt.Errorf("bad under %s", t.Law)
		case "thinks":
			time.Sleep(700 * time.Millisecond)
		case "late":
			err := t.Worktree.WriteFile("prepared", nil, 0o600)
			<-ctx.Done()
			if err = errors.Join(err, t.Worktree.Remove("prepared")); err != nil {
				return nil, err
			}
		case "deaf":
			time.Sleep(time.Hour)
		case "dies":
			os.Exit(9)
		}
	}
	if !t.Begin() {
		return nil, ctx.Err()
	}
	report := ""
	for _, e := range entries {
		if e.Name() == "slow" {
			time.Sleep(300 * time.Millisecond)
		}
		b, err := t.Layer.ReadFile(e.Name())
		if err == nil {
			err = t.Worktree.WriteFile(e.Name(), b, 0o644)
		}
		if err == nil && e.Name() == "broken" {
			err = io.ErrShortWrite
		}
		if err != nil {
			return nil, err
		}
		report += e.Name() + " "
	}
	for _, e := range entries { // nobody writes any more
		was, err := t.Worktree.ReadFile(e.Name())
		if now, nowErr := t.Layer.ReadFile(e.Name()); err != nil || nowErr != nil || string(now) != string(was) {
			return nil, io.ErrNoProgress
		}
	}
	return []byte(report), nil
}
