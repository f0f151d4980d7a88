package confine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"world/confine"
	"world/fault"
)

func TestLimits(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		change func(*confine.Limits)
		bound  confine.Bound
		says   string // in stdout, of a run that goes on to its end
	}{
		{"none", []string{"write", "file"}, nil, confine.Unbounded, "ok"},
		{"wall", []string{"sleep"}, func(l *confine.Limits) { l.Wall = 300 * time.Millisecond }, confine.WallBound, ""},
		{"processor", []string{"spin"}, func(l *confine.Limits) { l.CPU = time.Second }, confine.CPUBound, ""},
		{"memory", []string{"eat"}, nil, confine.Died, ""},
		{"output", []string{"flood"}, nil, confine.OutputBound, ""},
		{"error output", []string{"flood", "stderr"}, nil, confine.OutputBound, ""},
		{"file size", []string{"grow", "big"}, nil, confine.Unbounded, "file too large"},
		{"files", []string{"files"}, nil, confine.Unbounded, "too many open files"},
		{"crash", []string{"crash"}, nil, confine.Died, ""},
	}
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			for _, test := range tests {
				if test.name == "processor" && level != confine.Namespaces {
					continue // it takes seconds, and is the same system call
				}
				t.Run(level.String()+"/"+form+"/"+test.name, func(t *testing.T) {
					t.Parallel()
					s.t = t
					spec := change(s.spec(test.args...))
					if test.change != nil {
						test.change(&spec.Limits)
					}
					got := s.run(spec)
					if form == "program" && (test.name == "memory" || test.name == "crash") {
						// Its own end is reported; a runtime that breaks off exits with 2.
						if got.Bound != confine.Unbounded || got.Exit != 2 {
							t.Errorf("ended %q with %d", got.Bound, got.Exit)
						}
						return
					}
					if got.Bound != test.bound || !strings.Contains(string(got.Stdout), test.says) || !got.Started {
						t.Errorf("ended %q, said %q %q", got.Bound, got.Stdout, got.Stderr)
					}
					// On a busy machine a second of the processor takes as long as it takes.
					if got.Elapsed > 10*time.Second && test.name != "processor" {
						t.Errorf("took %s, as long as the clock lets it", got.Elapsed)
					}
					if n := int64(len(got.Stdout) + len(got.Stderr)); n > spec.Limits.Output {
						t.Errorf("%d bytes of output", n)
					}
				})
			}
		})
	}
}

// TestLimitsOfTheKernel: what no limit on writable memory counts is bounded too: the
// first thread's stack, and the kernel's tables of what a process only reserves.
func TestLimitsOfTheKernel(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		for _, test := range []struct {
			name string
			args []string
			says string
		}{
			{"a stack", []string{"dig", "4"}, "ok "},
			{"a deep stack", []string{"dig", "64"}, "bad address"},
			{"address space", []string{"tables", "8"}, "ok 0"},
			{"much address space", []string{"tables", "32"}, "cannot allocate memory"},
		} {
			if got := s.run(s.program(test.args...)); string(got.Stdout) != test.says {
				t.Errorf("%s: %s: %q, %q %q", level, test.name, got.Bound, got.Stdout, got.Stderr)
			}
		}
	}
	s := newSite(t, confine.Namespaces)
	for together, want := range map[int64]confine.Bound{16 << 20: confine.MemoryBound, 128 << 20: confine.Unbounded} {
		spec := s.program("tables", "12") // 24 MiB of tables
		spec.Limits.Together = together
		if got := s.run(spec); got.Bound != want {
			t.Errorf("tables under %d bytes: %+v", together, got)
		}
	}
	got := s.run(s.program("read", "/proc/self/limits"))
	for name, want := range map[string]string{
		"Max stack size": "8388608", "Max locked memory": "65536", "Max pending signals": "1024", "Max msgqueue size": "0",
		"Max core file size": "0", "Max address space": "17179869184", "Max realtime priority": "0", "Max nice priority": "0",
	} {
		if _, line, ok := strings.Cut(string(got.Stdout), name); !ok || strings.Fields(line)[1] != want {
			t.Errorf("%s is not %s: %s", name, want, got.Stdout)
		}
	}
}

