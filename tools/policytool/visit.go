package policytool

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"world/tools/policy"
)

// Bounds of one walk through a worktree.
const (
	maxVisited = 100_000         // names
	maxDepth   = 48              // directories below each other, each held open
	visitTime  = 4 * time.Second // wall time
	chunk      = 1024            // names read from a directory at a time
)

// Reasons why an answer is cut.
const (
	cutLimit = "limit" // of what was asked for
	cutSize  = "size"  // of the worktree, or of the answer
	cutDepth = "depth" // some folders lie too deep to be entered; nothing else was left out
	cutTime  = "time"
)

// errStop ends a walk early. Its text is the reason.
type errStop string

func (e errStop) Error() string { return string(e) }

// visitor walks a part of the worktree in byte order of the paths, follows no link
// and enters no .git.
type visitor struct {
	left int
	end  time.Time
	each func(dir *os.Root, name, path string, info fs.FileInfo) error
	deep bool // enter directories below the first
	past bool // something lies deeper than it goes
}

func newVisitor(deep bool, each func(dir *os.Root, name, path string, info fs.FileInfo) error) *visitor {
	return &visitor{left: maxVisited, end: time.Now().Add(visitTime), each: each, deep: deep}
}

// walk calls each for every name below a directory, whose path it is given. What lies
// too deep is passed over, and said at the end.
func (v *visitor) walk(dir *os.Root, path string, depth int) error {
	err := v.visit(dir, path, depth)
	if err == nil && v.past {
		return errStop(cutDepth)
	}
	return err
}

func (v *visitor) visit(dir *os.Root, path string, depth int) error {
	names, err := v.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		below := strings.TrimSuffix(name, "/")
		at := below
		if path != "" {
			at = path + "/" + below
		}
		if policy.Closed(at) != "" {
			continue
		}
		if time.Now().After(v.end) {
			return errStop(cutTime)
		}
		info, err := dir.Lstat(below)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went away meanwhile
		}
		if err != nil {
			return err
		}
		if err := v.each(dir, below, at, info); err != nil {
			return err
		}
		if info.IsDir() && v.deep {
			if err := v.enter(dir, below, at, info, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter visits a directory, if it is still the one that was looked at. One that
// its owner has closed is passed over.
func (v *visitor) enter(dir *os.Root, name, path string, info fs.FileInfo, depth int) error {
	if depth > maxDepth {
		v.past = true
		return nil
	}
	below, err := openSame(dir, name, info)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errEscapes) {
		return nil
	}
	if err != nil {
		return err
	}
	defer below.Close()
	return v.visit(below, path, depth)
}

// names lists a directory such that paths come in byte order: a directory stands
// where its slash puts it.
func (v *visitor) names(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []string
	for {
		entries, err := f.ReadDir(chunk)
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		if v.left -= len(entries); v.left < 0 {
			return nil, errStop(cutSize)
		}
		if len(entries) == 0 || err != nil {
			slices.Sort(names)
			return names, nil
		}
	}
}
