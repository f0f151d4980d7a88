// Package e2e holds the promises of the whole: real binaries, a real daemon in
// another process, real MCP clients, real kills.
package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"world/ci/rig"
	"world/store/handover"
	"world/store/sqlite"
)

// bin is where TestMain builds the binaries under test.
var bin string

func TestMain(m *testing.M) {
	os.Exit(rig.Build("world-e2e-", func(built string) int {
		bin = built
		return m.Run()
	}))
}

// world lays out a world below the test's own folder, unserved.
func world(t *testing.T) *rig.World {
	t.Helper()
	dir, err := os.MkdirTemp("", "world-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	// The jail runs under other uids, which must reach their worktrees;
	// t.TempDir lies below a folder that only its owner may enter.
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w, err := rig.New(bin, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { handOver(t, w) })
	t.Cleanup(w.Close)
	return w
}

// handOver hands the world's journal over, if someone asked for journals.
func handOver(t *testing.T, w *rig.World) {
	if os.Getenv(handover.Folder) == "" || w.DB() != filepath.Join(w.State(), "world.db") {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := sqlite.Open(ctx, w.DB(), sqlite.Options{})
	if err != nil {
		return // never served, or damaged on purpose
	}
	defer s.Close()
	if err := handover.Offer(ctx, s, t.Name()); err != nil {
		t.Errorf("hand the journal over: %v", err)
	}
}

// served is a world with a daemon whose tool can be held.
func served(t *testing.T) (*rig.World, context.Context) {
	t.Helper()
	w, ctx := world(t), deadline(t)
	if err := w.UseHoldTool(); err != nil {
		t.Fatal(err)
	}
	serve(t, ctx, w)
	return w, ctx
}

func serve(t *testing.T, ctx context.Context, w *rig.World) *rig.Daemon {
	t.Helper()
	d, err := w.Serve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// session mints six grants of a budget for an episode with a worktree.
func session(t *testing.T, ctx context.Context, w *rig.World, episode, budget string) string {
	t.Helper()
	credential, err := w.Mint(ctx, "new", episode, "--repo", w.Repository, "--budget", budget,
		"--db", w.DB(), "--state-dir", w.State(), "--workspace-root", w.Workspaces())
	if err != nil {
		t.Fatal(err)
	}
	return credential
}

func connect(t *testing.T, ctx context.Context, w *rig.World, credential string) *rig.Agent {
	t.Helper()
	agent, err := w.Daemon.Connect(ctx, credential)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(agent.Close)
	return agent
}

// clean holds that fsck and replay find nothing wrong.
func clean(t *testing.T, ctx context.Context, w *rig.World) {
	t.Helper()
	for _, args := range [][]string{
		{"fsck", "--db", w.DB()},
		{"replay", "--all", "--db", w.DB(), "--state-dir", w.State()},
	} {
		if r, err := w.Worldd(ctx, args...); err != nil || r.Code != 0 {
			t.Errorf("%s: exit %d, %v: %s%s", args[0], r.Code, err, r.Stdout, r.Stderr)
		}
	}
}

func read(t *testing.T, w *rig.World, episode, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Worktree(episode), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
