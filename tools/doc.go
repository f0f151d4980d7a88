// Package tools is the coding tools: the transitions that agents call, and the
// handler that carries out what they plan.
//
// Transitions are pure Starlark functions that check their arguments and plan at
// most one effect. The handler runs one tool binary, world-tool or another that
// speaks the same contract, in the jail, on the episode's own worktree, under the
// episode's own policy file; what another tool does not say it does, world-tool does.
// It promises that nothing outside that worktree is written and nothing outside it
// that belongs to the operator is read, whatever the binary, the request or the
// program does; that an effect that may have written and did not answer readably is
// indeterminate, never failed; that what a program changed is taken over whole or not
// at all; that a limit is told only where our own clock and count bear it out; and
// that no host path of ours reaches an agent, and no stderr of the binary but a
// program's and, bounded, the one line in which the contract has it give its reason.
// It does not promise that a program cannot find out where its worktree lies.
//
// Source: reference/world.md §7.1 to §7.6, reference/tool-contract.md; DESIGN D24,
// D26 to D28 and D31.
package tools
