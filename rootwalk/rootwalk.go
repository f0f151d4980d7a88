// Package rootwalk walks what lies below a directory that somebody else may be
// changing.
//
// It promises that no name leads out of the root, that no link is followed, and that a
// name may be any bytes: io/fs, whose names are UTF-8, stops at a folder that is none.
// It bounds neither depth nor number; who visits does.
package rootwalk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Walk calls visit for a name below root and for all below it, as fs.WalkDir does: in
// order of their bytes, a directory before what it holds, and once more with the error
// when it cannot be listed. fs.SkipDir and fs.SkipAll mean the same.
func Walk(root *os.Root, name string, visit fs.WalkDirFunc) error {
	info, err := root.Lstat(name)
	if err != nil {
		err = visit(name, nil, err)
	} else {
		err = walk(root, name, fs.FileInfoToDirEntry(info), visit)
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func walk(root *os.Root, name string, entry fs.DirEntry, visit fs.WalkDirFunc) error {
	err := visit(name, entry, nil)
	if err == nil && entry.IsDir() {
		err = below(root, name, entry, visit)
	}
	if errors.Is(err, fs.SkipDir) && entry.IsDir() {
		return nil
	}
	return err
}

// below visits what a directory holds. SkipDir for one that is no directory passes over
// those that are left.
func below(root *os.Root, name string, entry fs.DirEntry, visit fs.WalkDirFunc) error {
	entries, err := list(root, name)
	if err != nil {
		if err := visit(name, entry, err); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := walk(root, path.Join(name, e.Name()), e, visit); err != nil {
			return err
		}
	}
	return nil
}

func list(root *os.Root, name string) ([]fs.DirEntry, error) {
	dir, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	for i, e := range entries {
		entries[i] = inRoot{e, root, path.Join(name, e.Name())}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// inRoot looks a name up again below its root, whatever lies there by then.
type inRoot struct {
	fs.DirEntry
	root *os.Root
	name string
}

func (e inRoot) Info() (fs.FileInfo, error) { return e.root.Lstat(e.name) }
