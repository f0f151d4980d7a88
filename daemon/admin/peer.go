package admin

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"world/fault"
)

// peer is the process at the other end of a connection. Its descriptor keeps the
// process id from meaning another process unnoticed.
type peer struct {
	pid   int
	pidfd int
}

// identify names the peer. Denied unless it runs as this daemon's user.
func identify(conn *net.UnixConn) (*peer, error) {
	const op = "admin: identify"
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || credErr != nil {
		return nil, fault.Wrap(op, fault.Denied, credErr, "the peer cannot be identified")
	}
	if cred.Uid != uint32(os.Geteuid()) || cred.Pid <= 0 {
		return nil, fault.New(op, fault.Denied, "only the daemon's own user may ask")
	}
	pidfd, err := unix.PidfdOpen(int(cred.Pid), 0)
	if err != nil {
		return nil, fault.Wrap(op, fault.Denied, err, "the peer is gone")
	}
	return &peer{int(cred.Pid), pidfd}, nil
}

func (p *peer) close() { unix.Close(p.pidfd) }

// alive reports whether the process that was identified still runs.
func (p *peer) alive() bool {
	fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 0
}

// holds refuses, kind Denied, unless tty is the process's controlling terminal,
// opened as such for reading and writing, with the process in its foreground.
func (p *peer) holds(tty *os.File) error {
	const op = "admin: check terminal"
	device, err := terminalDevice(tty)
	if err != nil {
		return fault.Wrap(op, fault.Denied, err, "the descriptor is not a controlling terminal")
	}
	stat, err := readStat(p.pid)
	if err != nil || !p.alive() {
		return fault.Wrap(op, fault.Denied, err, "the peer is gone")
	}
	if stat.tty == 0 || stat.tty != device {
		return fault.New(op, fault.Denied, "the descriptor is not the peer's controlling terminal")
	}
	if stat.group != stat.foreground {
		return fault.New(op, fault.Denied, "the peer is not in the foreground of its terminal")
	}
	return nil
}

// terminalDevice returns the number of the terminal behind a descriptor of
// /dev/tty. The other end of a pseudo-terminal answers with the same number, and
// whoever held that could answer itself; so only /dev/tty will do.
func terminalDevice(tty *os.File) (uint32, error) {
	raw, err := tty.SyscallConn()
	if err != nil {
		return 0, err
	}
	var device uint32
	var inner error
	err = raw.Control(func(fd uintptr) { device, inner = deviceOf(int(fd)) })
	if err != nil {
		return 0, err
	}
	return device, inner
}

func deviceOf(fd int) (uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(5, 0) {
		return 0, fmt.Errorf("not /dev/tty")
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return 0, fmt.Errorf("not open for reading and writing")
	}
	return unix.IoctlGetUint32(fd, unix.TIOCGDEV)
}

// stat is what /proc/PID/stat says of a process and its terminal.
type stat struct {
	group      int
	tty        uint32 // device number of the controlling terminal, 0 for none
	foreground int    // process group in the terminal's foreground
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat reads the fields after the command name, which may itself hold
// spaces and parentheses.
func parseStat(text []byte) (stat, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 6 {
		return stat{}, fmt.Errorf("a stat line of %d fields", len(fields))
	}
	var n [4]int // group, session, tty, foreground
	for i := range n {
		v, err := strconv.ParseInt(string(fields[2+i]), 10, 64)
		if err != nil {
			return stat{}, err
		}
		n[i] = int(v)
	}
	return stat{group: n[0], tty: uint32(n[2]), foreground: n[3]}, nil
}
