package confine

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	foreignBit = 0x40000000 // marks calls of the x32 ABI, which has numbers of its own
)

// forkCalls start processes without flags to look at.
var forkCalls = []uint32{unix.SYS_FORK, unix.SYS_VFORK}

// oldCalls are forbidden ones that have become another call with flags.
var oldCalls = []uint32{unix.SYS_INOTIFY_INIT}
