package overlay

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// link admits a relative link that cannot lead out: it goes up first, no further
// than to the worktree, and then only down.
func (j *judge) link(name string, before fs.FileInfo) error {
	target, err := j.layer.Readlink(name)
	if err != nil {
		return broken(name, err)
	}
	if before != nil && before.Mode()&fs.ModeSymlink != 0 {
		if old, err := j.worktree.Readlink(name); err == nil && old == target {
			return nil
		}
	}
	at := strings.Split(path.Dir(name), "/")
	if at[0] == "." {
		at = nil
	}
	down := false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "." || part == "" && target != "" && target[0] != '/':
		case part == ".." && !down && len(at) > 0:
			at = at[:len(at)-1]
		case part == ".." || part == "" || !utf8.ValidString(part):
			return refusal(name, "is a link that leads out of the worktree, or goes up after it has gone down")
		default:
			at, down = append(at, part), true
		}
	}
	if text := j.law.Protection(path.Join(at...)); text != "" {
		return refusal(name, "is a link to a protected name: %s", text)
	}
	return j.replacing(step{Change: Change{Path: name, Kind: Link, Target: target}}, before)
}
