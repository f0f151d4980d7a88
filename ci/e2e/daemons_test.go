package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"world/ci/rig"
	"world/store"
	"world/store/engine"
	"world/store/postgres/pgtest"
)

// database is a world in a PostgreSQL of this test's own, which two daemons may
// serve, each with folders of its own.
func database(t *testing.T) (a, b *rig.World) {
	t.Helper()
	cluster, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close() })
	a, b = world(t), world(t)
	a.Database = cluster.Fresh(t)
	b.Database = a.Database
	return a, b
}

// TestTwoDaemonsOneBudget lets callers of two daemons spend one budget while one
// daemon is killed and started again: every unit is one intent, on one chain.
// The kills follow what that daemon has answered, so that each of its lives
// counts; the other daemon's callers begin after the first of them.
func TestTwoDaemonsOneBudget(t *testing.T) {
	const budget, callers, answersALife = 60, 4, 3
	ctx := deadline(t)
	a, b := database(t)
	serve(t, ctx, a)
	serve(t, ctx, b)
	// A session without a worktree has no home; both daemons have a folder for it.
	for _, w := range []*rig.World{a, b} {
		if err := os.Mkdir(w.Worktree("shared"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.Worktree("shared"), "greeting.txt"), []byte("hello\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	credential, err := a.Mint(ctx, "mint", "--episode", "shared", "--grant", fmt.Sprintf("Workspace.Read=worktree:%d", budget), "--db", a.DB())
	if err != nil {
		t.Fatal(err)
	}
	daemons := [2]atomic.Pointer[rig.Daemon]{}
	daemons[0].Store(a.Daemon)
	daemons[1].Store(b.Daemon)

	var spending sync.WaitGroup
	answers := make(chan int, budget) // which daemon gave each answer; never blocks
	begin := func(daemon int) {
		for i := range callers / 2 {
			name := fmt.Sprintf("caller-%d-%d", daemon, i)
			spending.Go(func() {
				spend(t, ctx, &daemons[daemon], credential, name, func() { answers <- daemon })
			})
		}
	}
	begin(1)
	spent := make(chan struct{})
	var granted [2]int
	kills, life := 0, 0
	for done := false; !done; {
		select {
		case <-spent:
			done = true
		case daemon := <-answers:
			granted[daemon]++
			if life += daemon; life < answersALife {
				continue
			}
			b.Daemon.Kill()
			daemons[1].Store(serve(t, ctx, b))
			if kills++; kills == 1 {
				begin(0)
				go func() { spending.Wait(); close(spent) }()
			}
			life = 0
		case <-ctx.Done():
			t.Fatalf("the budget is not spent: %v granted, %d kills", granted, kills)
		}
	}
	for len(answers) > 0 {
		granted[<-answers]++
	}
	for daemon, n := range granted {
		if n == 0 {
			t.Errorf("daemon %d granted nothing", daemon)
		}
	}
	t.Logf("granted %v, %d kills", granted, kills)
	if code, err := a.Daemon.Stop(); code != 0 || err != nil {
		t.Errorf("stop: %d, %v", code, err)
	}
	exactly(t, ctx, a, "shared", budget)
	clean(t, ctx, a)
}

// spend reads through a daemon until the budget is denied, and tells of each
// call that was answered. What gets no answer is sent again under its id.
func spend(t *testing.T, ctx context.Context, daemon *atomic.Pointer[rig.Daemon], credential, name string, answered func()) {
	var agent *rig.Agent
	var of *rig.Daemon
	for n := 0; ctx.Err() == nil; {
		if now := daemon.Load(); now != of || agent == nil {
			if agent != nil {
				agent.Close()
			}
			if err := rig.Until("the daemon to be back", func() (up bool) {
				var err error
				of = daemon.Load()
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

// exactly holds that an episode's budget is spent to the last unit, each by an
// intent of its own.
func exactly(t *testing.T, ctx context.Context, w *rig.World, episode string, budget int64) {
	t.Helper()
	p, err := engine.Parse(w.DB())
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Open(ctx, engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ledger, err := s.Ledger(ctx, store.EpisodeID(episode))
	if err != nil || ledger.Next != budget || ledger.Of("Workspace.Read", "worktree") != budget {
		t.Errorf("%d intents of %d units, %+v, %v", ledger.Next, budget, ledger, err)
	}
}

// TestHomeDaemon gives an episode a worktree with one daemon: the other refuses
// its effects before they cost anything, and names the home.
func TestHomeDaemon(t *testing.T) {
	ctx := deadline(t)
	a, b := database(t)
	serve(t, ctx, a)
	serve(t, ctx, b)
	credential := session(t, ctx, a, "housed", "3")
	read := map[string]any{"path": "greeting.txt"}
	name, err := os.ReadFile(filepath.Join(a.State(), "daemon-name"))
	if err != nil {
		t.Fatal(err)
	}
	home := strings.TrimSpace(string(name))
	for range 2 {
		answer, err := connect(t, ctx, b, credential).Call(ctx, "ailang-read", "first", read)
		if err != nil || !answer.IsError || !strings.Contains(answer.Text, fmt.Sprintf("daemon %q", home)) {
			t.Errorf("away from home: %+v, %v", answer, err)
		}
	}
	answer, err := connect(t, ctx, a, credential).Call(ctx, "ailang-read", "first", read)
	if err != nil || answer.IsError {
		t.Errorf("at home: %+v, %v", answer, err)
	}
	// A worktree of the same episode elsewhere would be another's.
	if _, err := b.Mint(ctx, "new", "housed", "--repo", b.Repository, "--db", b.DB(), "--state-dir", b.State()); err == nil ||
		!strings.Contains(err.Error(), "worktree with daemon "+home) {
		t.Errorf("a second home: %v", err)
	}
	a.Daemon.Kill()
	if answer, err := connect(t, ctx, b, credential).Call(ctx, "ailang-read", "second", read); err != nil || !strings.Contains(answer.Text, home) {
		t.Errorf("with the home gone: %+v, %v", answer, err)
	}
	serve(t, ctx, a)
	if answer, err := connect(t, ctx, a, credential).Call(ctx, "ailang-read", "second", read); err != nil || answer.IsError {
		t.Errorf("with the home back: %+v, %v", answer, err)
	}
	r, err := a.Worldd(ctx, "session", "list", "--db", a.DB())
	if err != nil || !strings.Contains(r.Stdout, `"home":"`+home+`"`) {
		t.Errorf("session list: %+v, %v", r, err)
	}
	clean(t, ctx, a)
}

// TestAStateDirectoryHasOneDaemon starts a second one on it, which disturbs nothing.
func TestAStateDirectoryHasOneDaemon(t *testing.T) {
	ctx := deadline(t)
	a, _ := database(t)
	first := serve(t, ctx, a)
	if _, err := a.Serve(ctx); err == nil || !strings.Contains(err.Error(), "another daemon holds the state directory") {
		t.Errorf("a second daemon: %v", err)
	}
	a.Daemon = first
	credential := session(t, ctx, a, "calm", "1")
	if answer, err := connect(t, ctx, a, credential).Call(ctx, "ailang-read", "", map[string]any{"path": "greeting.txt"}); err != nil || answer.IsError {
		t.Errorf("the first daemon: %+v, %v", answer, err)
	}
}
