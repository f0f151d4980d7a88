package overlay

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"world/store"
)

// A directory of new content is named like the file operations' temporary files,
// and lies at the top of the worktree. A kill may leave one; the next run takes it
// away.
const (
	asidePrefix = ".world-tool-"
	asideSuffix = ".tmp"
)

// setAside writes what is to become files and links, under the numbers of their
// steps, into a directory of its own. Its name is "" when there is nothing. An
// error is a refusal: nothing of the worktree has changed.
func (j *judge) setAside() (aside string, err error) {
	if err := j.sweep(); err != nil {
		return "", refusal(".", "what an earlier run left cannot be removed: %s", reason(err))
	}
	for i, s := range j.steps {
		if s.Kind != Created && s.Kind != Changed && s.Kind != Link {
			continue
		}
		if aside == "" {
			var b [16]byte
			rand.Read(b[:]) // never fails: the process would have ended
			aside = asidePrefix + hex.EncodeToString(b[:]) + asideSuffix
			err = j.worktree.Mkdir(aside, 0o700)
		}
		at := path.Join(aside, strconv.Itoa(i))
		switch {
		case err != nil:
		case s.Kind == Link:
			err = j.worktree.Symlink(s.Target, at)
		default:
			err = j.copy(s, at)
		}
		if err != nil {
			j.worktree.RemoveAll(aside)
			return "", refusal(s.Path, "cannot be written: %s", reason(err))
		}
	}
	return aside, nil
}

// sweep removes what a killed run left at the top of the worktree.
func (j *judge) sweep() error {
	entries, err := readDir(j.worktree, ".")
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), asidePrefix) && strings.HasSuffix(e.Name(), asideSuffix) {
			err = errors.Join(err, j.worktree.RemoveAll(e.Name()))
		}
	}
	return err
}

// clear removes the directory of new content, empty by now.
func (j *judge) clear(aside string) error {
	if aside == "" {
		return nil
	}
	return j.worktree.Remove(aside)
}

// copy writes a file of the layer to a new file of the worktree, down to the disk.
func (j *judge) copy(s step, to string) error {
	from, err := openFile(j.layer, s.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := j.worktree.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Chmod(s.mode), f.Sync(), f.Close())
}

// carryOut changes the worktree, step by step.
func (j *judge) carryOut(aside string) error {
	for i, s := range j.steps {
		var err error
		if s.replaces {
			err = removeAll(j.worktree, s.Path)
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

// removeAll deletes a name and all below it, directories that are closed to their
// owner among it: the program could open those too.
func removeAll(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return root.Remove(name)
	}
	err = fs.WalkDir(root.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return root.Chmod(at, 0o700)
	})
	return errors.Join(err, root.RemoveAll(name))
}

// digest is the ref of a regular file's content.
func digest(root *os.Root, name string, info fs.FileInfo) (store.Ref, error) {
	f, err := openFile(root, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		return "", errors.Join(errors.New("it has changed"), err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
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
