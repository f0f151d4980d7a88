// Package soak runs mixed calls of many callers over several episodes, cuts some of
// them in the middle, by the client that leaves and by killing what carries them out,
// and holds that nothing is left behind: no process, descriptor, mount, user or file.
//
// go test runs a part of it; make soak runs the same at full size. A seed is printed,
// and -seed draws the same calls again.
package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"world/ci/rig"
)

var (
	calls    = flag.Int("calls", 500, "how many calls are made")
	callers  = flag.Int("callers", 16, "how many callers make them")
	episodes = flag.Int("episodes", 8, "over how many episodes")
	seed     = flag.Uint64("seed", 0, "seed of the calls; 0 draws one")
)

// bin is where TestMain builds the binaries under test.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	fmt.Printf("soak: -seed %d -calls %d -callers %d -episodes %d\n", *seed, *calls, *callers, *episodes)
	os.Exit(rig.Build("world-soak-", func(built string) int {
		bin = built
		return m.Run()
	}))
}

// field is the world that is soaked.
type field struct {
	t           *testing.T
	world       *rig.World
	credentials []string // by episode
	cuts        atomic.Int64
	killed      atomic.Int64
}

func episodeName(i int) string { return fmt.Sprintf("ep-%d", i) }

// newField serves a world whose temporary files have a folder of their own, and mints
// a session with a worktree for each episode.
func newField(t *testing.T, ctx context.Context) *field {
	t.Helper()
	dir, err := os.MkdirTemp("", "world-soak-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	temporary := filepath.Join(dir, "tmp")
	for path, mode := range map[string]os.FileMode{dir: 0o711, temporary: 0o711} {
		if err := os.MkdirAll(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	w, err := rig.New(bin, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	w.Env = []string{"TMPDIR=" + temporary}
	f := &field{t: t, world: w}
	if _, err := w.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range *episodes {
		credential, err := w.Mint(ctx, "new", episodeName(i), "--repo", w.Repository, "--budget", fmt.Sprint(10**calls),
			"--db", w.DB(), "--state-dir", w.State(), "--workspace-root", w.Workspaces(), "--ttl", "86400")
		if err != nil {
			t.Fatal(err)
		}
		f.credentials = append(f.credentials, credential)
	}
	return f
}

// TestSoak makes the calls, with the daemon itself killed once on the way, and looks
// at what is left.
func TestSoak(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(*calls)*time.Second+2*time.Minute)
	defer cancel()
	f := newField(t, ctx)
	f.round(ctx, *callers*2) // what is made once is there before it is counted
	before := f.look()
	f.round(ctx, *calls/2)
	f.world.Daemon.Kill()
	f.gone("a daemon that was killed")
	if _, err := f.world.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	f.round(ctx, *callers*2)
	f.round(ctx, *calls/2)
	f.settled(before)
	if code, err := f.world.Daemon.Stop(); err != nil || code != 0 {
		t.Errorf("stop: %d, %v: %s", code, err, f.world.Daemon.Said())
	}
	f.gone("a daemon that has ended")
	f.tidy()
	if r, err := f.world.Worldd(ctx, "fsck", "--db", f.world.DB()); err != nil || r.Code != 0 {
		t.Errorf("fsck: %d, %v: %s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	t.Logf("%d calls cut by their client, %d by killing what carried them out", f.cuts.Load(), f.killed.Load())
	if f.cuts.Load() == 0 || f.killed.Load() == 0 {
		t.Error("nothing was cut: the test shows little")
	}
}

// round makes about n calls, spread over the callers, while a killer kills some of
// what carries them out.
func (f *field) round(ctx context.Context, n int) {
	f.t.Helper()
	over := make(chan struct{})
	var killer, working sync.WaitGroup
	killer.Go(func() { f.kill(over) })
	for i := range *callers {
		c := &worker{field: f, name: fmt.Sprintf("caller-%d", i), episode: i % *episodes, draw: rand.New(rand.NewPCG(*seed, uint64(i)))}
		working.Go(func() { c.work(ctx, n / *callers) })
	}
	working.Wait()
	close(over)
	killer.Wait()
}

// kill kills one process below the daemon now and then, until it is over.
func (f *field) kill(over <-chan struct{}) {
	draw := rand.New(rand.NewPCG(*seed, 1<<32))
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		below, err := rig.Descendants(f.world.Daemon.Pid())
		if err != nil {
			f.t.Error(err)
			return
		}
		if len(below) == 0 {
			continue
		}
		victim := below[draw.IntN(len(below))]
		if process, err := os.FindProcess(victim.Pid); err == nil && process.Kill() == nil {
			f.killed.Add(1)
		}
		// A killed process is one call of many: the others must go on.
	}
}

// cut reports whether an answer is one that a call which was cut may have.
func cut(answer rig.Answer) bool {
	for _, words := range []string{"indeterminate", "not known", "failed", "killed", "limit", "not be built", "unavailable", "broke off", "in flight", "passed its"} {
		if strings.Contains(answer.Text, words) {
			return true
		}
	}
	return false
}
