package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// layerAt is where the layer is mounted for the moment that the overlay needs it.
const layerAt = "/tmp/.layer"

// layer is what the first stage holds while a program runs over an overlay: both
// trees, by descriptors that no program has.
type layer struct {
	upper, worktree *os.Root
	top             *os.File // upper itself, open whatever mode a program gives it
}

// lay mounts the overlay over the worktree, in a mount namespace of this thread,
// and gives up every capability. The thread stays locked: the program is its child.
// The layer's own mount is taken away again, so that no path leads to it.
func (o order) lay() (l layer, err error) {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return l, fmt.Errorf("mount namespace: %w", err)
	}
	if l.worktree, err = os.OpenRoot(o.Worktree); err != nil {
		return l, err
	}
	if err := os.Mkdir(layerAt, 0o700); err != nil {
		return l, err
	}
	// The root, two directories below it and the overlay's own folder count too.
	size := fmt.Sprintf("mode=0700,size=%d,nr_inodes=%d", o.Overlay.Bytes, o.Overlay.Files+layerInodes)
	if err := unix.Mount("layer", layerAt, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, size); err != nil {
		return l, fmt.Errorf("layer: %w", err)
	}
	upper := layerAt + "/upper"
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(layerAt+"/work", 0o700), os.Chdir(o.Worktree)); err != nil {
		return l, err
	}
	// The worktree's own path may hold what the options use as separators.
	options := "lowerdir=.,upperdir=" + upper + ",workdir=" + layerAt + "/work,userxattr"
	if err := unix.Mount("overlay", o.Worktree, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return l, fmt.Errorf("overlay: %w", err)
	}
	if err := l.shut(o); err != nil {
		return l, err
	}
	if l.upper, err = os.OpenRoot(upper); err != nil {
		return l, err
	}
	if l.top, err = os.Open(upper); err != nil {
		return l, err
	}
	if err := errors.Join(os.Chdir(o.Worktree), unix.Unmount(layerAt, unix.MNT_DETACH), os.Remove(layerAt)); err != nil {
		return l, err
	}
	return l, dropCapabilities()
}

// layerInodes is what an empty layer takes: its root, upper, work, what the overlay
// keeps in work, and the file that lies over those that are shut.
const layerInodes = 5

// shut lays an empty file over those that the program is not to read.
func (l layer) shut(o order) error {
	empty := layerAt + "/empty"
	if err := os.WriteFile(empty, nil, 0o444); err != nil {
		return err
	}
	for _, name := range o.Overlay.Shut {
		if info, err := l.worktree.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue // what is a directory or a link leads nowhere that the program may not go
		}
		at := o.Worktree + "/" + name
		err := unix.Mount(empty, at, "", unix.MS_BIND, "")
		if err == nil {
			err = unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
		}
		if err != nil {
			return fmt.Errorf("shut: %w", err)
		}
	}
	return nil
}

// dropCapabilities gives up, on every thread and for ever, what bubblewrap left to
// this process for mounting. Programs that it starts never have them.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("ambient capabilities: %w", errno)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0); errno != 0 {
		return fmt.Errorf("capabilities: %w", errno)
	}
	return nil
}

// full says which bound of the layer was reached, Unbounded for none: what a
// program could not write to its end must not be taken for its work.
func (l layer) full() (Bound, error) {
	var s unix.Statfs_t
	switch err := unix.Fstatfs(int(l.top.Fd()), &s); {
	case err != nil:
		return Unbounded, err
	case s.Bavail == 0:
		return SpaceBound, nil
	case s.Ffree == 0:
		return FilesBound, nil
	}
	return Unbounded, nil
}

// bury kills everything else in this pid namespace, of which this is process 1,
// and returns when all of it is gone.
func bury() {
	unix.Kill(-1, unix.SIGKILL) // an error: there was nobody
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

// notJudged is the refusal of a layer whose judging did not come to its end.
const notJudged = "what the program changed could not be judged and written in the time for that; nothing of it was kept"

// settle judges and applies the layer and completes the ending.
func (l layer) settle(o order, r *reporter, apply Applier, e *ending) {
	ctx, cancel := r.judge(o.Overlay.Time / 3)
	defer cancel()
	var err error
	if e.Bound, err = l.full(); e.Bound != Unbounded {
		return
	}
	// What a program does to the top's mode is not applied, and keeps nobody out.
	if err = errors.Join(err, l.top.Chmod(0o700)); err != nil {
		e.Refused = "what the program changed cannot be read"
		return
	}
	if o.Law == 0 {
		return
	}
	if apply == nil {
		e.Refused = "nothing here can judge what the program changed"
		return
	}
	law, err := io.ReadAll(os.NewFile(uintptr(o.Law), "law"))
	if err != nil {
		e.Refused = "the rules for changes cannot be read"
		return
	}
	report, err := apply(ctx, TakeOver{
		Law: law, Layer: l.upper, Worktree: l.worktree, Bytes: o.Overlay.Bytes, Begin: func() bool { return r.apply(ctx) },
	})
	e.settled(r, report, err)
}

// settled notes what an Applier has come to.
func (e *ending) settled(r *reporter, report []byte, err error) {
	phase, asked := r.now()
	if err == nil && len(report) > MaxChanges {
		err = fmt.Errorf("a report of %d bytes on what was changed", len(report)) // what is not known is not done
	}
	switch {
	case err == nil:
		e.Applied, e.Changes = WasApplied, report
	case phase == applying:
		e.Applied = MaybeApplied
		refuse("apply", err)
	case asked != Unbounded:
		e.Exit, e.Bound = -1, asked
	case errors.Is(err, context.DeadlineExceeded):
		e.Refused, e.Unjudged = notJudged, true
	default:
		e.Refused = err.Error()
	}
}
