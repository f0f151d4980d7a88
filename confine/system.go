package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// systemDirs are the directories that a system's own programs and libraries lie in:
// all that a program gets to see of the machine's files without being shown it. The
// rest of / has no name inside, whatever lies there.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"}

// system returns bubblewrap's arguments for the system's directories, links as links,
// and those that are none.
func system() (args, dirs []string) {
	for _, dir := range systemDirs {
		if isDir(dir) {
			args, dirs = append(args, "--ro-bind", dir, dir), append(dirs, dir)
		} else if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		}
	}
	return args, dirs
}

// Prefix returns the directory that an interpreter is installed in, when that is none
// of the system's: /opt/python3 for a link /usr/bin/python3 that leads to
// /opt/python3/bin/python3. "" when there is nothing to show besides.
func Prefix(interpreter string) string {
	real, err := filepath.EvalSymlinks(interpreter)
	_, dirs := system()
	if err != nil || below(dirs, real) {
		return ""
	}
	if dir := filepath.Dir(real); filepath.Base(dir) != "bin" {
		return dir
	}
	return filepath.Dir(filepath.Dir(real))
}

// keepsOwn are the system's directories where somebody may keep what is for himself.
var keepsOwn = []string{"/etc", "/usr/local"}

// ownEvery is how old the knowledge of what somebody keeps there may get.
const ownEvery = time.Minute

// own is what lies in the system's directories for this process's user, who is the
// user of its programs too, and not for everybody.
var own struct {
	sync.Mutex
	paths  []string
	looked time.Time
	looks  bool
}

// owned returns it: files and directories, none below another. Programs of a process
// that is root belong to users whom nothing is kept for. Whoever asks first waits for
// the answer; later it is looked at again in the background.
func owned() []string {
	if os.Geteuid() == 0 {
		return nil
	}
	own.Lock()
	defer own.Unlock()
	switch {
	case own.looked.IsZero():
		own.paths, own.looked = closed(keepsOwn), time.Now()
	case time.Since(own.looked) > ownEvery && !own.looks:
		own.looks = true
		go func() {
			paths := closed(keepsOwn)
			own.Lock()
			defer own.Unlock()
			own.paths, own.looked, own.looks = paths, time.Now(), false
		}()
	}
	return own.paths
}

// without returns directories less some paths in them: as themselves, or as the
// directories and files of which they are left when those paths are taken away.
func without(paths, closed []string) (dirs, files []string) {
	for _, path := range paths {
		switch inside := slices.ContainsFunc(closed, func(c string) bool { return within(path, c) }); {
		case below(closed, path):
		case inside:
			entries, _ := os.ReadDir(path) // nothing is admitted of what cannot be listed
			var names []string
			for _, entry := range entries {
				if entry.Type() != fs.ModeSymlink { // to admit one would admit what it leads to
					names = append(names, filepath.Join(path, entry.Name()))
				}
			}
			d, f := without(names, closed)
			dirs, files = append(dirs, d...), append(files, f...)
		case isDir(path) || slices.Contains(systemDirs, path):
			dirs = append(dirs, path)
		default:
			files = append(files, path)
		}
	}
	return dirs, files
}

// closed lists what this process may read below directories and others may not. What
// it may not read either, and what went away meanwhile, is no matter.
func closed(dirs []string) (paths []string) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.Type() == fs.ModeSymlink {
				return nil
			}
			info, err := entry.Info()
			if err != nil || forAll(info) {
				return nil
			}
			var leave error
			if info.IsDir() {
				leave = fs.SkipDir
			}
			if unix.Access(path, unix.R_OK) == nil || info.IsDir() && unix.Access(path, unix.X_OK) == nil {
				paths = append(paths, path)
			}
			return leave
		})
	}
	return paths
}

// forAll reports whether a file may be read by everybody, or a directory walked through.
func forAll(info fs.FileInfo) bool {
	open := fs.FileMode(0o004)
	if info.IsDir() {
		open = 0o005
	}
	return info.Mode()&open == open
}

// maxForAll is how many names IsForAll looks at.
const maxForAll = 10_000

// IsForAll reports whether everybody may walk to an absolute directory, and read it and
// all that lies below it now, which must not be more than ten thousand names.
func IsForAll(dir string) bool {
	for above := dir; above != "/"; {
		above = filepath.Dir(above)
		if info, err := os.Lstat(above); err != nil || info.Mode()&0o001 == 0 || above == "." {
			return false
		}
	}
	left := maxForAll
	return filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 {
			return fs.ErrPermission
		}
		if info, err := entry.Info(); err != nil || entry.Type() != fs.ModeSymlink && !forAll(info) {
			return fs.ErrPermission
		}
		return nil
	}) == nil
}
