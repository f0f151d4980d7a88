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

// hiddenAlways are directories that hold other programs' state, sockets and
// people's files. /tmp is private besides.
var hiddenAlways = []string{"/home", "/media", "/mnt", "/root", "/run", "/srv", "/var/tmp"}

// hiddenSize is the size in bytes of the empty file system over a hidden
// directory: room for mount points, which are made before it turns read only.
const hiddenSize = 1 << 16

// view is what a program sees of the file system at level namespaces.
type view struct {
	bare     bool     // nothing of the system: for verbs of the first stage, which need none of it
	hidden   []string // absolute, no link in them, none below another
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
		// /dev/full reads as zeros too, and cannot be mapped: a map of /dev/zero is
		// memory that no limit counts.
		args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--dev-bind", "/dev/full", "/dev/zero", "--remount-ro", "/dev")
	}
	args = append(args,
		"--proc", "/proc",
		"--size", strconv.FormatInt(v.scratch, 10), "--tmpfs", "/tmp",
		"--dir", Home)
	for _, dir := range v.hidden {
		args = append(args, "--perms", "0555", "--size", strconv.Itoa(hiddenSize), "--tmpfs", dir)
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
	if v.bare {
		args = append(args, "--remount-ro", "/")
	}
	switch {
	case v.worktree != "":
		return append(args, "--chdir", v.worktree)
	case v.home:
		return append(args, "--chdir", Home)
	}
	return append(args, "--chdir", "/")
}

// hide resolves the paths to hide to existing directories, outermost only, and
// leaves out what the user cannot reach anyway (nothing can be mounted there) and
// what the private /tmp covers already. A path to show must not hold a hidden one,
// for it would uncover it.
func hide(paths, shown []string, user User) ([]string, error) {
	var dirs []string
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
		if !within("/tmp", real) && searchable(filepath.Dir(real), user) {
			dirs = append(dirs, real)
		}
	}
	slices.Sort(dirs)
	var outermost []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(outermost, func(o string) bool { return within(o, dir) }) {
			outermost = append(outermost, dir)
		}
	}
	return outermost, nil
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
// but their own.
func searchable(dir string, user User) bool {
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
