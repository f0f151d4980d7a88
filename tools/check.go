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

// checkTime bounds one question to a tool binary at start, in wall time.
const checkTime = 5 * time.Second

// Check asks the tool for its summary, as it will run, under each policy that it
// will be given: so that what is no tool binary, or one that reads a policy otherwise,
// is found before an agent pays for it. Unavailable when it does not answer as the
// contract says (reference/world.md §7.3). world-tool itself needs no check: it is
// this build's. What the tool says that it serves is kept.
func (h *Handler) Check(ctx context.Context) (err error) {
	if h.tool == nil {
		return nil
	}
	// An episode's name never begins with a dot.
	worktree, err := os.MkdirTemp(h.root, ".check-")
	if err != nil {
		return fault.Wrap("tools: check", fault.Unavailable, err, "the workspace root cannot be written")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(worktree)) }()
	if err := confine.HandOver(worktree, confine.OfWorktree(worktree)); err != nil {
		return fault.Wrap("tools: check", fault.Unavailable, err, "the workspace root cannot be given to programs")
	}
	var found *said
	for _, p := range h.variants(worktree) {
		summary, err := h.ask(ctx, worktree, p)
		if err != nil {
			return err
		}
		if found == nil {
			found = readSaid(summary)
		}
	}
	h.said = found
	return nil
}

// variants are the policies that a tool may be given: an episode's, and one for
// each kind of run.
func (h *Handler) variants(worktree string) []policy.Policy {
	all := []policy.Policy{policy.For(worktree), policy.ForRun(worktree, []string{}, nil)}
	for _, cap := range h.allow {
		all = append(all, policy.ForRun(worktree, []string{cap}, h.netAllow))
	}
	return all
}

// ask gets the tool's summary under one policy and holds it to that.
func (h *Handler) ask(ctx context.Context, worktree string, p policy.Policy) (summary canon.Value, err error) {
	fail := func(what string) (canon.Value, error) {
		return summary, fault.New("tools: check", fault.Unavailable, "the tool binary does not answer policy-tool's summary as the contract says: %s", what)
	}
	rules, err := p.Render()
	if err != nil {
		return summary, err
	}
	question := request{op: "summary", value: canon.NewObject([]canon.Member{{Name: "op", Value: canon.NewString("summary")}})}
	result, err := h.jail.Run(ctx, h.spec(broker.Job{Effect: WorkspaceRead, Deadline: checkTime}, worktree, rules, question))
	if err != nil {
		return summary, err
	}
	if result.Bound != confine.Unbounded || result.Exit != 0 {
		return fail(ending(result))
	}
	answer, problem := readAnswer(result.Stdout)
	if problem != "" {
		return fail("its answer " + problem)
	}
	if refused, ok := textOf(answer, "refused"); ok || !succeeded(answer) {
		return fail("it refused: " + withoutPath(refused, worktree))
	}
	summary, _ = answer.Get("summary")
	if wrong := misread(summary, p, policy.Digest(rules)); wrong != "" {
		return fail("its summary has another " + wrong)
	}
	return summary, nil
}

// ending says how a tool ended that gave no answer. A shell's 126 and 127 mean that
// what its script starts could not be: in the jail most of the machine is not there.
func ending(r confine.Result) string {
	text := fmt.Sprintf("it ended with exit code %d", r.Exit)
	if r.Bound != confine.Unbounded {
		text += ", " + string(r.Bound)
	}
	if r.Exit == 126 || r.Exit == 127 {
		text += ", as a script does when the program that it starts cannot be run or is hidden: what the tool needs must lie in the tool's own folder"
	}
	return text
}

// contractOps are the operations that any tool binary must have.
var contractOps = []string{"read", "write", "edit", "ai_check", "builtins_list", "examples_search"}

// misread names what a summary says otherwise than the policy does, "" for nothing.
func misread(summary canon.Value, p policy.Policy, digest string) string {
	if wrong := otherThan(summary, p, digest); wrong != "" {
		return wrong
	}
	if at, _ := textOf(summary, "fs_sandbox"); at != p.Sandbox {
		return "fs_sandbox"
	}
	if cli, ok := summary.Get("cli"); !ok || cli.Kind() != canon.Array {
		return "cli"
	}
	ops := texts(summary, "ops")
	for _, needed := range contractOps {
		if !slices.Contains(ops, needed) {
			return "ops"
		}
	}
	return ""
}
