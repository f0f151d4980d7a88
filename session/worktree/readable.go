package worktree

import (
	"errors"
	"io/fs"
	"os"

	"world/rootwalk"
)

// readable lets their owner read the files and use the folders of a worktree that
// a program closed to him, so that they can be compared, handed back and removed.
// Links are not followed, and nothing outside the worktree is touched even while
// somebody changes it.
func readable(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return rootwalk.Walk(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		need, ok := map[fs.FileMode]fs.FileMode{0: 0o400, fs.ModeDir: 0o700}[e.Type()]
		if !ok {
			return nil
		}
		info, err := e.Info()
		if err == nil && info.Mode()&need != need {
			err = root.Chmod(name, info.Mode().Perm()|need)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has gone meanwhile
		}
		return err
	})
}
