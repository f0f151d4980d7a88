package policytool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"world/canon"
	"world/tools/policy"
)

// Bounds of what a list answers.
const (
	standardEntries = 500
	MaxEntries      = 5000
	maxTexts        = 1 << 20 // bytes of all paths and lines of an answer, as it is written
)

// list answers the names in a directory, or with a glob those below it that match.
func list(t *tree, q Request, _ string) Response {
	limit, err := q.number("limit", 1, MaxEntries, standardEntries)
	if err != nil {
		return refused("list: %s", err)
	}
	pattern, globbed := q.Flags["glob"]
	var g glob
	if globbed {
		if g, err = parseGlob(pattern); err != nil {
			return refused("list: %s", err)
		}
	}
	w, err := t.directory(q.Path)
	if err != nil {
		return refused("list %s: %s", q.Path, reason(err))
	}
	defer w.close()
	r, size := Response{OK: true}, 0
	base := w.path()
	v := newVisitor(globbed, func(_ *os.Root, _, path string, info fs.FileInfo) error {
		if globbed && !g.match(strings.TrimPrefix(strings.TrimPrefix(path, base), "/")) {
			return nil
		}
		if int64(len(r.Entries)) == limit {
			return errStop(cutLimit)
		}
		if size += written(path); size > maxTexts {
			return errStop(cutSize)
		}
		r.Entries = append(r.Entries, entry(path, info))
		return nil
	})
	return stopped(r, v.walk(w.here(), base, len(w.names)), "list", q.Path)
}

// written is how many bytes a text takes in an answer: a name may be all escapes.
func written(text string) int { return len(canon.NewString(text).Bytes()) }

// stopped finishes an answer that a walk filled.
func stopped(r Response, err error, op, path string) Response {
	var stop errStop
	switch {
	case errors.As(err, &stop):
		r.Cut, r.Why = true, string(stop)
	case err != nil:
		return refused("%s %s: %s", op, path, reason(err))
	}
	return r
}

func entry(path string, info fs.FileInfo) Entry {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return Entry{path, "file", info.Size()}
	case mode.IsDir():
		return Entry{path, "dir", 0}
	case mode&fs.ModeSymlink != 0:
		return Entry{path, "link", 0}
	}
	return Entry{path, "other", 0}
}

// directory follows a path to a directory that is not closed; "" is the worktree.
func (t *tree) directory(path string) (*walk, error) {
	if text := policy.Closed(path); text != "" {
		return nil, errors.New(text)
	}
	w, err := t.follow(path)
	if err != nil {
		return nil, err
	}
	if text := policy.Closed(w.path()); text != "" {
		err = errors.New(text)
	} else if w.ended {
		err = errNotDirectory
		if w.last == nil {
			err = syscall.ENOENT
		}
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

var errNotDirectory = errors.New("not a directory")
