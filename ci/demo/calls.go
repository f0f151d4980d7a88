package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"world/ci/rig"
	"world/tools"
)

const episode = "story"

func (s *story) begin(ctx context.Context) error {
	d, err := s.world.Serve(ctx)
	if err != nil {
		return err
	}
	say("serving", "%s", d.Address)
	head, _, err := s.world.Get(ctx, "/v1/head")
	if err != nil {
		return err
	}
	say("head", "%s", head)
	return nil
}

// publish stops the daemon, because a registry changes attended and alone.
func (s *story) publish(ctx context.Context) error {
	if code, err := s.world.Daemon.Stop(); err != nil || code != 0 {
		return fmt.Errorf("serve ends with exit code %d: %w", code, err)
	}
	result, err := s.world.PublishFixture(ctx)
	if err != nil {
		return err
	}
	say("registry", "%s", result.Stdout)
	_, err = s.world.Serve(ctx)
	return err
}

func (s *story) mint(ctx context.Context) error {
	var err error
	s.credential, err = s.world.Mint(ctx, "new", episode, "--repo", s.world.Repository, "--budget", "3",
		"--db", s.world.DB(), "--state-dir", s.world.State(), "--workspace-root", s.world.Workspaces())
	if err != nil {
		return err
	}
	say("minted", "episode %s on a worktree of its own; the credential is shown once and kept as a hash", episode)
	s.agent, err = s.world.Daemon.Connect(ctx, s.credential)
	return err
}

func (s *story) list(ctx context.Context) error {
	listed, err := s.agent.Tools(ctx)
	if err != nil {
		return err
	}
	say("listed", "%v", listed)
	want := []string{"fixture-reach"}
	for _, builtin := range tools.Builtins() {
		want = append(want, string(builtin.ID))
	}
	if err := sameSet(listed, want); err != nil {
		return err
	}
	_, absent := s.agent.Call(ctx, "no-such-tool", "", nil)
	if absent == nil {
		return fmt.Errorf("a tool that does not exist was answered")
	}
	say("refused", "%v", absent)
	return nil
}

func (s *story) read(ctx context.Context) error {
	answer, r, err := s.call(ctx, s.agent, "ailang-read", "", map[string]any{"path": "greeting.txt"})
	if err != nil {
		return err
	}
	if answer.IsError || answer.Output["content"] != "hello, world\n" || r.BudgetAfter != 2 {
		return fmt.Errorf("unexpected answer: %s", answer.Text)
	}
	say("content", "%q", answer.Output["content"])
	s.readBudget = r.BudgetAfter
	return nil
}

func (s *story) write(ctx context.Context) error {
	answer, _, err := s.call(ctx, s.agent, "ailang-write", "first-write", map[string]any{"path": "note.txt", "content": "written by an agent\n"})
	if err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(s.world.Worktree(episode), "note.txt"))
	if err != nil || answer.IsError || string(got) != "written by an agent\n" {
		return fmt.Errorf("the worktree holds %q, %v: %s", got, err, answer.Text)
	}
	say("on disk", "note.txt holds %q", got)
	return nil
}

func (s *story) denyEffectName(ctx context.Context) error {
	agent, err := s.narrow(ctx, "narrow", 3600)
	if err != nil {
		return err
	}
	defer agent.Close()
	return s.denied(ctx, agent, "denied:effect-name", "fixture-reach", map[string]any{"effect": "Workspace.Write", "scope": "worktree"})
}

func (s *story) denyScope(ctx context.Context) error {
	agent, err := s.narrow(ctx, "narrow", 3600)
	if err != nil {
		return err
	}
	defer agent.Close()
	return s.denied(ctx, agent, "denied:scope", "fixture-reach", map[string]any{"effect": "Workspace.Read", "scope": "elsewhere"})
}

// narrow mints a session that may only read the worktree, and connects with it.
func (s *story) narrow(ctx context.Context, name string, ttl int) (*rig.Agent, error) {
	credential, err := s.world.Mint(ctx, "mint", "--episode", name, "--grant", "Workspace.Read=worktree:2",
		"--ttl", fmt.Sprint(ttl), "--db", s.world.DB(), "--state-dir", s.world.State())
	if err != nil {
		return nil, err
	}
	say("minted", "episode %s, Workspace.Read=worktree:2 for %d s", name, ttl)
	return s.world.Daemon.Connect(ctx, credential)
}

// denyExpired holds one call of the episode in its handler until the short
// session of another has expired behind it.
func (s *story) denyExpired(ctx context.Context) error {
	const ttl = 2
	if err := s.world.Hold(episode); err != nil {
		return err
	}
	short, err := s.narrow(ctx, episode, ttl)
	if err != nil {
		return err
	}
	defer short.Close()
	expiry := time.After((ttl + 1) * time.Second)
	held := make(chan error, 1)
	go func() {
		_, err := s.agent.Call(ctx, "ailang-write", "", map[string]any{"path": "held.txt", "content": "held\n"})
		held <- err
	}()
	if err := s.world.Held(episode); err != nil {
		return err
	}
	waited := make(chan error, 1)
	go func() {
		waited <- s.denied(ctx, short, "denied:expired", "ailang-read", map[string]any{"path": "greeting.txt"})
	}()
	<-expiry
	if err := s.world.Release(episode); err != nil {
		return err
	}
	if err := <-held; err != nil {
		return err
	}
	return <-waited
}

func (s *story) denyBudget(ctx context.Context) error {
	for s.readBudget > 1 {
		_, r, err := s.call(ctx, s.agent, "ailang-read", "", map[string]any{"path": "note.txt"})
		if err != nil {
			return err
		}
		s.readBudget = r.BudgetAfter
	}
	say("left", "%d call of Workspace.Read; a session for the same episode does not refill it", s.readBudget)
	agent, err := s.narrow(ctx, episode, 3600)
	if err != nil {
		return err
	}
	defer agent.Close()
	return s.denied(ctx, agent, "denied:budget", "ailang-read", map[string]any{"path": "note.txt"})
}
