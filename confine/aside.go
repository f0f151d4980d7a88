package confine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// What is not yet in its place lies in the worktree under a name of this form: new
// content before it is renamed, and at the worktree's top a folder of an Applier's. No
// tool shows or makes such a name, and it is nobody's work. A kill may leave one.
const (
	asidePrefix = ".world-tool-"
	asideSuffix = ".tmp"
	asideBytes  = 16 // random ones, in hex between the two
)

// Aside draws such a name. Nobody else has it.
func Aside() string {
	var b [asideBytes]byte
	rand.Read(b[:]) // never fails: the process would have ended
	return asidePrefix + hex.EncodeToString(b[:]) + asideSuffix
}

// IsAside reports whether a name, of one part, is of this form.
func IsAside(name string) bool {
	drawn, ok := strings.CutPrefix(name, asidePrefix)
	drawn, end := strings.CutSuffix(drawn, asideSuffix)
	return ok && end && len(drawn) == 2*asideBytes && strings.Trim(drawn, "0123456789abcdef") == ""
}

// SweepAside removes what kills left at the top of a worktree, whose episode runs
// nothing now.
func SweepAside(worktree *os.Root) error {
	entries, err := entriesOf(worktree, ".")
	for _, e := range entries {
		switch {
		case !IsAside(e.Name()):
		case e.IsDir():
			err = errors.Join(err, RemoveAside(worktree, e.Name()))
		default:
			err = errors.Join(err, gone(worktree.Remove(e.Name())))
		}
	}
	return err
}

// RemoveAside removes a folder of the worktree and all below it, however deep it is:
// what lies in a folder of it is brought to its top, so that no name is long and few
// descriptors are open. Folders that are closed to their owner are opened.
func RemoveAside(worktree *os.Root, name string) error {
	if err := worktree.Chmod(name, 0o700); err != nil {
		return gone(err)
	}
	aside, err := worktree.OpenRoot(name)
	if err != nil {
		return gone(err)
	}
	defer aside.Close()
	for {
		entries, err := entriesOf(aside, ".")
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return gone(worktree.Remove(name))
		}
		for _, e := range entries {
			if err := flatten(aside, e); err != nil {
				return err
			}
		}
	}
}

// flatten removes a name, after it has brought to the top what folders are in it.
func flatten(aside *os.Root, e fs.DirEntry) error {
	if !e.IsDir() {
		return aside.Remove(e.Name())
	}
	if err := aside.Chmod(e.Name(), 0o700); err != nil {
		return err
	}
	dir, err := aside.OpenRoot(e.Name())
	if err != nil {
		return err
	}
	defer dir.Close()
	below, err := entriesOf(dir, ".")
	if err != nil {
		return err
	}
	for _, b := range below {
		if !b.IsDir() {
			err = dir.Remove(b.Name())
		} else if err = dir.Chmod(b.Name(), 0o700); err == nil { // to be moved it must be writable
			err = aside.Rename(e.Name()+"/"+b.Name(), Aside())
		}
		if err != nil {
			return err
		}
	}
	return aside.Remove(e.Name())
}

func entriesOf(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// gone takes it for done that what was to go is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
