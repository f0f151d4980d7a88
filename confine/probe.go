package confine

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"world/fault"
)

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
	if !searchable(target.dir, target.user) {
		return Reach{}, fault.New("confine: new", fault.Unavailable,
			"programs run as users of their own, and the folder for temporary files (TMPDIR) or a directory above it does not let them through: it needs mode o+x")
	}
	free, err := j.attack(Process, target)
	if err != nil {
		return Reach{}, err
	}
	if free != (attack{Write: true, Connect: true, Fork: true}) {
		return Reach{}, fault.New("confine: new", fault.Unavailable, "the test of the fence fails without a fence: %+v", free)
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
		r.passed = append(r.passed, j.missed(r.Level, got, err))
	}
	if r.Level == Namespaces {
		r.overlay = j.attackThroughOverlay(target)
	}
	r.Elapsed = time.Since(began)
	return r, nil
}

// attack runs the probe at one level. Namespaces must hold without the filter on
// sockets; at landlock the filter is part of the fence.
func (j *Jail) attack(level Level, t target) (attack, error) {
	limits, bound := probeLimits, probeBound
	if level == Process {
		limits.Processes, bound = 1<<15, 1<<15
	}
	if level == Namespaces && j.bwrap == "" {
		return attack{}, fault.Wrap("confine: new", fault.Unavailable, errNoBubblewrap, "")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.Wall)
	defer cancel()
	result, err := j.runAt(ctx, level, Spec{
		Args: []string{probeVerb, t.file, t.listener.Addr().String(), t.socket.Addr().String(), strconv.Itoa(bound)},
		User: t.user, Sockets: level == Namespaces, Limits: limits,
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
	user      User   // of this probe alone: the kernel counts a user's processes wherever they are
	worktree  string // holds a file "canary" and belongs to the probe's user
	listener  net.Listener
	socket    net.Listener
}

const targetPrefix = "world-probe-"

// sweep takes away targets of this user that nobody listens at any more: a process
// that was killed as it probed leaves one. One that is just being made is left.
func sweep(dir string) {
	found, err := filepath.Glob(filepath.Join(dir, targetPrefix+"*"))
	if err != nil {
		panic("confine: the pattern of targets is malformed")
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) || time.Since(info.ModTime()) < targetAge {
			continue
		}
		if c, err := net.Dial("unix", filepath.Join(path, "socket")); err == nil {
			c.Close()
			continue
		}
		os.RemoveAll(path)
	}
}

// targetAge is the age from which a target is done being made.
const targetAge = time.Minute

func newTarget() (t target, err error) {
	sweep(os.TempDir())
	if t.dir, err = os.MkdirTemp("", targetPrefix); err != nil {
		return t, err
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.user = drawUser("probe")
	t.file = filepath.Join(t.dir, "canary")
	socket := filepath.Join(t.dir, "socket")
	if err = os.WriteFile(t.file, []byte(canaryText), 0o666); err != nil {
		return t, err
	}
	t.worktree = filepath.Join(t.dir, "worktree")
	canary := filepath.Join(t.worktree, "canary")
	if err = errors.Join(os.Mkdir(t.worktree, 0o755), os.WriteFile(canary, []byte(canaryText), 0o644),
		HandOver(t.worktree, t.user), HandOver(canary, t.user)); err != nil {
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
