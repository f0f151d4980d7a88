package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"world/broker"
	"world/canon"
	"world/confine"
	"world/fault"
	"world/tools/policy"
)

// checkTime bounds the first run of a tool binary, in wall time.
const checkTime = 5 * time.Second

// Check runs the tool once, as it will run, and asks for its summary: so that what
// is no tool binary, or one that reads the policy otherwise, is found before an
// agent pays for it. Unavailable when it does not answer as the contract says
// (reference/world.md §7.3). world-tool itself needs no check: it is this build's.
func (h *Handler) Check(ctx context.Context) (err error) {
	if h.tool == nil {
		return nil
	}
	const op = "tools: check"
	fail := func(what string) error {
		return fault.New(op, fault.Unavailable, "the tool binary does not answer policy-tool's summary as the contract says: %s", what)
	}
	// An episode's name never begins with a dot.
	worktree, err := os.MkdirTemp(h.root, ".check-")
	if err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "the workspace root cannot be written")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(worktree)) }()
	user := int(confine.UserOf(""))
	if err := os.Lchown(worktree, user, user); err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "the workspace root cannot be given to programs")
	}
	rules, err := policy.For(worktree).Render()
	if err != nil {
		return err
	}
	result, err := h.jail.Run(ctx, h.spec(broker.Job{Effect: WorkspaceRead, Deadline: checkTime}, worktree, rules, []byte(`{"op":"summary"}`)))
	if err != nil {
		return err
	}
	if result.Bound != confine.Unbounded || result.Exit != 0 {
		return fail(fmt.Sprintf("it ended with exit code %d, %s", result.Exit, result.Bound))
	}
	answer, problem := readAnswer(result.Stdout)
	if problem != "" {
		return fail("its answer " + problem)
	}
	if refused, ok := textOf(answer, "refused"); ok || !succeeded(answer) {
		return fail("it refused: " + withoutPath(refused, worktree))
	}
	if wrong := misread(answer, worktree, policy.Digest(rules)); wrong != "" {
		return fail("its summary has another " + wrong)
	}
	return nil
}

// misread names what a summary says otherwise than the policy does, "" for nothing.
func misread(answer canon.Value, worktree, digest string) string {
	summary, _ := answer.Get("summary")
	for _, want := range []struct{ name, text string }{
		{"security_mode", policy.Restricted}, {"fs_sandbox", worktree}, {"policy_digest", digest},
	} {
		if got, ok := textOf(summary, want.name); !ok || got != want.text {
			return want.name
		}
	}
	if cli, ok := summary.Get("cli"); !ok || cli.Kind() != canon.Array {
		return "cli"
	}
	var ops []string
	list, _ := summary.Get("ops")
	for _, item := range list.Items() {
		name, _ := item.Text()
		ops = append(ops, name)
	}
	for _, needed := range allowed {
		for _, name := range needed {
			if !slices.Contains(ops, name) {
				return "ops"
			}
		}
	}
	return ""
}
