package confine

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// User is the numeric user and group that a program runs as.
type User uint32

// Users of programs lie where neither people, systemd nor container managers
// allocate: systemd's table of ranges calls 0x70000000 to 0x7fffffff unused.
const (
	userBase = 0x70000000
	userSpan = 1 << 27
)

// Inside a user namespace only some ids exist; these do in the usual rootless map of 65536.
const (
	smallBase = 32768
	smallSpan = 28000
)

// UserOf derives the user for a name, such as that of a worktree: always the same one on
// one machine, never a privileged one. An unprivileged process can only be
// itself, so there it is the caller.
func UserOf(name string) User {
	if os.Geteuid() != 0 {
		return User(os.Geteuid())
	}
	sum := sha256.Sum256([]byte("world user " + name))
	n := binary.BigEndian.Uint32(sum[:4])
	if wide() {
		return User(userBase + n%userSpan)
	}
	return User(smallBase + n%smallSpan)
}

// OfWorktree returns the user of the programs of an episode, who is its worktree's owner:
// for one that is not there yet, or belongs to nobody whom UserOf could have derived, the
// one of its path, so that episodes of one name in two worlds of a machine have nothing
// in common. A world keeps the users that it has when it is moved, or was made when the
// name alone counted. worktree is an absolute path without links.
func OfWorktree(worktree string) User {
	info, err := os.Lstat(worktree)
	if err == nil && info.IsDir() && os.Geteuid() == 0 {
		if owner := info.Sys().(*syscall.Stat_t).Uid; derived(owner) {
			return User(owner)
		}
	}
	return UserOf("worktree " + worktree)
}

// derived reports whether UserOf could have derived a user.
func derived(id uint32) bool {
	if wide() {
		return id >= userBase && id < userBase+userSpan
	}
	return id >= smallBase && id < smallBase+smallSpan
}

// drawUser draws a user for something that is over soon. The bound on a user's
// processes counts all of them on the machine, so two that run at the same time must
// not share one.
func drawUser(what string) User { return UserOf(what + " " + rand.Text()) }

// wide reports whether this process's user namespace has all users that could be derived.
var wide = sync.OnceValue(func() bool { return mapped(userBase + userSpan) })

// mapped reports whether a user id exists in this process's user namespace.
func mapped(id uint64) bool {
	f, err := os.Open("/proc/self/uid_map")
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var inside, outside, count uint64
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &count); err == nil && inside <= id && id-inside < count {
			return true
		}
	}
	return false
}

// HandOver gives a path, and not what a link there leads to, to a program's user.
// Only root hands over: the programs of anybody else run as himself and in his own
// group, which need not have his number.
func HandOver(path string, user User) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(user), int(user))
}
