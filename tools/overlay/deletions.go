package overlay

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// whiteout reports the mark of the overlay for a name that was deleted. Programs
// cannot make it through the overlay.
func whiteout(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && stat.Rdev == 0
}

// opaque reports the overlay's mark on a directory that was deleted and made anew.
func (j *judge) opaque(name string) (bool, error) {
	f, err := openDir(j.layer, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	mark := make([]byte, 1)
	n, err := unix.Fgetxattr(int(f.Fd()), "user.overlay.opaque", mark)
	if err == unix.ENODATA || err == unix.ENOTSUP {
		return false, nil
	}
	return n == 1 && mark[0] == 'y', err
}

// remove deletes a name of the worktree with all below it, each of which the law
// must admit: who may not write a name may not delete its parent either.
func (j *judge) remove(name string) error {
	info, err := j.worktree.Lstat(name)
	if err != nil {
		return broken(name, err)
	}
	s := step{Change: Change{Path: name, Kind: Deleted}, replaces: true}
	if info.IsDir() {
		if err := j.below(name); err != nil {
			return err
		}
	} else if info.Mode().IsRegular() {
		s.Before, _ = digest(j.worktree, name, info) // none for what cannot be read
	}
	return j.add(s)
}

// below holds everything in a directory that is going to be deleted to the law.
func (j *judge) below(dir string) error {
	return fs.WalkDir(j.worktree.FS(), dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return broken(name, err)
		}
		if j.removed++; j.removed > maxRemoved {
			return refusal(dir, "more than %d files would be deleted", maxRemoved)
		}
		if text := j.law.Protection(name); text != "" {
			return refusal(name, "%s", text)
		}
		return nil
	})
}
