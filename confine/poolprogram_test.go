package confine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/confine"
	"world/fault"
)

// TestWarmProgram: runs of a program begin behind a fence that waited for them, each
// with arguments, input and time of its own, over the worktree as it is then, and no
// fence serves two.
func TestWarmProgram(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 4)
	s.put("old", "0")
	script := func(text string) confine.Spec {
		spec := s.over(text)
		spec.Warm = true
		return spec
	}
	for i := range 4 {
		spec := script(fmt.Sprintf("cat old - /tmp/left 2>/dev/null; echo %d > /tmp/left; printf %d > new; kill -0 1 || exit 4", i, i))
		spec.Stdin = fmt.Appendf(nil, " in %d", i)
		got := s.run(spec)
		if want := fmt.Sprintf("%d in %d", i, i); string(got.Stdout) != want || got.Exit != 0 || got.Applied != confine.WasApplied {
			t.Errorf("run %d: %+v", i, got)
		}
		s.holds(map[string]string{"old": fmt.Sprint(i), "new": fmt.Sprint(i)})
		s.waits(1)
		s.put("old", fmt.Sprint(i+1)) // beneath what waits
		if n := s.jail.WaitsFor(script("of the same kind")); n != 1 {
			t.Errorf("%d processes wait for runs of the kind", n)
		}
	}
	slow := script("printf 9 > new; sleep 60")
	slow.Limits.Wall = 400 * time.Millisecond
	if got := s.run(slow); got.Bound != confine.WallBound || !got.Started || got.Elapsed > 5*time.Second {
		t.Errorf("%+v", got)
	}
	s.holds(map[string]string{"old": "4", "new": "3"})
	s.waits(1)
	// All that a program can be started with goes through.
	long := script("printf %s $#")
	long.Args = append(long.Args, "sh")
	for range 10 {
		long.Args = append(long.Args, strings.Repeat("\x01", 100_000))
	}
	for _, long.Warm = range []bool{true, false} { // beginning afresh too
		if got := s.run(long); string(got.Stdout) != "10" {
			t.Errorf("many arguments, warm %t: %.200q %q", long.Warm, got.Stdout, got.Stderr)
		}
	}
	// Another law is another kind, though a program never sees it.
	other := script("")
	other.Overlay.Law = []byte("another law")
	if n := s.jail.WaitsFor(other); n != 0 {
		t.Errorf("%d processes wait for runs under another law", n)
	}
	for text, want := range map[string]string{
		"grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\n\\t'":               "NoNewPrivs:1Seccomp:2",
		"grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | tr -d 'CapInhPrmEfAb:\\n\\t0'": "",
	} {
		if got := s.run(script(text)); string(got.Stdout) != want || got.Exit != 0 {
			t.Errorf("a program whose fence waited: %q", got.Stdout)
		}
	}
}

// TestWarmProgramBelow: where a program cannot be fenced beforehand, it begins afresh.
func TestWarmProgramBelow(t *testing.T) {
	s := newWarm(t, confine.Landlock, 4)
	spec := s.warm("x", "echo")
	spec.Program = s.image
	if got := s.run(spec); string(got.Stdout) != "x" {
		t.Errorf("%+v", got)
	}
	if all, _ := s.jail.Waiting(); all != 0 {
		t.Errorf("%d processes wait", all)
	}
}

// TestWarmHidesWhatIsThereNow: a directory that must stay hidden and was not there when
// a fence was built makes that fence none for the run.
func TestWarmHidesWhatIsThereNow(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 4)
	later := filepath.Join(s.outside, "later")
	look := func(hidden ...string) (string, error) {
		spec := s.over("ls " + later)
		spec.Warm, spec.Hidden, spec.Readable = true, hidden, []string{s.outside}
		got, err := s.jail.Run(context.Background(), spec)
		return string(got.Stdout), err
	}
	if _, err := look(later); err != nil {
		t.Fatal(err)
	}
	s.waits(1)
	if err := os.Mkdir(later, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(later, "secret"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := look(later); !fault.Is(err, fault.Invalid) { // as a fence that is built now is refused
		t.Errorf("a program sees %q, %v", got, err)
	}
	if got, err := look(); got != "secret\n" || err != nil { // control: one that it is not hidden from
		t.Errorf("control: %q, %v", got, err)
	}
}

// TestWarmDismissed: what waits for runs on a worktree is dead when it is dismissed,
// and what waits for others stays.
func TestWarmDismissed(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 8)
	other := s
	other.worktree = s.another("other")
	for _, site := range []site{s, other} {
		site.run(site.warm("x", "echo", site.worktree))
		program := site.over(":")
		program.Warm = true
		site.run(program)
	}
	s.waits(4)
	s.jail.Dismiss(s.worktree)
	if n, m := processes(t, s.worktree), processes(t, other.worktree); n != 0 || m == 0 {
		t.Errorf("%d processes wait on, and %d for another worktree", n, m)
	}
	s.waits(2)
	if got := s.run(s.warm("y", "echo", s.worktree)); string(got.Stdout) != "y" {
		t.Errorf("after it: %+v", got)
	}
	s.jail.Dismiss(s.outside) // nobody waits there
}
