package worktree

import (
	"context"
	"errors"
	"os"

	"world/confine"
	"world/fault"
)

// Discard takes away the files of a worktree that was found, and what its
// repository knows of it. The branch goes too when nothing is on it that the
// repository's own head lacks; else it stays, for it is somebody's work. No
// program of the worktree's user may run any more. It runs to its end even when
// ctx has ended.
func (w Worktree) Discard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_ = readable(w.Path) // what stays closed fails to be removed
	// git would look into the worktree first; files are only removed here.
	if err := os.RemoveAll(w.Path); err != nil {
		return fault.Wrap("worktree: discard", fault.Failed, err, "the worktree's files could not all be removed")
	}
	if _, err := w.git.run(ctx, "--git-dir="+w.common, "worktree", "remove", "--force", "--", w.Path); err != nil {
		return err
	}
	if w.Branch != "" {
		// A refusal means that the branch has something on it.
		_, _ = w.git.run(ctx, "--git-dir="+w.common, "branch", "--delete", "--", w.Branch)
	}
	return nil
}

// HandBack gives a worktree that is kept to this process's user, who is the
// operator, without what killed calls left in it: nothing of the ended episode writes there any more.
func (w Worktree) HandBack() error {
	if err := errors.Join(readable(w.Path), sweep(w.Path), own(w.Path, confine.User(os.Geteuid()))); err != nil {
		return fault.Wrap("worktree: hand back", fault.Failed, err, "the worktree's files could not all be handed back")
	}
	return nil
}
