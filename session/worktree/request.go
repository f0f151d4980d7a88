package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"world/fault"
	"world/store"
)

// Root is the folder that holds the worktrees, one an episode: an absolute path.
type Root string

// Path is where an episode's worktree lies.
func (r Root) Path(episode store.EpisodeID) string {
	return filepath.Join(string(r), string(episode))
}

// Request asks for a worktree.
type Request struct {
	Repository string // absolute path of a repository's top folder
	Episode    store.EpisodeID
	Branch     string // new branch to make at the repository's HEAD; "" for one named as the episode
	Detach     bool   // make no branch
}

// branch is the branch to make, "" for none.
func (q Request) branch() string {
	switch {
	case q.Detach:
		return ""
	case q.Branch != "":
		return q.Branch
	}
	return string(q.Episode)
}

// Check refuses, before anybody is asked, what can be seen to fail: kind Invalid
// for a malformed request or a folder that is no repository with a commit,
// NotFound for a missing folder, Conflict for a worktree or a branch that exists.
func (r Root) Check(ctx context.Context, q Request) error {
	if err := r.check(q); err != nil {
		return err
	}
	_, err := find(ctx, q)
	return err
}

// check is Check for what can be seen without git.
func (r Root) check(q Request) error {
	if _, err := store.ParseEpisodeID(string(q.Episode)); err != nil {
		return err
	}
	if q.Detach && q.Branch != "" {
		return invalid("a worktree has a branch or is detached, not both")
	}
	if q.Branch != "" && !branchName(q.Branch) {
		return invalid("a branch name is 1 to 128 bytes of letters, digits, '.', '_', '-' and '/', as git takes them")
	}
	for what, path := range map[string]string{"repository": q.Repository, "workspace root": string(r)} {
		if !plainPath(path) {
			return invalid("the " + what + " is an absolute path without control characters")
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return fault.Wrap("worktree: check", fault.NotFound, err, "the %s is not a folder", what)
		}
	}
	if _, err := os.Lstat(r.Path(q.Episode)); err == nil {
		return fault.New("worktree: check", fault.Conflict, "episode %s has a worktree already", q.Episode)
	}
	return nil
}

// branchName accepts the plain part of what git accepts, so that no name can be
// an option, a revision expression or a path outside refs/heads.
func branchName(s string) bool {
	if len(s) > 128 || strings.Contains(s, "..") || s == "HEAD" {
		return false
	}
	for _, part := range strings.Split(s, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") == ""
}

func plainPath(s string) bool {
	return filepath.IsAbs(s) && filepath.Clean(s) == s && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func invalid(what string) error {
	return fault.New("worktree: check", fault.Invalid, "%s", what)
}
