// Package await lets tests wait for what other processes and goroutines bring
// about, where no channel tells. It promises to fail a test that waits too long,
// and is for tests alone.
package await

import (
	"testing"
	"time"
)

// patience is longer than a busy machine takes for anything that tests wait for.
const patience = time.Minute

// That returns when a condition holds, and fails the test after a minute.
func That(t testing.TB, what string, holds func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// Stays fails the test if a condition ends within a while. It is for what may not
// happen, which nothing tells of.
func Stays(t testing.TB, what string, while time.Duration, holds func() bool) {
	t.Helper()
	end := time.NewTimer(while)
	defer end.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for holds() {
		select {
		case <-tick.C:
		case <-end.C:
			return
		}
	}
	t.Fatalf("not for %v: %s", while, what)
}
