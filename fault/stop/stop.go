// Package stop names the moments of a call at which a crash is worth trying.
//
// It promises that a build without the tag "stops" holds no more of it than the
// names: At is empty then, and nothing outside can make the process end. In a
// build with the tag, the environment variable WORLD_STOP, "POINT@N", ends the
// process with SIGKILL when it reaches the point for the Nth time.
package stop

// Point is one moment of a call.
type Point string

// The points, in the order in which an allowed call passes them.
const (
	BeforeIntent  Point = "before-intent"  // decided, and nothing of it is durable
	AfterIntent   Point = "after-intent"   // transaction 1 is durable
	InHandler     Point = "in-handler"     // the handler is about to act
	AfterEffect   Point = "after-effect"   // it has acted, and nothing says so
	BeforeOutcome Point = "before-outcome" // transaction 2 is about to be sent
	AfterOutcome  Point = "after-outcome"  // transaction 2 is durable
	BeforeReply   Point = "before-reply"   // the call's turn has passed to the next
)

// Points lists them all.
func Points() []Point {
	return []Point{BeforeIntent, AfterIntent, InHandler, AfterEffect, BeforeOutcome, AfterOutcome, BeforeReply}
}
