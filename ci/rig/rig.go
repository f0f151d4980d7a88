// Package rig runs the real binaries on a world of its own in a folder of the
// caller's: the demo and the end-to-end tests play on it. It promises that Close
// leaves no process behind; the folder is the caller's to remove.
package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience bounds every wait for a process or a line, in wall time.
const patience = 30 * time.Second

// World is one store with its folders, and the daemon that serves it, if any.
type World struct {
	Bin        string // folder of the built binaries
	Dir        string
	Database   string   // URL of the store, "" for a file
	Tool       string   // --tool-ailang-bin, "" for the default
	Env        []string // of the daemon, beside the caller's own
	Daemon     *Daemon
	Repository string // a git repository with one commit
}

// New lays out an empty world below dir, with a small git repository to work on.
func New(bin, dir string) (*World, error) {
	w := &World{Bin: bin, Dir: dir, Repository: filepath.Join(dir, "repository")}
	// Confined programs run under users of their own, who must reach their worktrees.
	for path, mode := range map[string]os.FileMode{w.State(): 0o700, w.Workspaces(): 0o711, w.Repository: 0o700} {
		// The mode is set apart, because a umask may take bits from it.
		if err := errors.Join(os.Mkdir(path, mode), os.Chmod(path, mode)); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(w.Repository, "greeting.txt"), []byte("hello, world\n"), 0o644); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"-c", "user.name=World", "-c", "user.email=world@localhost", "commit", "-q", "-m", "A file to work on"},
	} {
		git := exec.Command("git", append([]string{"-C", w.Repository}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return w, nil
}

// DB is the store, as --db names it.
func (w *World) DB() string {
	if w.Database != "" {
		return w.Database
	}
	return filepath.Join(w.State(), "world.db")
}

// State is the folder of the store's file, the sockets, the read token and the archive.
func (w *World) State() string { return filepath.Join(w.Dir, "state") }

// Workspaces is the folder of the episodes' worktrees.
func (w *World) Workspaces() string { return filepath.Join(w.Dir, "workspaces") }

// Worktree is one episode's worktree.
func (w *World) Worktree(episode string) string { return filepath.Join(w.Workspaces(), episode) }

// Result is how a command ended.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Run runs one binary to its end without a terminal.
func (w *World) Run(ctx context.Context, binary string, args ...string) (Result, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(w.Bin, binary), args...)
	return Finish(cmd)
}

// Worldd runs one verb of the daemon's CLI on this world's store.
func (w *World) Worldd(ctx context.Context, args ...string) (Result, error) {
	return w.Run(ctx, "ailang-worldd", args...)
}

// Finish runs a command with its streams captured; a non-zero exit is no error.
func Finish(cmd *exec.Cmd) (Result, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, err
}

// Close kills the daemon if one still runs.
func (w *World) Close() {
	if w.Daemon != nil {
		w.Daemon.Kill()
	}
}

// oneLine shortens output for an error text.
func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
