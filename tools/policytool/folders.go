package policytool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"world/tools/overlay"
)

// errParent refuses to make what a path passes through only to leave it again.
var errParent = errors.New("a folder on the way is not there, and \"..\" makes none")

// errDeep refuses a folder that neither list nor search would enter.
var errDeep = fmt.Errorf("no folder is made below %d others", maxDepth)

// folders are those that a write has made, outermost first.
type folders []made

// made is one of them.
type made struct {
	path string // without links
	info fs.FileInfo
}

// makeFolders makes the directories above a path that are not there. Each is held to
// the same law as a file in its place, and what is refused leaves none of them.
func (t *tree) makeFolders(path string) (all folders, err error) {
	parts := strings.Split(path, "/")
	if slices.Contains(parts, "..") {
		return nil, errParent
	}
	defer func() {
		if err != nil {
			all.undo(t)
			all = nil
		}
	}()
	for i := 1; i < len(parts); i++ {
		p, err := t.locateUnless(strings.Join(parts[:i], "/"), t.policy.Protection)
		if errors.Is(err, syscall.EISDIR) {
			continue
		}
		if err != nil {
			return all, err
		}
		folder, err := p.mkdir()
		if err != nil {
			return all, err
		}
		all = append(all, folder)
	}
	return all, nil
}

// mkdir makes a folder where nothing is, and gives up the place.
func (p place) mkdir() (made, error) {
	defer p.Close()
	if p.info != nil {
		return made{}, syscall.ENOTDIR
	}
	if strings.Count(p.path, "/") >= maxDepth {
		return made{}, errDeep
	}
	if err := p.dir.Mkdir(p.name, 0o755); err != nil {
		return made{}, err
	}
	info, err := p.dir.Lstat(p.name)
	return made{p.path, info}, err
}

// undo removes the folders, unless something is in them by now.
func (f folders) undo(t *tree) {
	for _, m := range slices.Backward(f) {
		if info, err := t.root.Lstat(m.path); err == nil && os.SameFile(info, m.info) {
			t.root.Remove(m.path)
		}
	}
}

// keep tells of the folders as a run tells of those it made.
func (f folders) keep() (changes []overlay.Change) {
	for _, m := range f {
		changes = append(changes, overlay.Change{Path: m.path, Kind: overlay.Directory})
	}
	return changes
}
