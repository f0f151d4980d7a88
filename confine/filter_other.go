//go:build !amd64 && !arm64

package confine

// No filter is written for this architecture, so it reaches level process only.
const (
	nativeArch = 0
	foreignBit = 0
)

var forkCalls, oldCalls []uint32
