package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"world/store/postgres/pgtest"
)

// prebuilt is set for the part of a test that runs in namespaces of its own.
const prebuilt = "WORLD_CRASH_PROGRAMS"

// TestNoRoom takes a disk's last bytes away again and again while eight callers
// work: a real file system, of a size of its own, that says ENOSPC. Calls wait and
// then come to their end, and at last the process is killed while there is no room.
func TestNoRoom(t *testing.T) {
	build(t)
	if os.Getenv(prebuilt) == "" {
		again(t)
		return
	}
	// What is mounted here ends with this process, however that ends.
	ok(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for engine, size := range map[string]int64{"sqlite": 24 << 20, "postgres": 160 << 20} {
		t.Run(engine, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "world-crash-") // another user's server must reach it
			ok(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			ok(t, os.Chmod(dir, 0o711))
			d := &disk{t: t, dir: dir}
			ok(t, unix.Mount("tmpfs", d.dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", size)))
			t.Cleanup(func() { _ = unix.Unmount(d.dir, unix.MNT_DETACH) })
			d.where = filepath.Join(d.dir, "world.db")
			if engine == "postgres" {
				d.cluster(t)
			}
			d.starve(t)
		})
	}
}

// again runs this test in a mount namespace, in which it may mount: as root in one
// of its own, as anybody else with the right to that inside a user namespace.
func again(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", fmt.Sprint("-kills=", *kills), fmt.Sprint("-seed=", *seed))
	cmd.Env = append(os.Environ(), prebuilt+"="+bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || strings.Count(string(out), "was without room") != len(engines) {
		t.Errorf("in namespaces of its own: %v", err)
	}
}

// disk is a small file system with a store on it.
type disk struct {
	t     *testing.T
	dir   string
	where string
	mend  func() // brings a server back that the want of room has ended
}

func (d *disk) cluster(t *testing.T) {
	t.Helper()
	t.Setenv("TMPDIR", d.dir)
	cluster, err := pgtest.Start()
	ok(t, err)
	t.Cleanup(func() { cluster.Close() })
	d.where = cluster.Fresh(t)
	ok(t, os.Unsetenv("TMPDIR"))
	d.mend = func() { cluster.Restart(t) }
}

func (d *disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill leaves so many bytes.
func (d *disk) fill(room int64) {
	d.t.Helper()
	file, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ok(d.t, err)
	defer file.Close()
	for size := 1 << 20; size >= 4096; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, unix.ENOSPC) {
			size /= 2
		} else {
			ok(d.t, err)
		}
	}
	info, err := file.Stat()
	ok(d.t, err)
	ok(d.t, file.Truncate(max(info.Size()-room, 0)))
}

// free gives the room back.
func (d *disk) free() { ok(d.t, os.Remove(d.ballast())) }

func (d *disk) starve(t *testing.T) {
	t.Helper()
	random := source(t.Name())
	w := beginAt(t, d.where, episodesEach)
	p := start(t, w.busy("hungry", 8, 4000, random, func() int { return random.IntN(episodesEach) }), "")
	times := 3 + *kills/1000
	for range times {
		from := len(p.told("done"))
		until(t, "calls come to their end", func() bool { return len(p.told("done")) >= from+20 })
		waits := len(p.told("waits"))
		d.fill(random.Int64N(256 << 10))
		until(t, "a call waits for room", func() bool { return len(p.told("waits")) > waits })
		d.free()
		if d.mend != nil {
			d.mend()
		}
	}
	waits := p.told("waits")
	d.fill(0)
	until(t, "a call waits for room", func() bool { return len(p.told("waits")) > len(waits) })
	ok(t, p.cmd.Process.Kill())
	if !p.killed() {
		t.Error("it ended by itself")
	}
	d.free()
	if d.mend != nil {
		d.mend()
	}
	w.hear(p.said())
	full := 0
	for _, l := range p.told("waits") {
		if strings.Contains(l.Detail, "disk is full") {
			full++
		}
	}
	w.settle()
	t.Logf("%s was without room %d times, %d calls waited, %d of them told why; %+v", t.Name(), times+1, len(p.told("waits")), full, w.judge(nil))
	if full == 0 {
		t.Errorf("nobody was told that the disk is full: %+v", waits)
	}
}
