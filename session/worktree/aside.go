package worktree

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"world/confine"
	"world/rootwalk"
)

// unfinished reports whether a change is what a tool has not put in its place, which
// is nobody's work.
func (c Change) unfinished() bool {
	return c.New && slices.ContainsFunc(strings.Split(c.Path, "/"), confine.IsAside)
}

// sweep removes what killed calls left of that, at any depth. Nothing of the episode
// may run any more.
func sweep(at string) error {
	root, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer root.Close()
	return rootwalk.Walk(root, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !confine.IsAside(path.Base(name)):
			return err
		case !e.IsDir():
			return root.Remove(name)
		}
		if err := confine.RemoveAside(root, name); err != nil {
			return err
		}
		return fs.SkipDir
	})
}
