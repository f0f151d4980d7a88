// Package tools is the coding tools: the transitions that agents call, and the
// handler that carries out what they plan.
//
// Transitions are pure Starlark functions that check their arguments and plan at
// most one effect. The handler runs one tool binary, world-tool or another that
// speaks the same contract, in the jail, on the episode's own worktree, under the
// episode's own policy file. It promises that nothing outside that worktree is
// written and nothing outside it that belongs to the operator is read, whatever
// the binary or the request does; that an effect that may have written and did not
// answer readably is indeterminate, never failed; and that no host path and no
// stderr of the binary reaches an agent.
//
// Source: reference/world.md §7.1 to §7.6, reference/tool-contract.md; DESIGN D24
// and D26.
package tools