// TestLimitsOfScratch: of files in the private /tmp, whose size does not count what the
// kernel keeps for each, there are no more than pages that it may hold.
func TestLimitsOfScratch(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for files, want := range map[string]confine.Bound{"4000": confine.ScratchBound, "200": confine.Unbounded} {
		spec := s.program("strew", files)
		if got := s.run(spec); got.Bound != want || want == confine.Unbounded && string(got.Stdout) != "ok " {
			t.Errorf("%s files: %+v", files, got)
		}
	}
}

// TestTimers: what runs as the first stage has timers that may be late, and a program
// those that it has elsewhere.
func TestTimers(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
		want := map[string]string{"verb": "ok 1000000", "program": "ok 50000"}[form]
		if got := s.run(change(s.spec("slack"))); string(got.Stdout) != want || want == "" {
			t.Errorf("%s: %q", form, got.Stdout)
		}
	})
}

// TestProcessorOfTheDeaf: a verb ends when its processor time is spent, and one that is
// killed a second later, because it cannot look, has ended by that all the same; one that
// dies of anything else has not.
func TestProcessorOfTheDeaf(t *testing.T) {
	s := newSite(t, confine.Process)
	for _, test := range []struct {
		args []string
		want confine.Bound
		took time.Duration // at most
	}{
		{[]string{"spin"}, confine.CPUBound, time.Second},
		{[]string{"spin", "deaf"}, confine.CPUBound, 2 * time.Second},
		{[]string{"crash"}, confine.Died, time.Second},
	} {
		spec := s.spec(test.args...)
		spec.Limits.CPU = time.Second
		before := spent(t)
		got, took := s.run(spec), spent(t)-before
		if got.Bound != test.want || !got.Started {
			t.Errorf("%v ended %q, said %q %q", test.args, got.Bound, got.Stdout, got.Stderr)
		}
		if took > test.took+300*time.Millisecond {
			t.Errorf("%v took %s of the processor", test.args, took)
		}
	}
}

// spent is the processor time of all children that this process has buried.
func spent(t *testing.T) time.Duration {
	var all unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &all); err != nil {
		t.Fatal(err)
	}
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

// TestLimitsInside: the first stage alone, with nobody outside to end it, ends at
// its deadline, and when whoever holds its lifeline is gone.
func TestLimitsInside(t *testing.T) {
	image := attack(t)
	for _, program := range []bool{false, true} {
		for _, cut := range []bool{false, true} {
			wall := 200 * time.Millisecond
			if cut {
				wall = time.Minute
			}
			alone := confine.StageAlone(t, image, wall, program, "sleep")
			if cut {
				alone.Started(t)
				alone.CutLifeline(t)
			}
			if said := alone.Wait(t); strings.Contains(said, string(confine.WallBound)) == cut {
				t.Errorf("program %t, lifeline cut %t: reported %q", program, cut, said)
			}
		}
	}
}

// TestResult: what the program says of itself is what arrives.
func TestResult(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			spec := change(s.spec("echo", "a b", "", "ü"))
			spec.Stdin = []byte(strings.Repeat("in\x00put", 1000))
			if got := s.run(spec); string(got.Stdout) != string(spec.Stdin) || string(got.Stderr) != "a b  ü" || got.Exit != 0 || got.Level != level {
				t.Errorf("%s %s: %+v", level, form, got)
			}
			if got := s.run(change(s.spec("exit", "3"))); got.Exit != 3 || got.Bound != confine.Unbounded {
				t.Errorf("%s %s: %+v", level, form, got)
			}
			spec = change(s.spec("read", confine.FilePath))
			spec.File = []byte("handed over")
			if got := s.run(spec); string(got.Stdout) != "ok handed over" {
				t.Errorf("%s %s: %q", level, form, got.Stdout)
			}
			spec.Args[0] = "write"
			if got := s.run(spec); got.Exit != 1 {
				t.Errorf("%s %s: the file can be written: %q", level, form, got.Stdout)
			}
		})
		// A program has no way to the report. (A verb is the first stage itself.)
		spec := s.spec("forge")
		spec.Program = s.image
		if got := s.run(spec); got.Exit != 0 || got.Bound != confine.Unbounded {
			t.Errorf("%s: forged %+v", level, got)
		}
	}
}

