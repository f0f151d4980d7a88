package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What reaches for files, sockets, descriptors and the daemon's own channels.

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

// forge says on every descriptor but stdout what the first stage says at an end.
func forge([]string) (string, error) {
	for fd := 3; fd < 64; fd++ {
		unix.Write(fd, []byte(`{"Exit":7,"Bound":"deadline"}`))
	}
	fmt.Fprint(os.Stderr, "started\n"+`{"Exit":7,"Bound":"deadline"}`)
	return "", nil
}

// lie says on the report's descriptor how it ended, and goes on.
func lie(a []string) (string, error) {
	if _, err := unix.Write(5, []byte(a[1]+"\n")); err != nil {
		return "", err
	}
	return tick(a)
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
