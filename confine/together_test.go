package confine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"world/confine"
)

// TestLimitsTogether: memory that no limit of a process counts, and that of several
// processes, ends a program when it is too much together, and not before.
func TestLimitsTogether(t *testing.T) {
	for _, test := range []struct {
		name, each, processes string
		together              int64 // MiB
		bound                 confine.Bound
	}{
		{"made read only", "320", "1", 160, confine.MemoryBound},
		{"of several", "48", "6", 160, confine.MemoryBound},
		{"made read only, beyond what one may have", "320", "1", 0, confine.MemoryBound},
		{"of several, without a bound", "48", "6", 0, confine.Unbounded}, // control: nothing else counts it
		{"of several within the bound", "16", "4", 160, confine.Unbounded},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, confine.Namespaces)
			spec := s.program("hoard", test.each, test.processes)
			spec.Limits.Together = test.together << 20
			if got := s.run(spec); got.Bound != test.bound || test.bound == confine.Unbounded && string(got.Stdout) != "ok " {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestLimitsReserved: memory that is mapped in the place of a reservation, which the
// kernel's limit on writable memory lets pass, is bounded too.
func TestLimitsReserved(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
		got := s.run(change(s.spec("occupy", "512"))) // 256 are allowed
		if form == "verb" && string(got.Stdout) != "cannot allocate memory" || form == "program" && got.Bound != confine.MemoryBound {
			t.Errorf("%s: %+v", form, got)
		}
		if got := s.run(change(s.spec("occupy", "128"))); string(got.Stdout) != "ok " { // control
			t.Errorf("%s: %+v", form, got)
		}
	})
}

// TestLimitsOfSockets: what sockets may hold for others to receive counts too, however
// many processes hold them.
func TestLimitsOfSockets(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for each, want := range map[string]confine.Bound{"40": confine.MemoryBound, "4": confine.Unbounded} {
		spec := s.program("pair", each, "4")
		spec.Limits.Together = 48 << 20
		if got := s.run(spec); got.Bound != want || want == confine.Unbounded && string(got.Stdout) != "ok " {
			t.Errorf("four processes of %s sockets: %+v", each, got)
		}
	}
}

// TestLimitsOfTheKernelsMemory: what the kernel keeps for a program counts as well, the
// pieces of its address space and its locks on files, seen or not.
func TestLimitsOfTheKernelsMemory(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for _, c := range []struct {
		verb, each, processes string
		env                   []string
		want                  confine.Bound
	}{
		{"shred", "60000", "8", nil, confine.MemoryBound}, // 120 MiB of them
		{"shred", "1000", "8", nil, confine.Unbounded},
		{"shred", "40", "8", []string{"UNSEEN=1"}, confine.MemoryBound},
		{"shred", "40", "1", []string{"UNSEEN=1"}, confine.Unbounded},
		{"fasten", "3000", "3", nil, confine.MemoryBound},
		{"fasten", "800", "4", nil, confine.Unbounded},
	} {
		spec := s.program(c.verb, c.each, c.processes)
		spec.Limits.Together, spec.Env = 64<<20, append(spec.Env, c.env...)
		if got := s.run(spec); got.Bound != c.want || c.want == confine.Unbounded && string(got.Stdout) != "ok " {
			t.Errorf("%s %s in %s processes, %v: %+v", c.verb, c.each, c.processes, c.env, got)
		}
	}
}

// TestLocksOfOthersDoNotCount: what the kernel lists of open files that somebody else has
// locked ends no run.
func TestLocksOfOthersDoNotCount(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	f, err := os.Create(filepath.Join(s.outside, "locked"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := range int64(5000) {
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: 2 * at, Len: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.run(s.program("fasten", "800", "1")); got.Bound != confine.Unbounded || string(got.Stdout) != "ok " {
		t.Errorf("%+v", got)
	}
}

// TestNobodyHidesBehindAThreadThatEnded: memory counts whichever threads are left to use
// it, also when the first one, by which a process is known, is not among them.
func TestNobodyHidesBehindAThreadThatEnded(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	script := `exec python3 -c '
import ctypes, os, sys, threading, time
def hold():
    while %d and os.path.exists("/proc/%%d/task/%%d/exe" %% (os.getpid(), os.getpid())): time.sleep(0.01)
    a = b"x" * (%d << 20)
    time.sleep(0.7)
    print("ok", flush=True)
    os._exit(0)
threading.Thread(target=hold).start()
if %d: ctypes.CDLL(None).syscall(%d, 0)
'`
	for _, c := range []struct {
		megabytes, hides int
		want             confine.Bound
	}{{100, 0, confine.MemoryBound}, {100, 1, confine.MemoryBound}, {8, 1, confine.Unbounded}} {
		spec := s.over(fmt.Sprintf(script, c.hides, c.megabytes, c.hides, unix.SYS_EXIT))
		spec.Limits.Together = 64 << 20
		if got := s.run(spec); got.Bound != c.want || c.want == confine.Unbounded && string(got.Stdout) != "ok\n" {
			t.Errorf("%+v: %+v %s%s", c, got, got.Stdout, got.Stderr)
		}
	}
}
