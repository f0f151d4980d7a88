package overlay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"world/confine"
	"world/tools/policy"
)

// judge reads a layer beside its worktree and collects what must be done to the
// worktree so that it becomes what the program saw.
type judge struct {
	ctx             context.Context // ends when it is too late
	law             policy.Law
	layer, worktree *os.Root
	opened          map[uint64]fs.FileMode // modes before they were opened to this process, by inode of the layer
	steps           []step
	bound           int64 // bytes that may be written
	bytes           int64 // that may still be written
	removed         int   // entries below deleted directories
	hashed          int64 // bytes of the files among them that were hashed
	lost            int   // files and links among them that are steps
	unlisted        int   // those that no report has room for
}

// step is one change. A step that replaces removes what is there first; a deletion
// that does not tells of what goes with its directory.
type step struct {
	Change
	mode     fs.FileMode // permission bits of a file or directory
	replaces bool
}

// unless returns an error, unless it is too late for any.
func (j *judge) unless(err error) error {
	if late := j.ctx.Err(); late != nil {
		return late
	}
	return err
}

func refusal(name, format string, args ...any) error {
	return fmt.Errorf("%s: %s; nothing that the program changed was kept", name, fmt.Sprintf(format, args...))
}

// broken is a refusal for what could not be read; its text has no host path.
func broken(name string, err error) error { return refusal(name, "cannot be read: %s", reason(err)) }

// ground is what lies below a directory of the layer.
type ground int

const (
	shown  ground = iota // a directory of the worktree, which shows through
	hidden               // one that the program deleted before it made its own
	bare                 // none
)

// directory judges a directory of the layer.
func (j *judge) directory(dir string, over ground) error {
	entries, err := readDir(j.layer, dir)
	if err != nil {
		return broken(dir, err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.Name()] = true
		name := path.Join(dir, e.Name())
		if !utf8.ValidString(name) {
			return refusal(strconv.Quote(name), "is a name that is not UTF-8")
		}
		if len(name) > maxPath {
			return refusal(dir, "holds a path over %d bytes", maxPath)
		}
		if err := j.entry(name, over); err != nil {
			return err
		}
	}
	if over != hidden {
		return nil
	}
	gone, err := readDir(j.worktree, dir)
	if err != nil {
		return broken(dir, err)
	}
	for _, e := range gone {
		if name := path.Join(dir, e.Name()); !seen[e.Name()] {
			if err := j.remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry judges one name of the layer against what the worktree has there.
func (j *judge) entry(name string, over ground) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if path.Base(name) == toolsCache && path.Base(path.Dir(name)) == toolsDir {
		return nil
	}
	info, err := j.layer.Lstat(name)
	if err != nil {
		return broken(name, err)
	}
	if err := j.open(name, info); err != nil {
		return broken(name, err)
	}
	var before fs.FileInfo
	if over != bare {
		if before, err = j.worktree.Lstat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return broken(name, err)
		}
	}
	switch kind := info.Mode().Type(); {
	case whiteout(info):
		if before == nil {
			return nil
		}
		return j.remove(name)
	case kind == fs.ModeDir:
		return j.subdirectory(name, info, before, over)
	case kind == fs.ModeSymlink:
		return j.link(name, before)
	case kind == 0:
		return j.file(name, info, before)
	}
	return refusal(name, "is neither a regular file nor a directory nor a link")
}

// open lets this process read what a program has closed to its own user, and
// remembers the mode that counts: the file may have other names.
func (j *judge) open(name string, info fs.FileInfo) error {
	need := map[fs.FileMode]fs.FileMode{0: 0o400, fs.ModeDir: 0o700}[info.Mode().Type()]
	if info.Mode()&need == need {
		return nil
	}
	j.opened[info.Sys().(*syscall.Stat_t).Ino] = info.Mode().Perm()
	return j.layer.Chmod(name, info.Mode().Perm()|need)
}

// mode returns a layer entry's permission bits as the program left them.
func (j *judge) mode(info fs.FileInfo) fs.FileMode {
	if mode, ok := j.opened[info.Sys().(*syscall.Stat_t).Ino]; ok {
		return mode
	}
	return info.Mode().Perm()
}

// add records a step, unless the law forbids to touch the path.
func (j *judge) add(s step) error {
	// What a killed write left, no program made, and any may take away.
	left := s.Kind == Deleted && confine.IsAside(path.Base(s.Path))
	if text := j.law.Protection(s.Path); text != "" && !left {
		return refusal(s.Path, "%s", text)
	}
	j.steps = append(j.steps, s)
	return nil
}

func (j *judge) subdirectory(name string, info, before fs.FileInfo, over ground) error {
	// A directory that its owner cannot use could not be changed or deleted again.
	s := step{Change: Change{Path: name, Kind: Directory}, mode: j.mode(info) | 0o700}
	if before == nil && path.Base(name) == toolsDir && j.onlyCache(name) {
		return nil
	}
	if before == nil || !before.IsDir() {
		s.replaces = before != nil
		j.was(&s.Change, before)
		if err := j.add(s); err != nil {
			return err
		}
		return j.directory(name, bare)
	}
	if before.Mode().Perm()|0o700 != s.mode {
		s.Kind = Mode
		if err := j.add(s); err != nil {
			return err
		}
	}
	if opaque, err := j.opaque(name); err != nil {
		return broken(name, err)
	} else if opaque {
		over = hidden
	}
	return j.directory(name, over)
}

// AILANG's binary keeps what it compiles in .ailang/cache beside a program, whatever
// it is told (reference/tool-contract.md §5). That stays in the layer: it is
// neither taken over nor a reason to refuse. All else below .ailang is protected.
const (
	toolsDir   = ".ailang"
	toolsCache = "cache"
)

// onlyCache reports whether a new directory of the tool holds its cache and no more.
func (j *judge) onlyCache(name string) bool {
	entries, err := readDir(j.layer, name)
	return err == nil && len(entries) == 1 && entries[0].Name() == toolsCache
}

// replacing adds a step for what is not a directory, over whatever is there.
func (j *judge) replacing(s step, before fs.FileInfo) error {
	j.was(&s.Change, before)
	if before == nil || !before.IsDir() {
		return j.add(s)
	}
	s.replaces = true
	if err := j.add(s); err != nil {
		return err
	}
	return j.below(s.Path)
}

// file compares a file of the layer with the worktree's, and leaves out what only
// looks changed: opening a file for writing brings it into the layer.
func (j *judge) file(name string, info, before fs.FileInfo) error {
	// One that its owner cannot read and write could not be judged or compared again.
	s := step{Change: Change{Path: name, Kind: Created}, mode: j.mode(info) | 0o600}
	// A hole and each further name of a file are written out too, whatever they take in
	// the layer.
	if j.bytes -= info.Size(); j.bytes < 0 {
		return refusal(name, "is beyond the %d bytes that a run may change, counted by the sizes of all files that it wrote, under each of their names", j.bound)
	}
	var err error
	if s.After, err = j.digest(j.layer, name, info); err != nil {
		return j.unless(broken(name, err))
	}
	if before == nil || !before.Mode().IsRegular() {
		return j.replacing(s, before)
	}
	s.Kind = Changed
	if j.was(&s.Change, before); s.Before == s.After {
		s.Kind = Mode
		if before.Mode().Perm()|0o600 == s.mode {
			return nil
		}
	}
	return j.add(s)
}

// readDir lists a directory, which its owner may have closed to himself.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := openDir(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
