package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What takes memory, address space and files until something stops it.

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

// shred cuts its address space into some pieces, in so many processes at once, and holds
// them for some time, unseen when it is told so.
func shred(a []string) (string, error) {
	if number(a[1]) > 1 {
		return "", several("shred", a)
	}
	if os.Getenv("UNSEEN") != "" {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return "", err
		}
	}
	b, err := unix.Mmap(-1, 0, int(number(a[0]))<<12, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return "", err
	}
	for at := 0; at < len(b); at += 2 << 12 {
		if err := unix.Mprotect(b[at:at+1<<12], unix.PROT_READ); err != nil {
			return "", err
		}
	}
	time.Sleep(700 * time.Millisecond)
	return "", nil
}

// fasten locks so many ranges of a file, in so many processes at once, and holds them
// for some time.
func fasten(a []string) (string, error) {
	if number(a[1]) > 1 {
		return "", several("fasten", a)
	}
	f, err := os.CreateTemp("/tmp", "")
	if err != nil {
		return "", err
	}
	for i := range int64(number(a[0])) {
		if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: 2 * i, Len: 1}); err != nil {
			return "", err
		}
	}
	time.Sleep(500 * time.Millisecond)
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
