package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"world/fault"
)

// fence returns bubblewrap's arguments for one run and adds the descriptors that
// they name.
func (r *run) fence(j *Jail, order *order, extra *[]*os.File) ([]string, error) {
	v := view{
		readable: r.spec.Readable, worktree: r.spec.Worktree,
		readOnly: r.spec.ReadOnly, scratch: r.spec.Limits.Scratch,
		bare: !order.child() && order.Args[0] != probeVerb, home: r.spec.FileAt != "",
	}
	hidden, err := j.hides(r.spec, r.user())
	if err != nil {
		return nil, err
	}
	if !v.bare {
		v.hidden, v.blank = hidden.dirs, hidden.files
	}
	args := []string{
		"--unshare-user", "--unshare-all", "--disable-userns", "--hostname", "jail",
		"--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--clearenv",
		// The first stage does one thing at a time: more threads would only cost.
		"--setenv", "GOMAXPROCS", "1",
	}
	if r.shareNetwork(v) {
		args = append(args, "--share-net")
	}
	if r.spec.Overlay != nil { // to mount it, and to work in a folder that the overlay keeps closed
		args = append(args, "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_DAC_OVERRIDE")
	}
	if !j.outer {
		info, err := r.pipe(true)
		if err != nil {
			return nil, fault.Wrap("confine: run", fault.Unavailable, err, "the jail could not be built")
		}
		args = append(args, "--info-fd", strconv.Itoa(3+len(*extra)))
		*extra = append(*extra, info)
		r.info = r.mine[len(r.mine)-1]
	}
	args = append(args, v.arguments()...)
	if order.File != 0 {
		// The program gets a file like any other, and no descriptor.
		order.FilePath = filePath
		if r.spec.FileAt != "" {
			order.FilePath = filepath.Join(Home, r.spec.FileAt)
		}
		args = append(args, "--perms", "0444", "--ro-bind-data", strconv.Itoa(order.File), order.FilePath)
		order.File = 0
	}
	return append(args, "--"), nil
}

// hides are what is hidden from a run, of what it would see otherwise.
type hides struct{ dirs, files []string }

// hides returns what is hidden from a run: what must stay so, and what the system's
// directories hold for nobody but this process's user.
func (j *Jail) hides(s Spec, user User) (h hides, err error) {
	shown := s.Readable
	if s.Worktree != "" {
		shown = append([]string{s.Worktree}, shown...)
	}
	if h.dirs, err = hide(slices.Concat(j.hidden, s.Hidden), shown, user); err != nil {
		return h, err
	}
	for _, path := range owned() {
		info, err := os.Lstat(path)
		switch {
		case err != nil || below(h.dirs, path) || below(shown, path):
		case info.IsDir():
			h.dirs = append(h.dirs, path)
		default:
			h.files = append(h.files, path)
		}
	}
	h.dirs = outermost(h.dirs)
	return h, nil
}

// shareNetwork lets a verb that may not make a socket begin in the network that all
// such verbs share, where there is one, instead of making its own.
func (r *run) shareNetwork(v view) bool {
	if !v.bare || r.spec.Sockets || offline().err != nil {
		return false
	}
	r.spawner = offline()
	return true
}

// outerNamespace makes the command start in a pid namespace of its own, so that
// the end of bubblewrap is the end of everything below it, at whatever moment it
// comes. An ordinary user needs a user namespace around it. Where only bubblewrap
// may make those, it names its child, which is killed instead; there, if the daemon
// is killed in the millisecond in which bubblewrap begins, one that waits for its
// dead parent, and never runs anything, may be left.
func outerNamespace(attr *syscall.SysProcAttr) {
	attr.Cloneflags = unix.CLONE_NEWPID
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
}

// filePath is where Spec.File lies at level namespaces.
const filePath = "/tmp/file"

// order tells the first stage what to do, as one JSON argument.
func (r *run) order() order {
	return order{
		Level: r.level, Wall: r.spec.innerWall(), Args: r.spec.Args, Env: r.spec.Env,
		Worktree: r.spec.Worktree, ReadOnly: r.spec.ReadOnly, Readable: r.spec.Readable,
		Closed: owned(), Sockets: r.spec.Sockets, Limits: r.spec.Limits, Path: r.spec.Path, Overlay: r.spec.Overlay,
		Bounded: r.level == Namespaces || os.Geteuid() == 0,
	}
}
