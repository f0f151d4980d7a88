package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"world/ci/rig"
	"world/store"
	"world/store/postgres/pgtest"
)

// contest is how the callers of two daemons spend one budget while one of the
// daemons is killed and started again.
type contest struct {
	budget, callers int           // callers of both daemons together
	every           time.Duration // between kills, or 0 for
	answers         int           // how many the daemon gives in a life
	within          time.Duration // all of it
}

// sharedEpisode has no worktree and so no home: both daemons serve it.
const sharedEpisode = "shared"

// TestTwoDaemonsOneBudget lets callers of two daemons spend one budget on one
// database while one daemon is killed and started again: every unit is one intent,
// on one chain. make crash spends a thousand with sixteen callers and a kill every
// five seconds, within two minutes.
func TestTwoDaemonsOneBudget(t *testing.T) {
	build(t)
	c := contest{budget: 60, callers: 4, answers: 3, within: time.Minute}
	if *kills >= 1000 {
		c = contest{budget: 1000, callers: 16, every: 5 * time.Second, within: 2 * time.Minute}
	}
	// What is set up before and judged after is not part of the contest's time.
	ctx, cancel := context.WithTimeout(t.Context(), c.within+3*time.Minute)
	defer cancel()
	url := pgtest.Shared(t).Fresh(t)
	var daemons [2]*server
	for i := range daemons {
		daemons[i] = newServer(t, url)
		daemons[i].start(t, ctx)
		// A session without a worktree reads what lies in its folder.
		folder := daemons[i].rig.Worktree(sharedEpisode)
		ok(t, os.Mkdir(folder, 0o755))
		ok(t, os.WriteFile(filepath.Join(folder, "greeting.txt"), []byte("hello\n"), 0o644))
	}
	credential, err := daemons[0].rig.Mint(ctx, "mint", "--episode", sharedEpisode,
		"--grant", fmt.Sprintf("Workspace.Read=worktree:%d", c.budget), "--db", url)
	ok(t, err)

	began := time.Now()
	granted, killed := c.run(t, ctx, daemons, credential)
	took := time.Since(began)
	t.Logf("granted %v of %d with %d kills in %v", granted, c.budget, killed, took.Round(time.Millisecond))
	if took > c.within {
		t.Errorf("it took %v, more than %v", took, c.within)
	}
	if killed == 0 || granted[0] == 0 || granted[1] == 0 {
		t.Errorf("%v granted and %d kills: too little to prove anything", granted, killed)
	}
	for _, d := range daemons {
		if code, err := d.rig.Daemon.Stop(); code != 0 || err != nil {
			t.Errorf("stop: %d, %v", code, err)
		}
	}
	w := &world{t: t, where: url}
	w.with("", func(ctx context.Context, s store.Store) {
		ledger, err := s.Ledger(ctx, sharedEpisode)
		if err != nil || ledger.Next != int64(c.budget) || ledger.Of("Workspace.Read", "worktree") != int64(c.budget) {
			t.Errorf("%d intents of %d units, %+v, %v", ledger.Next, c.budget, ledger, err)
		}
		w.judgeChain(ctx, s)
	})
	daemons[0].clean(t, ctx)
}

// run begins with the callers of the daemon that is killed; the other's join in
// after its first death.
func (c contest) run(t *testing.T, ctx context.Context, daemons [2]*server, credential string) (granted [2]int, killed int) {
	t.Helper()
	var spending sync.WaitGroup
	answers := make(chan int, c.budget) // which daemon gave each answer; never blocks
	begin := func(daemon int) {
		for i := range c.callers / 2 {
			name := fmt.Sprintf("caller-%d-%d", daemon, i)
			spending.Go(func() {
				daemons[daemon].spend(t, ctx, credential, name, func() { answers <- daemon })
			})
		}
	}
	var due <-chan time.Time
	if c.every > 0 {
		ticker := time.NewTicker(c.every)
		defer ticker.Stop()
		due = ticker.C
	}
	begin(1)
	spent := make(chan struct{})
	life := 0
	for done := false; !done; {
		dies := false
		select {
		case <-spent:
			done = true
		case daemon := <-answers:
			granted[daemon]++
			life += daemon
			dies = c.every == 0 && life >= c.answers
		case <-due:
			dies = true
		case <-ctx.Done():
			t.Fatalf("the budget is not spent: %v granted, %d kills", granted, killed)
		}
		if !dies {
			continue
		}
		daemons[1].rig.Daemon.Kill()
		daemons[1].start(t, ctx)
		life = 0
		if killed++; killed == 1 {
			begin(0)
			go func() { spending.Wait(); close(spent) }()
		}
	}
	for len(answers) > 0 {
		granted[<-answers]++
	}
	return granted, killed
}

// server is a world's folders, and the generations of the daemon that serve it.
type server struct {
	rig *rig.World
	now atomic.Pointer[rig.Daemon]
}

func newServer(t *testing.T, database string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "world-crash-")
	ok(t, err)
	// The jail runs under other users, who must reach their worktrees.
	ok(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { os.RemoveAll(dir) })
	r, err := rig.New(bin, dir)
	ok(t, err)
	r.Database = database
	t.Cleanup(r.Close)
	return &server{rig: r}
}

func (d *server) start(t *testing.T, ctx context.Context) {
	t.Helper()
	daemon, err := d.rig.Serve(ctx)
	ok(t, err)
	d.now.Store(daemon)
}

// clean holds that fsck and replay find nothing wrong.
func (d *server) clean(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, args := range [][]string{
		{"fsck", "--db", d.rig.DB()},
		{"replay", "--all", "--db", d.rig.DB(), "--state-dir", d.rig.State()},
	} {
		if r, err := d.rig.Worldd(ctx, args...); err != nil || r.Code != 0 {
			t.Errorf("%s: exit %d, %v: %s%s", args[0], r.Code, err, r.Stdout, r.Stderr)
		}
	}
}

// spend reads through a daemon until the budget is denied, and tells of each
// call that was answered. What gets no answer is sent again under its id.
func (d *server) spend(t *testing.T, ctx context.Context, credential, name string, answered func()) {
	var agent *rig.Agent
	var of *rig.Daemon
	for n := 0; ctx.Err() == nil; {
		if now := d.now.Load(); now != of || agent == nil {
			if agent != nil {
				agent.Close()
			}
			if err := rig.Until("the daemon to be back", func() (up bool) {
				var err error
				of = d.now.Load()
				agent, err = of.Connect(ctx, credential)
				return err == nil || ctx.Err() != nil
			}); err != nil {
				t.Error(err)
				return
			}
			if agent == nil {
				return // the test's time is over
			}
		}
		answer, err := agent.Call(ctx, "ailang-read", fmt.Sprintf("%s-%d", name, n), map[string]any{"path": "greeting.txt"})
		switch {
		case err != nil:
			agent.Close()
			agent = nil
		case !answer.IsError:
			answered()
			n++
		case strings.Contains(answer.Text, "denied:budget"):
			agent.Close()
			return
		case strings.HasPrefix(answer.Text, "indeterminate"):
			n++ // spent, and never retried
		case !retriable(answer.Text):
			t.Errorf("%s: unexpected answer %+v", name, answer)
			return
		}
	}
}

// retriable reports whether a refusal says that nothing was done yet.
func retriable(text string) bool {
	for _, kind := range []string{"in flight", "timeout", "unavailable", "lease lost"} {
		if strings.HasPrefix(text, kind) {
			return true
		}
	}
	return false
}
