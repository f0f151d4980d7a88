//go:build stops

package stop

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Compiled reports whether this build has stop points.
const Compiled = true

var (
	target, left = wanted(os.Getenv("WORLD_STOP"))
	passed       atomic.Int64
)

// wanted reads POINT@N. A text that is neither that nor empty is a mistake of the
// test that set it.
func wanted(text string) (Point, int64) {
	if text == "" {
		return "", 0
	}
	point, count, _ := strings.Cut(text, "@")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 {
		panic("stop: WORLD_STOP is not POINT@N: " + text)
	}
	for _, p := range Points() {
		if string(p) == point {
			return p, n
		}
	}
	panic("stop: WORLD_STOP names no point: " + text)
}

// At ends the process when this is the point, and the time, that was asked for.
func At(p Point) {
	if p != target || passed.Add(1) < left {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // one's own process can be killed
	select {}
}
