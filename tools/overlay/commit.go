package overlay

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"world/confine"
	"world/store"
)

// oneByOne is how many files are brought down to the disk each for itself; for more
// it is quicker to wait for all of the file system once.
const oneByOne = 16

// setAside writes what is to become files and links, under the numbers of their
// steps, into a folder of its own, which is also where folders go that are to be
// removed. Its name is "" when there is nothing. An error is a refusal: nothing of the
// worktree has changed.
func (j *judge) setAside() (aside string, err error) {
	if err := confine.SweepAside(j.worktree); err != nil {
		return "", refusal(".", "what an earlier run left cannot be removed: %s", reason(err))
	}
	files := 0
	for _, s := range j.steps {
		if s.Kind != Mode && s.Kind != Directory || s.replaces {
			files++
		}
	}
	if files == 0 {
		return "", nil
	}
	aside = confine.Aside()
	if err := j.worktree.Mkdir(aside, 0o700); err != nil {
		return "", refusal(".", "what the program changed cannot be written: %s", reason(err))
	}
	if err := j.fill(aside, files <= oneByOne); err != nil {
		j.clear(aside)
		return "", err
	}
	return aside, nil
}

// fill writes the files and links of the steps, all of it down to the disk.
func (j *judge) fill(aside string, each bool) error {
	dir, err := j.worktree.OpenRoot(aside)
	if err != nil {
		return broken(".", err)
	}
	defer dir.Close()
	for i, s := range j.steps {
		var err error
		switch {
		case j.ctx.Err() != nil:
			return j.ctx.Err()
		case s.Kind == Link:
			err = dir.Symlink(s.Target, strconv.Itoa(i))
		case s.Kind == Created || s.Kind == Changed:
			err = j.copy(s, dir, strconv.Itoa(i), each)
		}
		if err != nil {
			return j.unless(refusal(s.Path, "cannot be written: %s", reason(err)))
		}
	}
	if each {
		return nil
	}
	all, err := dir.Open(".")
	if err != nil {
		return broken(".", err)
	}
	defer all.Close()
	if err := unix.Syncfs(int(all.Fd())); err != nil {
		return refusal(".", "what the program changed cannot be written: %s", reason(err))
	}
	return nil
}

// copy writes a file of the layer to a new file, down to the disk if need be.
func (j *judge) copy(s step, dir *os.Root, to string, sync bool) error {
	from, err := openFile(j.layer, s.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := dir.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, j.timed(from))
	err = errors.Join(err, f.Chmod(s.mode))
	if sync {
		err = errors.Join(err, f.Sync())
	}
	return errors.Join(err, f.Close())
}

// carryOut changes the worktree, step by step.
func (j *judge) carryOut(aside string) error {
	for i, s := range j.steps {
		var err error
		if s.replaces {
			err = j.retire(s.Path, path.Join(aside, "gone-"+strconv.Itoa(i)))
		}
		switch {
		case err != nil:
		case s.Kind == Directory:
			if err = j.worktree.Mkdir(s.Path, s.mode); err == nil {
				err = j.worktree.Chmod(s.Path, s.mode) // whatever the umask
			}
		case s.Kind == Mode:
			err = j.worktree.Chmod(s.Path, s.mode)
		case s.Kind != Deleted:
			err = j.worktree.Rename(path.Join(aside, strconv.Itoa(i)), s.Path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// retire deletes a name. A directory goes aside at once with all below it, however
// much that is; one that is closed to its owner too: the program could have opened it.
func (j *judge) retire(name, to string) error {
	info, err := j.worktree.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return j.worktree.Remove(name)
	}
	if err := j.worktree.Chmod(name, 0o700); err != nil {
		return err
	}
	return j.worktree.Rename(name, to)
}

// clear removes the folder that lay aside, with what was retired. What stays of it is
// no part of the worktree, and is swept.
func (j *judge) clear(aside string) {
	if aside != "" {
		_ = confine.RemoveAside(j.worktree, aside)
	}
}

// timed reads a file until the time for judging is over.
func (j *judge) timed(f *os.File) io.Reader { return timed{j.ctx, f} }

type timed struct {
	ctx context.Context
	f   *os.File
}

func (t timed) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.f.Read(p)
}

// digest is the ref of a regular file's content.
func (j *judge) digest(root *os.Root, name string, info fs.FileInfo) (store.Ref, error) {
	f, err := openFile(root, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		return "", errors.Join(errors.New("it has changed"), err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, j.timed(f)); err != nil {
		return "", err
	}
	return store.RefFromSum([sha256.Size]byte(h.Sum(nil))), nil
}

// openFile opens a file that is known to be regular, without following a link or
// waiting should it have turned into something else.
func openFile(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

func openDir(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
}

// reason is an error's text without any path.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err.Error()
	}
	return err.Error()
}
