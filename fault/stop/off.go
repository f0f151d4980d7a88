//go:build !stops

package stop

// Compiled reports whether this build has stop points.
const Compiled = false

// At does nothing in this build.
func At(Point) {}
