package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Names of the files by which a held tool and its holder speak, in the worktree.
const (
	holdName = ".hold" // while it exists, the tool waits before it starts
	heldName = ".held" // the tool makes it when it begins to wait
)

// UseHoldTool builds the tool wrapper that waits while a worktree holds the
// file ".hold", and makes the world's next daemon run it.
func (w *World) UseHoldTool() error {
	w.Tool = filepath.Join(w.Dir, "hold-tool")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", w.Tool, "world/ci/rig/hold")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build of the tool wrapper: %w: %s", err, oneLine(string(out)))
	}
	return nil
}

// Hold makes the episode's next writing call wait in its handler.
func (w *World) Hold(episode string) error {
	return os.WriteFile(filepath.Join(w.Worktree(episode), holdName), nil, 0o644)
}

// Held waits until a call waits in its handler.
func (w *World) Held(episode string) error {
	return Until("a call to be held", func() bool {
		_, err := os.Stat(filepath.Join(w.Worktree(episode), heldName))
		return err == nil
	})
}

// Release lets held calls go on.
func (w *World) Release(episode string) error {
	for _, name := range []string{heldName, holdName} {
		if err := os.Remove(filepath.Join(w.Worktree(episode), name)); err != nil {
			return err
		}
	}
	return nil
}
