// Package scale holds that a large world is as quick as a small one: to open, to
// decide and record a call, to list what is open, and to read the log; and it
// prints how fast fsck streams. make scale runs it with a million entries.
//
// Figures are compared with those of a small store in the same run, and asserted
// with a margin that only a cost that grows with the store exceeds.
package scale

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"world/ci/rig"
	"world/coordinator/coordtest"
	"world/store"
	"world/store/fsck"
	"world/store/sqlite"
)

var entries = flag.Int64("entries", 5_000, "entries of the large store")

const (
	few    = 1_000 // entries of the small store
	calls  = 200   // that are measured on each store
	margin = 4     // how much slower the large store may be before the test fails
	worst  = 5 * time.Second
)

// TestScale compares a large store with a small one.
func TestScale(t *testing.T) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "world-scale-") // the daemon's jail must reach below it
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	ok(t, os.Chmod(dir, 0o711))
	small, large := place(t, dir, "small", few), place(t, dir, "large", *entries)
	t.Logf("%d and %d entries built in %v", few, *entries, time.Since(began).Round(time.Millisecond))
	for _, m := range []struct {
		what string
		of   func(t *testing.T, ctx context.Context, w *world, s store.Store) []time.Duration
	}{
		{"an effectful call", effects},
		{"the open intents", repeat(func(ctx context.Context, _ *world, s store.Store) error {
			open, err := s.Indeterminate(ctx, 500)
			if err == nil && len(open) != lost {
				err = fmt.Errorf("%d open intents", len(open))
			}
			return err
		})},
		{"seeding an episode", seeds},
		{"100 entries of the log", repeat(func(ctx context.Context, w *world, s store.Store) error {
			page, err := s.Entries(ctx, w.entries/2, 100)
			if err == nil && len(page) != 100 {
				err = fmt.Errorf("%d entries", len(page))
			}
			return err
		})},
	} {
		a, b := small.measure(t, m.of), large.measure(t, m.of)
		ratio := float64(median(b)) / float64(median(a))
		t.Logf("%s: p50 %v and %v, %.2f times; p99 %v and %v", m.what, median(a), median(b), ratio, a[len(a)*99/100], b[len(b)*99/100])
		if ratio > margin {
			t.Errorf("%s is %.1f times slower on the large store", m.what, ratio)
		}
	}
	large.check(t)
	bin := buildDaemon(t, dir)
	a, b := small.serve(t, bin), large.serve(t, bin)
	t.Logf("start to serving: %v and %v", a.Round(time.Millisecond), b.Round(time.Millisecond))
	if b > margin*a && b > worst {
		t.Errorf("the large store is served after %v, the small one after %v", b, a)
	}
}

// place builds a world where a daemon will look for it.
func place(t *testing.T, dir, name string, entries int64) *world {
	t.Helper()
	path := filepath.Join(dir, name)
	ok(t, os.Mkdir(path, 0o711))
	ok(t, os.Mkdir(filepath.Join(path, "state"), 0o700))
	return build(t, filepath.Join(path, "state", "world.db"), entries)
}

// measure opens the store and returns what a measurement says, sorted.
func (w *world) measure(t *testing.T, of func(*testing.T, context.Context, *world, store.Store) []time.Duration) []time.Duration {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, w.path, sqlite.Options{})
	ok(t, err)
	defer s.Close()
	times := of(t, ctx, w, s)
	slices.Sort(times)
	return times
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// effects makes effectful calls one after another, and times each.
func effects(t *testing.T, ctx context.Context, w *world, s store.Store) []time.Duration {
	t.Helper()
	c := w.calls(s)
	var times []time.Duration
	for n := range calls {
		start := time.Now()
		ok(t, w.call(ctx, c, n%episodes, coordtest.Act, fmt.Sprint("timed-", n)))
		times = append(times, time.Since(start))
	}
	return times
}

// seeds times the reading of an episode's spend from the file: a store that is open
// for reading only remembers none.
func seeds(t *testing.T, ctx context.Context, w *world, _ store.Store) []time.Duration {
	t.Helper()
	beside, err := sqlite.Open(ctx, w.path, sqlite.Options{ReadOnly: true})
	ok(t, err)
	defer beside.Close()
	return repeat(func(ctx context.Context, w *world, s store.Store) error {
		ledger, err := s.Ledger(ctx, w.sessions[7].Record.Episode)
		if err == nil && ledger.Next == 0 {
			err = fmt.Errorf("nothing was spent in it")
		}
		return err
	})(t, ctx, w, beside)
}

// repeat times a reading, over and over.
func repeat(read func(context.Context, *world, store.Store) error) func(*testing.T, context.Context, *world, store.Store) []time.Duration {
	return func(t *testing.T, ctx context.Context, w *world, s store.Store) []time.Duration {
		t.Helper()
		var times []time.Duration
		for range calls {
			start := time.Now()
			ok(t, read(ctx, w, s))
			times = append(times, time.Since(start))
		}
		return times
	}
}

// check runs fsck and says how fast it went.
func (w *world) check(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, w.path, sqlite.Options{ReadOnly: true})
	ok(t, err)
	defer s.Close()
	start, used := time.Now(), processTime(t)
	report, err := fsck.Run(ctx, s, fsck.Options{})
	ok(t, err)
	took := time.Since(start)
	used = processTime(t) - used
	t.Logf("fsck: %d objects, %d entries, %d intents in %v: %.0f objects/s, %.0f in a second of processor time", report.Objects, report.Entries,
		report.Intents, took.Round(time.Millisecond), float64(report.Objects)/took.Seconds(), float64(report.Objects)/used.Seconds())
	for _, f := range report.Findings {
		t.Errorf("fsck: %s", f)
	}
	if report.Entries < w.entries {
		t.Errorf("%d entries of %d", report.Entries, w.entries)
	}
}

// processTime is what this process has used of the processors so far: unlike the
// clock, it does not tell how busy the machine is with other things.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var usage unix.Rusage
	ok(t, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func buildDaemon(t *testing.T, dir string) string {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	cmd := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "world/cmd/ailang-worldd", "world/cmd/world-tool")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// serve starts the real daemon on the world's store, and says how long that took:
// the best of three, because a busy machine only adds to it.
func (w *world) serve(t *testing.T, bin string) time.Duration {
	t.Helper()
	r := &rig.World{Bin: bin, Dir: filepath.Dir(filepath.Dir(w.path))}
	ok(t, os.MkdirAll(r.Workspaces(), 0o711))
	best := time.Hour
	for range 3 {
		start := time.Now()
		d, err := r.Serve(t.Context())
		ok(t, err)
		best = min(best, time.Since(start))
		_, err = d.Stop()
		ok(t, err)
	}
	return best
}
