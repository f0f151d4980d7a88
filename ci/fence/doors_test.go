package fence

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/confine"
	"world/confine/confinetest"
	"world/store"
	"world/tools"
)

// service listens at an address until the test ends, answers "hello" and returns
// the address.
func (d *desk) service(network, address string) string {
	d.t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("hello"))
			c.Close()
		}
	}()
	return listener.Addr().String()
}

// TestDoors: a program can never be the daemon's client. It reaches neither the
// daemon's address, nor the operator's socket, nor any other door of the host, while
// this process reaches each. Two guards: no network of its own (bubblewrap) and no
// socket(2) (the filter). Seen red with both taken out.
func TestDoors(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	abstract := d.service("unix", fmt.Sprintf("@world-fence-%d", os.Getpid()))
	doors := [][2]string{
		{"tcp", strings.TrimPrefix(d.world.Daemon.Address, "http://")},
		{"tcp", d.service("tcp", "127.0.0.1:0")}, {"tcp", d.service("tcp", "[::1]:0")},
		{"unix", filepath.Join(d.world.State(), "admin", "admin.sock")},
		{"unix", d.service("unix", d.outside+"/../service")}, {"unix", abstract},
	}
	d.must(os.Chmod(d.outside+"/../service", 0o777))
	program := attempting + "def reach(family, address):\n    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(2); s.connect(address)\n"
	for i, door := range doors {
		family, address := "AF_UNIX", fmt.Sprintf("%q", strings.Replace(door[1], "@", "\x00", 1))
		if host, port, err := net.SplitHostPort(door[1]); door[0] == "tcp" && err == nil {
			family, address = map[bool]string{true: "AF_INET6", false: "AF_INET"}[strings.Contains(host, ":")], fmt.Sprintf("(%q, %s)", host, port)
		}
		program += fmt.Sprintf("attempt(\"door %d\", lambda: reach(socket.%s, %s))\n", i, family, address)
		c, err := net.DialTimeout(door[0], door[1], 5*time.Second)
		if err != nil {
			t.Errorf("control: this process cannot reach %s %s: %v", door[0], door[1], err)
			continue
		}
		c.Close()
	}
	program += "attempt(\"a pair\", lambda: socket.socketpair())\n" // control: sockets that lead nowhere
	d.put("doors.py", program)
	answer := d.call("ailang-run", map[string]any{"path": "doors.py"})
	for i := range doors {
		if !strings.Contains(answer, fmt.Sprintf("stopped door %d", i)) {
			t.Errorf("door %d: %s", i, answer)
		}
	}
	if strings.Count(answer, "THROUGH") != 1 || !strings.Contains(answer, "THROUGH a pair") {
		t.Errorf("%s", answer)
	}
	d.untouched(t)
}

// TestDoorsOfLowerLevels: where only a lower level is reached no program runs at all,
// whatever floor the operator accepts, while file operations do. Two guards: a run's
// floor, and that its layer needs the level too. Seen red with both taken out.
func TestDoorsOfLowerLevels(t *testing.T) {
	t.Parallel()
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		dir := confinetest.Dir(t)
		worktree := filepath.Join(dir, "ws", "ep")
		for _, err := range []error{
			os.MkdirAll(worktree, 0o755), os.WriteFile(worktree+"/p.py", []byte("open('ran', 'w')"), 0o644), confine.HandOver(worktree, confine.UserOf("ep")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		handler, err := tools.NewHandler(tools.Options{
			Jail: confinetest.Jail(t, level), StateDir: filepath.Join(dir, "state"), WorkspaceRoot: filepath.Dir(worktree), Floor: confine.Process, Log: zerolog.Nop(),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer handler.Close()
		job := broker.Job{Episode: "ep", Intent: "effect:ep:1", Effect: tools.AilangRun, Scope: tools.Worktree, Payload: []byte(`{"path":"p.py"}`), Deadline: 20 * time.Second}
		ran := handler.Handle(context.Background(), job)
		job.Effect, job.Payload = tools.WorkspaceRead, []byte(`{"op":"read","path":"p.py"}`)
		read := handler.Handle(context.Background(), job)
		if read.Status != store.StatusSucceeded {
			t.Errorf("%s: control: reading: %+v", level, read)
		}
		_, err = os.Lstat(worktree + "/ran")
		if admits := level == confine.Namespaces; (ran.Status == store.StatusSucceeded) != admits || (err == nil) != admits {
			t.Errorf("%s: %+v %s, %v", level, ran, ran.Output, err)
		}
	}
}
