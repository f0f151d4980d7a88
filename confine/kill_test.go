package confine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
	"world/fault/await"
)

// processes returns how many processes name the worktree in their arguments: the
// jail's bubblewrap, its first stage, and programs told to write there.
func processes(t testing.TB, worktree string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(worktree)) {
			n++
		}
	}
	return n
}

// eventually polls a condition, for longer than a busy machine takes to build and
// to take down name spaces.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	await.That(t, what, condition)
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// TestKillAtDeadline: when Run returns, nothing of the tree writes any more.
func TestKillAtDeadline(t *testing.T) {
	inner := newSite(t, confine.Namespaces)
	inner.jail = inner.jail.WithoutOuter()
	for name, s := range map[string]site{
		"namespaces": newSite(t, confine.Namespaces), "namespaces by bubblewrap alone": inner,
		"landlock": newSite(t, confine.Landlock),
	} {
		ticks := filepath.Join(s.worktree, "ticks")
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			os.Remove(ticks)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				eventually(t, "ticks", func() bool { return size(ticks) > 3 })
				cancel()
			}()
			got, err := s.jail.Run(ctx, change(s.spec("tick", ticks)))
			if err != nil || got.Bound != confine.CallerBound || !got.Started || got.Elapsed > 10*time.Second {
				t.Fatalf("%s %s: %+v, %v", name, form, got, err)
			}
			if n := processes(t, s.worktree); n != 0 {
				t.Errorf("%s %s: %d processes are left", name, form, n)
			}
			quiet(t, ticks)
		})
	}
}

// TestKillAnytime cancels runs at moments spread over their beginning.
func TestKillAnytime(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for _, jail := range []*confine.Jail{s.jail, s.jail.WithoutOuter()} {
		for i := range 12 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
			got, err := jail.Run(ctx, s.spec("tick", filepath.Join(s.worktree, "ticks")))
			cancel()
			if err != nil || got.Bound != confine.WallBound {
				t.Fatalf("after %d ms: %+v, %v", i, got, err)
			}
			if n := processes(t, s.worktree); n != 0 {
				t.Fatalf("after %d ms: %d processes are left", i, n)
			}
		}
	}
}

// quiet checks that a file has stopped growing.
func quiet(t testing.TB, path string) {
	t.Helper()
	before := size(path)
	await.Stays(t, "the worktree is as it was", 30*time.Millisecond, func() bool { return size(path) == before })
}

// TestKillLitter: a process in a session of its own ends with the program that
// left it behind.
func TestKillLitter(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	ticks := filepath.Join(s.worktree, "ticks")
	spec := s.spec("litter", ticks)
	spec.Program = s.image
	if got := s.run(spec); got.Exit != 0 {
		t.Fatalf("%+v", got)
	}
	if size(ticks) < 1 {
		t.Error("nothing was left behind to be killed")
	}
	quiet(t, ticks)
	eventually(t, "what was around it is gone too", func() bool { return processes(t, s.worktree) == 0 })
}

// TestKillFirst: a program cannot kill what watches it inside namespaces.
func TestKillFirst(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	spec := s.spec("kill")
	spec.Program = s.image
	if got := s.run(spec); got.Bound != confine.Unbounded || got.Exit != 0 {
		t.Errorf("%+v", got)
	}
}

// daemon starts a process that runs a jail, and returns it with its announcement.
func (s site) daemon(level confine.Level, form string) (*exec.Cmd, io.Reader) {
	s.t.Helper()
	program := filepath.Join(confinetest.Dir(s.t), "daemon")
	b, err := io.ReadAll(s.image.Reader())
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(program, b, 0o755); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(program, "daemon", s.worktree, level.String(), form, fmt.Sprint(s.user))
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, out
}

// TestKillDaemon: the jailed tree dies with the process that started it, and the
// worktree stays unchanged from then on (D14).
func TestKillDaemon(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		for _, form := range []string{"verb", "program", "warm"} {
			t.Run(level.String()+"/"+form, func(t *testing.T) {
				s := newSite(t, level)
				ticks := filepath.Join(s.worktree, "ticks")
				cmd, _ := s.daemon(level, form)
				eventually(t, "ticks", func() bool { return size(ticks) > 3 })
				if processes(t, ticks) == 0 {
					t.Fatal("no process names the file; the search is blind")
				}
				cmd.Process.Kill()
				cmd.Wait()
				eventually(t, "the tree is gone", func() bool { return processes(t, s.worktree) == 0 })
				quiet(t, ticks)
			})
		}
	}
}

// TestKillDaemonEarly kills at moments spread over the building of the jail, where
// no signal of a parent's death is armed yet.
func TestKillDaemonEarly(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for i := range 16 {
		cmd, out := s.daemon(confine.Namespaces, "program")
		line := make([]byte, len("ready\n"))
		if _, err := io.ReadFull(out, line); err != nil || !strings.HasPrefix(string(line), "ready") {
			t.Fatalf("%q, %v", line, err)
		}
		for end := time.Now().Add(time.Duration(i) * 750 * time.Microsecond); time.Now().Before(end); {
		}
		cmd.Process.Kill()
		cmd.Wait()
		eventually(t, "the tree is gone", func() bool { return processes(t, s.worktree) == 0 })
	}
}
