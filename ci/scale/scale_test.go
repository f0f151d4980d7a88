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

var (
	entries = flag.Int64("entries", 100_000, "entries of the large store")
	stores  = flag.String("stores", "", "where both stores are kept, or are found from an earlier run; nowhere when empty")
)

const (
	few    = 1_000 // entries of the small store
	calls  = 200   // that are measured on each store
	margin = 4     // how much slower the large store may be before the test fails
	worst  = 5 * time.Second
)

// TestScale compares a large store with a small one.
func TestScale(t *testing.T) {
	began := time.Now()
	dir := *stores
	if dir == "" {
		var err error
		dir, err = os.MkdirTemp("", "world-scale-") // the daemon's jail must reach below it
		ok(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	ok(t, os.MkdirAll(dir, 0o711))
	ok(t, os.Chmod(dir, 0o711))
	small, large := place(t, dir, "small", few), place(t, dir, "large", *entries)
	t.Logf("%d and %d entries built or found in %v", few, *entries, time.Since(began).Round(time.Millisecond))
	for _, p := range probes(began) {
		a, b := p.compare(t, small, large)
		ratio := float64(b.percent(50)) / float64(a.percent(50))
		t.Logf("%s: p50 %v and %v, %.2f times; p99 %v and %v; the first %v and %v",
			p.what, a.percent(50), b.percent(50), ratio, a.percent(99), b.percent(99), a.first, b.first)
		if ratio > margin {
			t.Errorf("%s is %.1f times slower on the large store", p.what, ratio)
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

// place builds a world where a daemon will look for it, or takes the one it finds.
func place(t *testing.T, dir, name string, entries int64) *world {
	t.Helper()
	path := filepath.Join(dir, name, "state", "world.db")
	if _, err := os.Stat(path); err == nil {
		return found(t, path)
	}
	ok(t, os.MkdirAll(filepath.Dir(path), 0o700))
	ok(t, os.Chmod(filepath.Join(dir, name), 0o711))
	return build(t, path, entries)
}

// probe is what must take the same time however large the store is.
type probe struct {
	what string
	opts sqlite.Options
	// ready returns what is timed, for the n-th time.
	ready func(w *world, s store.Store) func(ctx context.Context, n int) error
}

// probes are told apart from those of other runs on the same stores by when this began.
func probes(began time.Time) []probe {
	return []probe{
		{"an effectful call", sqlite.Options{}, func(w *world, s store.Store) func(context.Context, int) error {
			c := w.calls(s)
			return func(ctx context.Context, n int) error {
				return w.call(ctx, c, n%episodes, coordtest.Act, fmt.Sprintf("timed-%x-%d", began.UnixNano(), n))
			}
		}},
		{"the open intents", sqlite.Options{}, func(_ *world, s store.Store) func(context.Context, int) error {
			return func(ctx context.Context, _ int) error {
				open, err := s.Indeterminate(ctx, 500)
				if err == nil && len(open) != lost {
					err = fmt.Errorf("%d open intents", len(open))
				}
				return err
			}
		}},
		// A store that is open for reading only remembers no spend: it comes from the file.
		{"seeding an episode", sqlite.Options{ReadOnly: true}, func(w *world, s store.Store) func(context.Context, int) error {
			return func(ctx context.Context, _ int) error {
				ledger, err := s.Ledger(ctx, w.sessions[7].Record.Episode)
				if err == nil && ledger.Next == 0 {
					err = fmt.Errorf("nothing was spent in it")
				}
				return err
			}
		}},
		{"100 entries of the log", sqlite.Options{}, func(w *world, s store.Store) func(context.Context, int) error {
			return func(ctx context.Context, _ int) error {
				page, err := s.Entries(ctx, w.entries/2, 100)
				if err == nil && len(page) != 100 {
					err = fmt.Errorf("%d entries", len(page))
				}
				return err
			}
		}},
	}
}

// compare takes the times on two stores, turn and turn about: what else keeps the
// machine busy slows both.
func (p probe) compare(t *testing.T, small, large *world) (a, b times) {
	t.Helper()
	ctx := t.Context()
	var do [2]func(context.Context, int) error
	for i, w := range []*world{small, large} {
		s, err := sqlite.Open(ctx, w.path, p.opts)
		ok(t, err)
		defer s.Close()
		do[i] = p.ready(w, s)
	}
	for n := range calls {
		for i, all := range []*times{&a, &b} {
			start := time.Now()
			ok(t, do[i](ctx, n))
			all.add(time.Since(start))
		}
	}
	return a, b
}

// times are how long the same thing took, each time.
type times struct {
	first  time.Duration // with nothing remembered yet
	sorted []time.Duration
}

func (s *times) add(d time.Duration) {
	if len(s.sorted) == 0 {
		s.first = d
	}
	at, _ := slices.BinarySearch(s.sorted, d)
	s.sorted = slices.Insert(s.sorted, at, d)
}

func (s times) percent(p int) time.Duration { return s.sorted[len(s.sorted)*p/100] }

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
	bin, err := rig.Programs(filepath.Join(dir, "bin"), "world/cmd/ailang-worldd", "world/cmd/world-tool")
	ok(t, err)
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
