package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// hiddenSize is the size in bytes of the empty file system over a hidden
// directory: room for mount points, which are made before it turns read only.
const hiddenSize = 1 << 16

// view is what a program sees of the file system at level namespaces.
type view struct {
	bare     bool     // nothing of the system: for verbs of the first stage, which need none of it
	hidden   []string // directories among the system's; absolute, no link in them, none below another
	blank    []string // files there that nobody reads, likewise
	readable []string
	worktree string
	home     bool // is the working directory
	readOnly bool
	scratch  int64 // bytes
}

// arguments returns the view as bubblewrap arguments, in mount order: a later
// mount lies over an earlier one.
func (v view) arguments() []string {
	var args []string
	if !v.bare {
		system, _ := system()
		args = append(args, system...)
		// /dev/full reads as zeros too, and cannot be mapped: a map of /dev/zero is
		// memory that no limit counts.
		args = append(args, "--dev", "/dev", "--dev-bind", "/dev/full", "/dev/zero", "--remount-ro", "/dev")
	}
	args = append(args,
		"--proc", "/proc",
		"--size", strconv.FormatInt(v.scratch, 10), "--tmpfs", "/tmp",
		"--dir", Home)
	for _, dir := range v.hidden {
		args = append(args, "--perms", "0555", "--size", strconv.Itoa(hiddenSize), "--tmpfs", dir)
	}
	for _, file := range v.blank {
		args = append(args, "--ro-bind", "/dev/null", file)
	}
	for _, dir := range v.readable {
		args = append(args, "--ro-bind", dir, dir)
	}
	if v.worktree != "" {
		bind := "--bind"
		if v.readOnly {
			bind = "--ro-bind"
		}
		args = append(args, bind, v.worktree, v.worktree)
	}
	for _, dir := range v.hidden {
		args = append(args, "--remount-ro", dir)
	}
	args = append(args, "--remount-ro", "/")
	switch {
	case v.worktree != "":
		return append(args, "--chdir", v.worktree)
	case v.home:
		return append(args, "--chdir", Home)
	}
	return append(args, "--chdir", "/")
}

// hide resolves the paths to hide to existing directories, outermost only, and
// leaves out what has no name inside anyway, and what the user cannot reach (nothing can
// be mounted there). A path to show must not hold a hidden one, for it would uncover it.
func hide(paths, shown []string, user User) ([]string, error) {
	var dirs []string
	_, roots := system()
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !isDir(real) {
			continue
		}
		for _, show := range shown {
			if within(show, real) {
				return nil, invalid("a path to show holds one that must stay hidden")
			}
		}
		if below(roots, real) && searchable(filepath.Dir(real), user) {
			dirs = append(dirs, real)
		}
	}
	return outermost(dirs), nil
}

// outermost sorts directories and leaves out those that lie below another.
func outermost(dirs []string) (outer []string) {
	slices.Sort(dirs)
	for _, dir := range dirs {
		if !below(outer, dir) {
			outer = append(outer, dir)
		}
	}
	return outer
}

// below reports whether a path is one of some directories or lies below one.
func below(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(dir, path) })
}

// within reports whether path is dir or lies below it. Both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// Reachable reports whether a user can walk from / to a path. A worktree that its
// user cannot walk to cannot be handed to it, so daemons check before they serve.
func Reachable(path string, user User) bool { return searchable(filepath.Dir(path), user) }

// searchable reports whether a user may walk from / into dir. For users of
// programs it goes by mode bits, and not by the group's: they belong to no group
// but their own. Nobody walks from / into a relative path.
func searchable(dir string, user User) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	if os.Geteuid() != 0 {
		return unix.Access(dir, unix.X_OK) == nil
	}
	for path := filepath.Clean(dir); ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			return false
		}
		bit := os.FileMode(0o001)
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && User(owner.Uid) == user {
			bit = 0o100
		}
		if info.Mode().Perm()&bit == 0 {
			return false
		}
		if path == "/" {
			return true
		}
	}
}
