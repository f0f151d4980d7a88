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
	"world/ci/guards"
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
// this process reaches each.
func TestDoors(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	abstract := d.service("unix", fmt.Sprintf("@world-fence-%d", os.Getpid()))
	doors := []struct {
		name, network, address string
		guard                  guards.Guard
	}{
		{"the daemon's address", "tcp", strings.TrimPrefix(d.world.Daemon.Address, "http://"), guards.Network},
		{"another service's", "tcp", d.service("tcp", "127.0.0.1:0"), guards.Network},
		{"one of version 6", "tcp", d.service("tcp", "[::1]:0"), guards.Network},
		{"an abstract socket", "unix", abstract, guards.Network},
		{"a service's socket", "unix", d.service("unix", d.world.Dir+"/service"), guards.AroundAndSockets},
		{"the operator's socket", "unix", filepath.Join(d.world.State(), "admin", "admin.sock"), guards.OperatorSocket},
	}
	d.must(os.Chmod(d.world.Dir+"/service", 0o777))
	program := attempting + "def reach(family, address):\n    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(2); s.connect(address)\n"
	for i, door := range doors {
		family, address := "AF_UNIX", fmt.Sprintf("%q", strings.Replace(door.address, "@", "\x00", 1))
		if host, port, err := net.SplitHostPort(door.address); door.network == "tcp" && err == nil {
			family, address = map[bool]string{true: "AF_INET6", false: "AF_INET"}[strings.Contains(host, ":")], fmt.Sprintf("(%q, %s)", host, port)
		}
		program += fmt.Sprintf("attempt(\"door %d\", lambda: reach(socket.%s, %s))\n", i, family, address)
	}
	program += "attempt(\"a pair\", lambda: socket.socketpair())\n" // control: sockets that lead nowhere
	d.put("doors.py", program)
	answer := d.call("ailang-run", map[string]any{"path": "doors.py"})
	if !strings.Contains(answer, "THROUGH a pair") {
		t.Errorf("control: %s", answer)
	}
	for i, door := range doors {
		t.Run(door.name, func(t *testing.T) {
			door.guard.Stops(t)
			if strings.Contains(answer, fmt.Sprintf("THROUGH door %d", i)) {
				door.guard.LetThrough(t, answer)
			} else if !strings.Contains(answer, fmt.Sprintf("stopped door %d", i)) {
				t.Errorf("control: it was not attempted: %s", answer)
			}
			c, err := net.DialTimeout(door.network, door.address, 5*time.Second)
			if err != nil {
				t.Fatalf("control: this process cannot reach %s %s: %v", door.network, door.address, err)
			}
			c.Close()
		})
	}
}

// TestDoorsOfLowerLevels: where only a lower level is reached no program runs at all,
// whatever floor the operator accepts, while file operations do. Two guards: a run's
// floor, and that its layer needs the level too.
func TestDoorsOfLowerLevels(t *testing.T) {
	t.Parallel()
	for _, level := range []confine.Level{confine.Landlock, confine.Process} {
		t.Run(level.String(), func(t *testing.T) {
			guards.Levels.Stops(t)
			if ran, shows := runsAt(t, level); ran {
				guards.Levels.LetThrough(t, shows)
			}
		})
	}
	if ran, shows := runsAt(t, confine.Namespaces); !ran {
		t.Errorf("control: %s", shows)
	}
}

// runsAt reports whether a program runs where a level is reached, and what was
// answered. There a file can be read.
func runsAt(t *testing.T, level confine.Level) (ran bool, shows string) {
	t.Helper()
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
	answer := handler.Handle(context.Background(), job)
	job.Effect, job.Payload = tools.WorkspaceRead, []byte(`{"op":"read","path":"p.py"}`)
	if read := handler.Handle(context.Background(), job); read.Status != store.StatusSucceeded {
		t.Errorf("control: reading: %+v", read)
	}
	_, err = os.Lstat(worktree + "/ran")
	return answer.Status == store.StatusSucceeded || err == nil, fmt.Sprintf("%+v %s, %v", answer, answer.Output, err)
}
