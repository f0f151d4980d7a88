// Package worktree gives an episode a git worktree of the operator's repository.
//
// A repository is hostile: its configuration, hooks and attributes may name
// programs. The package promises that adding and removing a worktree executes
// none of them. "git worktree add" runs without hooks, without fsmonitor, without
// transports and without checking anything out; the files are then written by a
// git that reads the repository's objects alone, through a private git directory
// with an empty configuration, so that no filter is defined, not even by an
// include that only the new worktree would meet. Files that a filter would turn
// into others (Git LFS) therefore stay as they are stored, and submodules stay
// empty. It runs nothing inside the worktree afterwards: that is the jail's business.
//
// Source: DESIGN D29; D26 for the worktree's owner.
package worktree
