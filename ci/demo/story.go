package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"world/ci/rig"
	"world/store/record"
)

// story is the state that its steps share.
type story struct {
	world      *rig.World
	credential string     // of the agent that edits files
	agent      *rig.Agent // connected with it
	readBudget int64      // calls left on Workspace.Read, from the last record
	cut        string     // invocation id of the call that the kill cuts
}

type step struct {
	title string
	play  func(context.Context) error
}

func newStory(bin, dir string) (*story, error) {
	world, err := rig.New(bin, dir)
	if err != nil {
		return nil, err
	}
	return &story{world: world}, world.UseHoldTool()
}

func (s *story) steps() []step {
	return []step{
		{"A world begins: the daemon writes the genesis entry and registers its tools", s.begin},
		{"At a terminal, a person publishes a fixture whose declared effects go beyond its access", s.publish},
		{"At a terminal, a person mints a session of six grants with three calls each", s.mint},
		{"An MCP client lists the tools its grants allow", s.list},
		{"It reads a file", s.read},
		{"It writes a file", s.write},
		{"It asks for an effect it was never granted", s.denyEffectName},
		{"It asks for a scope it was never granted", s.denyScope},
		{"Its session expires while its call waits behind another", s.denyExpired},
		{"A second session of the same episode shares its spend, and asks for one call too many", s.denyBudget},
		{"kill -9 while a write is in its handler", s.kill},
		{"The daemon restarts: nothing is lost, nothing is retried", s.restart},
		{"Every call is replayed from its records; no handler runs", s.replay},
		{"fsck derives the whole store again from its bytes", s.fsck},
		{"why: from the written byte back to the grant and its mint", s.why},
	}
}

// say prints one line of what was asked, decided or recorded.
func say(kind, format string, args ...any) {
	fmt.Printf("   %-9s %s\n", kind, fmt.Sprintf(format, args...))
}

// expect fails unless the text holds every part.
func expect(what, text string, parts ...string) error {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return fmt.Errorf("%s should say %q, says: %s", what, part, text)
		}
	}
	return nil
}

// call calls a tool, prints what happened, and returns the answer with its
// effect record, the zero record when there is none.
func (s *story) call(ctx context.Context, agent *rig.Agent, tool, id string, args map[string]any) (rig.Answer, record.EffectRecord, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return rig.Answer{}, record.EffectRecord{}, err
	}
	say("asked", "%s %s", tool, text)
	answer, err := agent.Call(ctx, tool, id, args)
	if err != nil {
		return answer, record.EffectRecord{}, err
	}
	ref := answer.Effect("record")
	if ref == "" {
		return answer, record.EffectRecord{}, nil
	}
	raw, err := s.world.Object(ctx, ref)
	if err != nil {
		return answer, record.EffectRecord{}, err
	}
	r, err := record.DecodeEffect(raw)
	if err != nil {
		return answer, r, err
	}
	decided := "allowed"
	if !r.Allowed {
		decided = r.Denial
	}
	say("decided", "%s for %s on %s, budget %d, then %d", decided, r.Effect, r.Scope, r.BudgetBefore, r.BudgetAfter)
	say("recorded", "%s", ref)
	return answer, r, nil
}

// denied plays a call that must be denied with a label.
func (s *story) denied(ctx context.Context, agent *rig.Agent, label, tool string, args map[string]any) error {
	answer, r, err := s.call(ctx, agent, tool, "", args)
	if err != nil {
		return err
	}
	if r.Denial != label || !answer.IsError {
		return fmt.Errorf("wanted %s and an error, got %+v: %s", label, r, answer.Text)
	}
	say("told", "%s", answer.Text)
	return expect("the answer", answer.Text, label)
}

func sameSet(got, want []string) error {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		return fmt.Errorf("wanted %v, got %v", want, got)
	}
	return nil
}
