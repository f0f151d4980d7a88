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
