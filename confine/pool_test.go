package confine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"world/confine"
	"world/fault/await"
)

// newWarm is a site whose jail keeps some processes waiting.
func newWarm(t *testing.T, level confine.Level, workers int) site {
	t.Helper()
	s := newSite(t, level)
	jail, err := confine.New(confine.Options{Stage: s.image, Hidden: []string{filepath.Dir(s.secret)}, Ceiling: level, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jail.Close() })
	s.jail = jail
	return s
}

func (s site) warm(stdin string, args ...string) confine.Spec {
	spec := s.spec(args...)
	spec.Stdin, spec.Warm = []byte(stdin), true
	return spec
}

// waits waits until some processes wait for their input, and no others are there.
func (s site) waits(n int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%d processes wait", n), func() bool {
		all, ready := s.jail.Waiting()
		return all == n && ready == n
	})
}

// TestWarmServesOne: runs of one kind get their own input, deadline and output from
// processes that waited, and find nothing of each other.
func TestWarmServesOne(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		s := newWarm(t, level, 8)
		users := map[string]bool{}
		for i := range 4 {
			spec := s.warm(fmt.Sprintf("secret %d", i), "haunt")
			spec.User, spec.Family = 0, "haunted"
			got := s.run(spec)
			uid, found, ok := strings.Cut(strings.TrimPrefix(string(got.Stdout), "ok uid "), " found ")
			if users[uid] = true; !ok || found != `""` || !got.Started || got.Exit != 0 {
				t.Errorf("%s, run %d: %q %q", level, i, got.Stdout, got.Stderr)
			}
			s.waits(1)
		}
		if os.Geteuid() == 0 && len(users) != 4 {
			t.Errorf("%s: four runs of a family were users %v", level, users)
		}
		// Control: what is sought can be found by one who may.
		open := newSite(t, confine.Process)
		spec := open.spec("haunt")
		spec.Env = []string{"GHOST=boo"}
		if got := open.run(spec); !strings.Contains(string(got.Stdout), "boo") {
			t.Errorf("control: %q", got.Stdout)
		}
	}
}

// TestWarmDeadline: a run takes a process that waits, its time begins with its
// input, and its end is as that of any other run.
func TestWarmDeadline(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 4)
	for range 2 {
		spec := s.warm("", "sleep")
		spec.Limits.Wall = 600 * time.Millisecond
		ended := make(chan confine.Result, 1)
		go func() { ended <- s.run(spec) }()
		eventually(t, "nobody waits while it runs", func() bool { all, _ := s.jail.Waiting(); return all == 0 })
		if got := <-ended; got.Bound != confine.WallBound || !got.Started || got.Elapsed < spec.Limits.Wall/2 {
			t.Errorf("%+v", got)
		}
		s.waits(1)
		// It waits on beyond the time that a run of its kind has.
		await.Stays(t, "one waits", spec.Limits.Wall, func() bool {
			all, ready := s.jail.Waiting()
			return all == 1 && ready == 1
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := s.jail.Run(ctx, s.warm("", "sleep")); err != nil || got.Started || got.Bound != confine.CallerBound {
		t.Errorf("cancelled before its beginning: %+v, %v", got, err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	ended := make(chan confine.Result, 1)
	ticks := filepath.Join(s.worktree, "ticks")
	go func() {
		got, err := s.jail.Run(ctx, s.warm("", "tick", ticks))
		if err != nil {
			t.Error(err)
		}
		ended <- got
	}()
	eventually(t, "ticks", func() bool { return size(ticks) > 3 })
	cancel()
	if got := <-ended; got.Bound != confine.CallerBound || !got.Started {
		t.Errorf("cancelled: %+v", got)
	}
	quiet(t, ticks)
}

// TestWarmBounds: there are never more processes than may wait, those that were
// asked for last stay, and what is too old goes.
func TestWarmBounds(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 3)
	for i := range 5 {
		spec := s.warm("x", "echo", fmt.Sprint(i))
		if got := s.run(spec); string(got.Stdout) != "x" {
			t.Fatalf("%+v", got)
		}
		eventually(t, "the next one waits", func() bool { return s.jail.WaitsFor(spec) == 1 })
		s.waits(min(i+1, 3))
	}
	if n := s.jail.Kinds(); n != 5 {
		t.Errorf("%d kinds are remembered", n)
	}
	for i, want := range []int{0, 0, 1, 1, 1} {
		if n := s.jail.WaitsFor(s.warm("", "echo", fmt.Sprint(i))); n != want {
			t.Errorf("%d processes wait for kind %d", n, i)
		}
	}
	s.jail.Age()
	eventually(t, "the old are gone", func() bool { all, _ := s.jail.Waiting(); return all == 0 })
	if n := s.jail.Kinds(); n != 0 {
		t.Errorf("%d kinds are remembered", n)
	}
}

// TestWarmCrowd: callers at the same time each get their own, and more wait from
// then on, but not more than may.
func TestWarmCrowd(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 6)
	for range 2 {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				text := fmt.Sprint("input ", i)
				got, err := s.jail.Run(context.Background(), s.warm(text, "echo"))
				if err != nil || string(got.Stdout) != text {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		all.Wait()
		eventually(t, "several wait", func() bool { all, ready := s.jail.Waiting(); return all == ready && all > 1 })
		if n, _ := s.jail.Waiting(); n > 6 {
			t.Errorf("%d processes wait", n)
		}
	}
}

// TestWarmDies: a process that died as it waited costs nothing but time, one whose
// worktree is another directory now is not used, and none outlives the jail.
func TestWarmDies(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 4)
	spec := s.warm("x", "echo", s.worktree)
	for range 3 {
		if got := s.run(spec); string(got.Stdout) != "x" {
			t.Errorf("%+v", got)
		}
		s.waits(1)
		s.jail.KillWaiting()
		eventually(t, "it is dead", func() bool { return processes(t, s.worktree) == 0 })
	}
	s.run(s.warm("", "write", "file"))
	s.waits(2) // one of each kind; that of the second would write where it was started
	name, before := s.worktree, s.worktree+"-before"
	if err := os.Rename(name, before); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.another("again"), name); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(before, "file")); err != nil {
		t.Fatal(err)
	}
	s.run(s.warm("", "write", "file"))
	if b, err := os.ReadFile(filepath.Join(name, "file")); err != nil || string(b) != "written" {
		t.Errorf("the worktree that is there now holds %q, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(before, "file")); err == nil {
		t.Error("a process that waited wrote to the worktree that was there before")
	}
	if err := s.jail.Close(); err != nil {
		t.Error(err)
	}
	if n := processes(t, s.worktree); n != 0 {
		t.Errorf("%d processes outlive their jail", n)
	}
	if got := s.run(spec); string(got.Stdout) != "x" {
		t.Errorf("after the end: %+v", got)
	}
	if all, _ := s.jail.Waiting(); all != 0 {
		t.Errorf("%d processes wait after the end", all)
	}
	eventually(t, "it is dead", func() bool { return processes(t, s.worktree) == 0 })
}