func TestResultOfScript(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	script, err := confine.Seal(strings.NewReader("#!/bin/sh\necho \"script $1\"; exit 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec := s.spec("argument")
	spec.Program = script
	if got := s.run(spec); string(got.Stdout) != "script argument\n" || got.Exit != 4 {
		t.Errorf("%d %q %q", got.Exit, got.Stdout, got.Stderr)
	}
	broken, err := confine.Seal(strings.NewReader("no program at all"))
	if err != nil {
		t.Fatal(err)
	}
	spec.Program = broken
	if _, err := s.jail.Run(context.Background(), spec); !fault.Is(err, fault.Unavailable) {
		t.Errorf("what cannot be executed gave %v", err)
	}
}

// TestResultOfNothing: runs that must not begin say so and leave nothing behind.
func TestResultOfNothing(t *testing.T) {
	s := newSite(t, confine.Landlock)
	link := filepath.Join(filepath.Dir(s.worktree), "link")
	if err := os.Symlink(s.worktree, link); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*confine.Spec)
		kind   fault.Kind
	}{
		{"floor", func(s *confine.Spec) { s.Floor = confine.Namespaces }, fault.Unavailable},
		{"worktree is a link", func(s *confine.Spec) { s.Worktree = link }, fault.Invalid},
		{"worktree is absent", func(s *confine.Spec) { s.Worktree += "x" }, fault.Invalid},
		{"worktree is relative", func(s *confine.Spec) { s.Worktree = "worktree" }, fault.Invalid},
		{"no arguments", func(s *confine.Spec) { s.Args = nil }, fault.Invalid},
		{"NUL", func(s *confine.Spec) { s.Args = append(s.Args, "a\x00b") }, fault.Invalid},
		{"no limit", func(s *confine.Spec) { s.Limits.Memory = 0 }, fault.Invalid},
		{"unknown verb", func(s *confine.Spec) { s.Args = []string{"nonsense"} }, fault.Unavailable},
	}
	if os.Geteuid() == 0 {
		tests = append(tests, struct {
			name   string
			change func(*confine.Spec)
			kind   fault.Kind
		}{"root", func(s *confine.Spec) { s.User = 0 }, fault.Invalid})
	}
	for _, test := range tests {
		spec := s.spec("write", "file")
		test.change(&spec)
		if _, err := s.jail.Run(context.Background(), spec); !fault.Is(err, test.kind) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, err := s.jail.Run(ctx, s.spec("write", "file"))
	if err != nil || got.Started || got.Bound != confine.CallerBound {
		t.Errorf("a cancelled run: %+v, %v", got, err)
	}
	if names, err := os.ReadDir(s.worktree); err != nil || len(names) != 0 {
		t.Errorf("left %v, %v", names, err)
	}
	if got := s.run(s.spec("write", "file")); got.Exit != 0 {
		t.Errorf("control: %+v", got)
	}
}

func TestReach(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		text := newSite(t, level).jail.Reach().String()
		if !strings.HasPrefix(text, level.String()) || strings.Contains(text, "got through") {
			t.Errorf("%s", text)
		}
		if parsed, err := confine.ParseLevel(level.String()); err != nil || parsed != level {
			t.Errorf("%s parses to %s, %v", level, parsed, err)
		}
	}
	if _, err := confine.ParseLevel("docker"); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
}
