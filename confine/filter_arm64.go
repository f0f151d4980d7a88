package confine

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	foreignBit = 0
)

// forkCalls is empty: on this architecture clone is the only way.
var forkCalls []uint32

// oldCalls is empty: this architecture has the newer call alone.
var oldCalls []uint32
