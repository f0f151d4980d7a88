package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"world/confine"
	"world/fault"
)

// Worktree is an added worktree.
type Worktree struct {
	Path   string
	Commit string // object id of the commit that was checked out
	Branch string // the branch that was made, "" when detached

	common string // the repository's own folder
	git    tool
}

// Add adds a worktree and fills it from the repository's HEAD. A failure leaves
// neither worktree nor branch behind. When this process is root the files belong
// to the episode's own user afterwards.
func (r Root) Add(ctx context.Context, q Request) (Worktree, error) {
	if err := r.check(q); err != nil {
		return Worktree{}, err
	}
	from, err := find(ctx, q)
	if err != nil {
		return Worktree{}, err
	}
	w := Worktree{Path: r.Path(q.Episode), Commit: from.commit, common: from.common, git: from.git}
	args := []string{"-C", w.git.repository, "worktree", "add", "--no-checkout"}
	if w.Branch = q.branch(); w.Branch == "" {
		args = append(args, "--detach")
	} else {
		args = append(args, "-b", w.Branch)
	}
	if _, err := w.git.run(ctx, append(args, "--", w.Path, w.Commit)...); err != nil {
		return Worktree{}, err
	}
	if err := errors.Join(w.fill(ctx), own(w.Path, confine.OfWorktree(w.Path))); err != nil {
		return Worktree{}, errors.Join(err, w.Remove(ctx))
	}
	return w, nil
}

// source is what a worktree is made from.
type source struct {
	git    tool
	common string // the repository's own folder
	commit string // object id at HEAD
}

// find looks a request's repository up.
func find(ctx context.Context, q Request) (source, error) {
	repository, err := filepath.EvalSymlinks(q.Repository)
	if err != nil {
		return source{}, fault.Wrap("worktree: find", fault.NotFound, err, "the repository is not a folder")
	}
	s := source{git: tool{repository: repository, env: []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(repository)}}}
	if _, err := s.git.run(ctx, "-C", repository, "rev-parse", "--git-dir"); err != nil {
		if strings.Contains(fault.Detail(err), "not a git repository") {
			err = fault.New("worktree: find", fault.Invalid, "the repository is not the top folder of a git repository")
		}
		return source{}, err
	}
	out, err := s.git.run(ctx, "-C", repository, "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--verify", "HEAD^{commit}")
	if err != nil {
		if strings.Contains(fault.Detail(err), "Needed a single revision") {
			err = fault.New("worktree: find", fault.Invalid, "the repository has no commit at HEAD; make one first")
		}
		return source{}, err
	}
	common, commit, ok := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	if !ok || !objectID(commit) || !plainPath(common) {
		return source{}, fault.New("worktree: find", fault.Failed, "git gave no usable HEAD")
	}
	s.common, s.commit = common, commit
	if name := q.branch(); name != "" {
		if out, err = s.git.run(ctx, "-C", repository, "for-each-ref", "--count=1", "refs/heads/"+name); err == nil && out != "" {
			err = fault.New("worktree: find", fault.Conflict, "the repository has a branch %s, or one below that name, already", name)
		}
	}
	return s, err
}

// fill writes the commit's files.
func (w Worktree) fill(ctx context.Context) error {
	admin, err := pointer(w.Path)
	if err != nil {
		return err
	}
	if filepath.Dir(admin) != filepath.Join(w.common, "worktrees") {
		return fault.New("worktree: fill", fault.Failed, "the new worktree belongs to another repository")
	}
	return w.git.checkout(ctx, w.common, w.Commit, w.Path, filepath.Join(admin, "index"))
}

// Remove takes the worktree and its branch away again. It runs to its end even
// when ctx has ended, for it undoes what a caller gave up.
func (w Worktree) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, err := w.git.run(ctx, "-C", w.git.repository, "worktree", "remove", "--force", "--", w.Path)
	if w.Branch != "" && err == nil {
		// Only as Add made it: a branch that has moved is somebody's work.
		_, err = w.git.run(ctx, "-C", w.git.repository, "update-ref", "-d", "refs/heads/"+w.Branch, w.Commit)
	}
	return err
}

// own hands the worktree to the episode's user. Nothing of the episode runs yet,
// so the tree holds still, and links are not followed. The .git file stays the
// operator's, and the folder is closed to other users.
func own(path string, user confine.User) error {
	if err := os.Chmod(path, 0o700); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == filepath.Join(path, ".git") {
			return err
		}
		return confine.HandOver(name, user)
	})
}

func objectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
