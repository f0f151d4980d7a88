package confine_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"world/confine"
)

// TestFenceCalls tries system calls that programs inside have no use for.
func TestFenceCalls(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		s := newSite(t, level)
		for _, args := range [][]string{{"unshare"}, {"ptrace", "1"}, {"ring"}} {
			spec := s.spec(args...)
			spec.Program = s.image
			if got := s.run(spec); got.Exit != 1 || !strings.Contains(string(got.Stdout), "operation not permitted") {
				t.Errorf("%s %v: %d %q", level, args, got.Exit, got.Stdout)
			}
		}
	}
	// What watches a program cannot be read or written by it.
	s := newSite(t, confine.Namespaces)
	for path, want := range map[string]int{"/proc/1/environ": 1, "/proc/1/mem": 1, "/proc/self/environ": 0} {
		spec := s.spec("read", path)
		spec.Program = s.image
		if got := s.run(spec); got.Exit != want {
			t.Errorf("%s: %d %q", path, got.Exit, got.Stdout)
		}
	}
	open := newSite(t, confine.Process)
	if got := open.run(open.spec("ring")); strings.Contains(string(got.Stdout), "operation not permitted") {
		t.Errorf("control: %q", got.Stdout)
	}
}

// TestFenceMemory: beside the private memory that the limit counts there is none but
// files, and what is inside goes first when memory runs out.
func TestFenceMemory(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		for _, args := range [][]string{{"share", "anonymous"}, {"share", "stack"}, {"share", "/dev/zero"}, {"memfd"}, {"segment"}} {
			spec := s.program(args...)
			if got := s.run(spec); (got.Exit == 0) != (level == confine.Process) || got.Bound != confine.Unbounded {
				t.Errorf("%s %v: %d %q %q", level, args, got.Exit, got.Bound, got.Stdout)
			}
		}
		if err := errors.Join(os.WriteFile(filepath.Join(s.worktree, "file"), make([]byte, 1<<20), 0o644),
			confine.HandOver(filepath.Join(s.worktree, "file"), s.user)); err != nil {
			t.Fatal(err)
		}
		if got := s.run(s.program("share", filepath.Join(s.worktree, "file"))); got.Exit != 0 {
			t.Errorf("%s: control: the map of a file: %q", level, got.Stdout)
		}
		if level == confine.Landlock {
			continue // nothing there can read it
		}
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			if got := s.run(change(s.spec("read", "/proc/self/oom_score_adj"))); string(got.Stdout) != "ok 1000\n" {
				t.Errorf("%s %s: %q", level, form, got.Stdout)
			}
		})
	}
	s := newSite(t, confine.Namespaces)
	spec := s.spec("-c", `head -c 9 /dev/zero | od -An -tx1`)
	spec.Path, spec.Env = "/bin/sh", []string{"PATH=/usr/bin:/bin"}
	if got := s.run(spec); strings.TrimSpace(string(got.Stdout)) != "00 00 00 00 00 00 00 00 00" {
		t.Errorf("zeros: %q %q", got.Stdout, got.Stderr)
	}
}

// TestFenceEnvironment: nothing comes in but what the spec names.
func TestFenceEnvironment(t *testing.T) {
	t.Setenv("WORLD_TEST_LEAK", "leaked")
	leak, err := unix.Open("/dev/zero", unix.O_RDONLY, 0) // not closed on execution, as if inherited
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			if level == confine.Landlock {
				return // it cannot look at /proc there
			}
			spec := change(s.spec("look"))
			spec.Env = []string{"A=1", "B=x=y"}
			got := s.run(spec)
			var seen struct {
				FDs, Env, Args []string
				Block          string // the environment it was started with
				UID, GID       int
				Groups         []int
				Dir            string
				Caps           uint32
			}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(string(got.Stdout), "ok ")), &seen); err != nil {
				t.Fatalf("%q %q: %v", got.Stdout, got.Stderr, err)
			}
			if strings.Contains(seen.Block, "LEAK") {
				t.Errorf("%s %s: started with %q", level, form, seen.Block)
			}
			wantFDs := []string{"0", "1", "2"}
			if form == "verb" { // the first stage keeps its lifeline and its report
				wantFDs = append(wantFDs, "4", "5")
			}
			if !slices.Equal(seen.FDs, wantFDs) || !slices.Equal(seen.Env, spec.Env) {
				t.Errorf("%s %s: descriptors %v, environment %v", level, form, seen.FDs, seen.Env)
			}
			if seen.UID != int(s.user) || seen.GID == 0 || slices.Contains(seen.Groups, 0) || seen.Caps != 0 || seen.Dir != s.worktree {
				t.Errorf("%s %s: %+v", level, form, seen)
			}
		})
	}
}
