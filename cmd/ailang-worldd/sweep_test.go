package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"world/confine"
	"world/confine/confinetest"
)

// TestADaemonSweepsAtStart: what a daemon that was killed left aside in a worktree is
// gone when the next one serves; one that cannot serve leaves alone what another is at.
func TestADaemonSweepsAtStart(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	worktree := filepath.Join(f.workspaces, "ep")
	aside := filepath.Join(worktree, confine.Aside())
	leave := func() {
		t.Helper()
		if err := errors.Join(os.MkdirAll(f.workspaces, 0o711), os.MkdirAll(aside, 0o700), os.WriteFile(filepath.Join(aside, "0"), nil, 0o600), os.WriteFile(filepath.Join(worktree, "kept"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	start(t, f)
	if entries, err := os.ReadDir(worktree); err != nil || len(entries) != 1 || entries[0].Name() != "kept" {
		t.Errorf("%v, %v", entries, err)
	}
	leave()
	if err := serve(context.Background(), f, worldTool, io.Discard, zerolog.Nop()); err == nil {
		t.Error("a second daemon serves")
	}
	if _, err := os.Lstat(aside); err != nil {
		t.Errorf("a daemon that does not serve: %v", err)
	}
}
