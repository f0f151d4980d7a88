package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"world/fault"
	"world/infile"
	"world/store"
)

// Find returns an episode's worktree as it lies there: the commit that its branch,
// or its detached head, is at now. NotFound when there is none. Whatever the
// episode's programs may have written is not believed: the repository must know
// this very worktree, and lie outside the workspace root.
func (r Root) Find(ctx context.Context, episode store.EpisodeID) (Worktree, error) {
	const op = "worktree: find"
	path := r.Path(episode)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Worktree{}, fault.New(op, fault.NotFound, "episode %s has no worktree here", episode)
	}
	if err != nil || !info.IsDir() {
		return Worktree{}, fault.Wrap(op, fault.Failed, err, "the worktree is not a folder")
	}
	admin, err := pointer(path)
	if err != nil {
		return Worktree{}, err
	}
	common := filepath.Dir(filepath.Dir(admin))
	if err := r.knows(admin, common, path); err != nil {
		return Worktree{}, err
	}
	w := Worktree{Path: path, common: common, git: tool{repository: common}}
	if head, err := infile.Read(filepath.Join(admin, "HEAD"), maxPointer); err == nil {
		name, ok := strings.CutPrefix(strings.TrimSuffix(string(head), "\n"), "ref: refs/heads/")
		if ok && branchName(name) {
			w.Branch = name
		}
	}
	commit, err := w.git.run(ctx, "--git-dir="+admin, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return Worktree{}, err
	}
	if w.Commit = strings.TrimSuffix(commit, "\n"); !objectID(w.Commit) {
		return Worktree{}, fault.New(op, fault.Failed, "git gave no usable HEAD of the worktree")
	}
	return w, nil
}

// knows holds that the folder admin of a repository is about the worktree at path.
func (r Root) knows(admin, common, path string) error {
	const op = "worktree: find"
	real, err := filepath.EvalSymlinks(common)
	if err != nil {
		return fault.Wrap(op, fault.Failed, err, "the worktree's repository is gone")
	}
	if rel, err := filepath.Rel(string(r), real); err == nil && filepath.IsLocal(rel) {
		return fault.New(op, fault.Failed, "the worktree names a repository below the workspace root")
	}
	back, err := infile.Read(filepath.Join(admin, "gitdir"), maxPointer)
	if err != nil {
		return fault.Wrap(op, fault.Failed, err, "the repository knows no such worktree")
	}
	named, err := os.Lstat(strings.TrimSuffix(string(back), "\n"))
	ours, otherErr := os.Lstat(filepath.Join(path, ".git"))
	if err = errors.Join(err, otherErr); err != nil || !os.SameFile(named, ours) {
		return fault.Wrap(op, fault.Failed, err, "the repository's worktree of that name is another")
	}
	return nil
}

// ours reports whether a file belongs to this process's user, which is never an episode's.
func ours(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}
