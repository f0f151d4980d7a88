package policytool

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"world/tools/overlay"
)

// errParent refuses to make what a path passes through only to leave it again.
var errParent = errors.New("a folder on the way is not there, and \"..\" makes none")

// folders are those that a write has made, outermost first.
type folders []place

// makeFolders makes the directories above a path that are not there. Each is held to
// the same law as a file in its place, and what is refused leaves none of them.
func (t *tree) makeFolders(path string) (made folders, err error) {
	parts := strings.Split(path, "/")
	if slices.Contains(parts, "..") {
		return nil, errParent
	}
	defer func() {
		if err != nil {
			made.undo()
			made = nil
		}
	}()
	for i := 1; i < len(parts); i++ {
		p, err := t.locateUnless(strings.Join(parts[:i], "/"), t.policy.Protection)
		if errors.Is(err, syscall.EISDIR) {
			continue
		}
		if err != nil {
			return made, err
		}
		if p.info != nil {
			p.Close()
			return made, syscall.ENOTDIR
		}
		if err := p.dir.Mkdir(p.name, 0o755); err != nil {
			p.Close()
			return made, err
		}
		made = append(made, p)
	}
	return made, nil
}

// undo removes the folders, unless something is in them by now.
func (f folders) undo() {
	for _, p := range slices.Backward(f) {
		p.dir.Remove(p.name)
		p.Close()
	}
}

// keep tells of the folders as a run tells of those it made.
func (f folders) keep() (changes []overlay.Change) {
	for _, p := range f {
		changes = append(changes, overlay.Change{Path: p.path, Kind: overlay.Directory})
		p.Close()
	}
	return changes
}
