package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// kill cuts a write in its handler, and holds that the worktree stays as it was.
func (s *story) kill(ctx context.Context) error {
	if err := s.world.Hold(episode); err != nil {
		return err
	}
	s.cut = "cut-by-kill"
	say("asked", "ailang-edit of note.txt, invocation id %s", s.cut)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = s.agent.Call(ctx, "ailang-edit", s.cut, map[string]any{ // the kill cuts the connection: no answer is the expected one
			"path": "note.txt", "old_text": "an agent", "new_text": "a ghost"})
	}()
	if err := s.world.Held(episode); err != nil {
		return err
	}
	s.world.Daemon.Kill()
	<-gone
	say("killed", "process %d, while the handler held the file", s.world.Daemon.Pid())
	return s.unchanged()
}

func (s *story) unchanged() error {
	got, err := os.ReadFile(filepath.Join(s.world.Worktree(episode), "note.txt"))
	if err != nil || string(got) != "written by an agent\n" {
		return fmt.Errorf("note.txt holds %q, %v after the kill", got, err)
	}
	say("on disk", "note.txt holds %q", got)
	return nil
}

func (s *story) restart(ctx context.Context) error {
	if err := s.world.Release(episode); err != nil {
		return err
	}
	d, err := s.world.Serve(ctx)
	if err != nil {
		return err
	}
	for line := range strings.Lines(d.Said()) {
		if strings.Contains(line, "indeterminate") {
			say("serve", "%s", strings.TrimSpace(line))
		}
	}
	if err := expect("serve", d.Said(), "indeterminate"); err != nil {
		return err
	}
	s.agent.Close()
	if s.agent, err = d.Connect(ctx, s.credential); err != nil {
		return err
	}
	answer, err := s.agent.Call(ctx, "ailang-edit", s.cut, map[string]any{
		"path": "note.txt", "old_text": "an agent", "new_text": "a ghost"})
	if err != nil {
		return err
	}
	say("resent", "%s: %s", s.cut, answer.Text)
	if err := expect("the answer to the resent id", answer.Text, "indeterminate"); err != nil {
		return err
	}
	_, r, err := s.call(ctx, s.agent, "ailang-read", "", map[string]any{"path": "note.txt"})
	if err != nil {
		return err
	}
	if r.BudgetBefore != s.readBudget {
		return fmt.Errorf("the budget was %d before the kill and is %d after the restart", s.readBudget, r.BudgetBefore)
	}
	say("budget", "%d before the kill, %d after the restart: unchanged", s.readBudget, r.BudgetBefore)
	return s.unchanged()
}

func (s *story) replay(ctx context.Context) error {
	return s.verb(ctx, "replay", "--all", "--db", s.world.DB(), "--state-dir", s.world.State())
}

func (s *story) fsck(ctx context.Context) error {
	return s.verb(ctx, "fsck", "--db", s.world.DB())
}

func (s *story) why(ctx context.Context) error {
	return s.verb(ctx, "why", "mcp:"+episode+":first-write", "--db", s.world.DB())
}

// verb runs one verb of the CLI, shows what it says, and wants exit code 0.
func (s *story) verb(ctx context.Context, args ...string) error {
	result, err := s.world.Worldd(ctx, args...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(result.Stdout + result.Stderr) {
		say(args[0], "%s", strings.TrimRight(line, "\n"))
	}
	if result.Code != 0 {
		return fmt.Errorf("%s exits %d", args[0], result.Code)
	}
	return nil
}
