package overlay

import (
	"io/fs"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"world/confine"
	"world/rootwalk"
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
	return j.replacing(step{Change: Change{Path: name, Kind: Deleted}, replaces: true}, info)
}

// was notes what lay at a path before, if anything. What cannot be read has no hash.
func (j *judge) was(c *Change, before fs.FileInfo) {
	switch {
	case before == nil:
	case before.Mode().IsRegular():
		c.Before, _ = j.digest(j.worktree, c.Path, before)
	case before.Mode()&fs.ModeSymlink != 0:
		c.TargetBefore, _ = j.worktree.Readlink(c.Path)
	}
}

// below holds everything in a directory that is going to be deleted to the law, and
// notes each file and link that goes with it.
func (j *judge) below(dir string) error {
	return rootwalk.Walk(j.worktree, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return broken(name, err)
		}
		if late := j.ctx.Err(); late != nil {
			return late
		}
		if confine.IsAside(path.Base(name)) && !e.IsDir() {
			return nil // a killed write left it
		}
		if j.removed++; j.removed > maxRemoved {
			return refusal(dir, "more than %d files would be deleted", maxRemoved)
		}
		if text := j.law.Protection(name); text != "" {
			return refusal(name, "%s", text)
		}
		if !e.IsDir() {
			j.lose(name, e)
		}
		return nil
	})
}

// lose notes what goes with its directory, and hashes as much as there is time for.
func (j *judge) lose(name string, e fs.DirEntry) {
	if j.lost == MaxListed {
		j.unlisted++
		return
	}
	j.lost++
	lost := step{Change: Change{Path: name, Kind: Deleted}}
	if info, err := e.Info(); err == nil && (!info.Mode().IsRegular() || j.hashed+info.Size() <= maxHashed) {
		j.hashed += info.Size()
		j.was(&lost.Change, info)
	}
	j.steps = append(j.steps, lost)
}
