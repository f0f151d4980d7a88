package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/ci/rig"
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
