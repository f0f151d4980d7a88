package policytool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"world/tools/policy"
)

// tree is the worktree, held open. Nothing below is ever named by a path of more
// than one part, so that what was looked at is what is used.
type tree struct {
	root   *os.Root
	policy policy.Policy
}

func openTree(p policy.Policy) (*tree, error) {
	root, err := os.OpenRoot(p.Sandbox)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, policy: p}, nil
}

func (t *tree) Close() error { return t.root.Close() }

// place is where a path leads once every link on it is followed: a held directory
// and a name in it that is not a link.
type place struct {
	dir  *os.Root
	name string
	path string      // from the worktree, without links
	info fs.FileInfo // nil when nothing is there
}

func (p place) Close() error { return p.dir.Close() }

// errEscapes says that a path leads out of the worktree, or would on another host.
var errEscapes = errors.New("escapes the sandbox")

var errNUL = errors.New("the path holds a NUL byte, as no path does")

// maxLinks is how many links one path may lead through.
const maxLinks = 40

// locate follows a path to a name that is no directory.
func (t *tree) locate(path string) (place, error) {
	w, err := t.follow(path)
	if err != nil {
		return place{}, err
	}
	return w.end()
}

// follow follows a path part by part. A link is followed only to where it leads
// inside; each directory is opened without following a link and must be the one
// that was looked at.
func (t *tree) follow(path string) (*walk, error) {
	if strings.HasPrefix(path, "/") {
		return nil, errEscapes
	}
	if strings.ContainsRune(path, 0) {
		return nil, errNUL
	}
	top, err := t.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	w := &walk{dirs: []folder{{dir: top}}}
	for left, links := strings.Split(path, "/"), 0; len(left) > 0; {
		part := left[0]
		left = left[1:]
		target, err := w.step(part, len(left) == 0)
		if err != nil {
			w.close()
			return nil, err
		}
		if target == "" {
			continue
		}
		if links++; links > maxLinks {
			w.close()
			return nil, syscall.ELOOP
		}
		left = append(strings.Split(target, "/"), left...)
	}
	return w, nil
}

// maxHeld is how many directories of a way are held open beside the first.
const maxHeld = 32

// folder is a directory on a way; it is not open when others are so far below it.
type folder struct {
	dir  *os.Root
	info fs.FileInfo
}

func (f *folder) close() {
	if f.dir != nil {
		f.dir.Close()
		f.dir = nil
	}
}

// walk is a way into the worktree: the directories on it, and their names.
type walk struct {
	dirs  []folder
	names []string
	last  fs.FileInfo // what the last name is; nil when it is not there
	ended bool        // the last name is not a directory that could be entered
}

// step takes one part of the path and returns the target when it is a link.
func (w *walk) step(part string, final bool) (target string, err error) {
	switch {
	case w.ended: // also before a slash at the end, which only a directory has
		return "", syscall.ENOTDIR
	case part == "" || part == ".":
		return "", nil
	case part == "..":
		return "", w.up()
	}
	here := w.here()
	info, err := here.Lstat(part)
	switch {
	case errors.Is(err, fs.ErrNotExist) && final:
		w.names, w.last, w.ended = append(w.names, part), nil, true
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err = here.Readlink(part); err == nil && (target == "" || strings.HasPrefix(target, "/")) {
			err = errEscapes
		}
		return target, err
	case !info.IsDir():
		w.names, w.last, w.ended = append(w.names, part), info, true
		return "", nil
	}
	return "", w.down(here, part, info)
}

func (w *walk) up() error {
	if len(w.dirs) == 1 {
		return errEscapes
	}
	last := len(w.dirs) - 1
	w.dirs[last].close()
	w.dirs, w.names = w.dirs[:last], w.names[:last-1]
	if above := &w.dirs[last-1]; above.dir == nil {
		var err error
		above.dir, err = openSame(w.dirs[0].dir, w.path(), above.info)
		return err
	}
	return nil
}

// down enters a directory, if it is still the one that was looked at.
func (w *walk) down(here *os.Root, part string, info fs.FileInfo) error {
	dir, err := openSame(here, part, info)
	if err != nil {
		return err
	}
	w.dirs, w.names = append(w.dirs, folder{dir, info}), append(w.names, part)
	if far := len(w.dirs) - 1 - maxHeld; far > 0 {
		w.dirs[far].close()
	}
	return nil
}

// openSame opens a directory that must be the one that was looked at.
func openSame(here *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	dir, err := here.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := dir.Stat(".")
	if err != nil || !os.SameFile(opened, info) {
		dir.Close()
		return nil, errors.Join(errEscapes, err)
	}
	return dir, nil
}

// end returns the place that the walk came to and closes what lies above it.
func (w *walk) end() (place, error) {
	if !w.ended {
		w.close()
		return place{}, syscall.EISDIR
	}
	last := len(w.dirs) - 1
	p := place{dir: w.here(), name: w.names[len(w.names)-1], path: w.path(), info: w.last}
	w.dirs = w.dirs[:last]
	w.close()
	return p, nil
}

// path is where the walk came to, from the worktree; "" is the worktree itself.
func (w *walk) path() string { return strings.Join(w.names, "/") }

// here is the directory that the walk came to.
func (w *walk) here() *os.Root { return w.dirs[len(w.dirs)-1].dir }

func (w *walk) close() {
	for i := range w.dirs {
		w.dirs[i].close()
	}
}
