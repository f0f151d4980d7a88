package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"world/confine"
	"world/fault"
	"world/infile"
)

// Change is one file that differs from the commit. Lines are -1 for a binary file.
type Change struct {
	Path           string // slash-separated, relative to the worktree
	Added, Deleted int64  // lines
	New, Gone      bool   // the file was not there before, is not there any more
}

// Changes is how a worktree differs from its commit.
type Changes struct {
	List []Change // what the commit has first, then what is new, both by path
	More bool     // files are new and are not in the list: they are too many, or their names too long
}

// comparing bounds the comparison of a worktree with its commit.
var comparing = confine.Limits{
	Wall: 30 * time.Second, CPU: 30 * time.Second, Memory: 1 << 30, FileSize: 1 << 20,
	Files: 64, Processes: 64, Output: 4 << 20, Scratch: 1 << 20,
}

// Changes compares the worktree with its commit. The commit is written out anew beside
// the worktree, and a git that knows no repository compares the two in the jail, so that
// nothing of the worktree is ever interpreted outside (D29). What a program closed to
// its own user is opened to him first. Files that are new are asked for by themselves:
// however many they are, they hide nothing of what the commit has. Files of no regular
// kind, and more than 4 MiB about those of the commit, make it fail: kind Failed, or
// Limit, and then nothing is known.
func (w Worktree) Changes(ctx context.Context, jail *confine.Jail, user confine.User) (all Changes, err error) {
	const op = "worktree: changes"
	if err := readable(w.Path); err != nil {
		return all, fault.Wrap(op, fault.Failed, err, "the worktree's files could not all be made readable")
	}
	base, err := os.MkdirTemp(filepath.Dir(w.Path), ".base-")
	if err != nil {
		return all, fault.Wrap(op, fault.Unavailable, err, "no room beside the worktree")
	}
	defer os.RemoveAll(base)
	private, err := os.MkdirTemp("", "world-index-")
	if err != nil {
		return all, fault.Wrap(op, fault.Unavailable, err, "no temporary folder")
	}
	defer os.RemoveAll(private)
	if err := w.git.checkout(ctx, w.common, w.Commit, base, filepath.Join(private, "index")); err != nil {
		return all, err
	}
	// Both sides have the same .git file, so that it is no difference.
	text, err := infile.Read(filepath.Join(w.Path, ".git"), maxPointer)
	if err = errors.Join(err, os.WriteFile(filepath.Join(base, ".git"), text, 0o644), own(base, user)); err != nil {
		return all, fault.Wrap(op, fault.Unavailable, err, "the commit could not be laid beside the worktree")
	}
	git, err := sealed()
	if err != nil {
		return all, err
	}
	defer git.Close()
	compared := func(filter string) ([]Change, error) { return w.compare(ctx, jail, user, git, base, filter) }
	if all.List, err = compared("a"); err != nil {
		return Changes{}, err
	}
	fresh, err := compared("A")
	if all.More = fault.Is(err, fault.Limit); err != nil && !all.More {
		return Changes{}, err
	}
	all.List = append(all.List, fresh...)
	return all, nil
}

// compare has git list the differences that a filter of its own admits.
func (w Worktree) compare(ctx context.Context, jail *confine.Jail, user confine.User, git *confine.Image, base, filter string) ([]Change, error) {
	const op = "worktree: changes"
	r, err := jail.Run(ctx, confine.Spec{
		Floor: confine.Landlock, Program: git, User: user, Limits: comparing, Readable: []string{base, w.Path},
		Args: []string{"diff", "--no-index", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-filter=" + filter, "--", base, w.Path},
		Env:  environment,
	})
	switch {
	case err != nil:
		return nil, err
	case r.Bound != confine.Unbounded:
		return nil, fault.New(op, fault.Limit, "the comparison met its limit: %s", r.Bound)
	case r.Exit != 0 && r.Exit != 1, len(r.Stderr) > 0: // exit 1: there are differences, or a folder was not there
		return nil, fault.New(op, fault.Failed, "git cannot compare the worktree: %s", reason(string(r.Stderr)))
	}
	return parseChanges(string(r.Stdout), base+"/", w.Path+"/")
}

// sealed is git, in memory, from where distributions install it.
func sealed() (*confine.Image, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, fault.Wrap("worktree: changes", fault.Unavailable, err, "git is not installed")
	}
	return confine.SealFile(path)
}

// parseChanges reads what git diff --no-index --numstat -z prints of two folders:
// lines added, lines deleted, nothing, and the two names, each but the counts with
// a NUL behind it.
func parseChanges(out, base, tree string) (changes []Change, err error) {
	bad := fault.New("worktree: changes", fault.Failed, "git's comparison cannot be read")
	fields := strings.Split(out, "\x00")
	if fields[len(fields)-1] != "" || len(fields)%3 != 1 {
		return nil, bad
	}
	for i := 0; i+2 < len(fields); i += 3 {
		counts := strings.Split(fields[i], "\t")
		was, wasThere := strings.CutPrefix(fields[i+1], base)
		is, isThere := strings.CutPrefix(fields[i+2], tree)
		c := Change{Path: is, New: !wasThere, Gone: !isThere, Added: -1, Deleted: -1}
		if c.Gone {
			c.Path = was
		}
		if len(counts) != 3 || c.New && c.Gone || !c.New && !c.Gone && was != is {
			return nil, bad
		}
		if counts[0] != "-" {
			var second error
			c.Added, err = strconv.ParseInt(counts[0], 10, 64)
			c.Deleted, second = strconv.ParseInt(counts[1], 10, 64)
			if errors.Join(err, second) != nil {
				return nil, bad
			}
		}
		if !c.unfinished() {
			changes = append(changes, c)
		}
	}
	return changes, nil
}
