package await

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// failing notes how a test would have failed.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestThatWaitsAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for holdsAfter, want := range map[time.Duration]string{
			0: "", 59 * time.Second: "", 2 * time.Minute: "not within 1m0s: it comes",
		} {
			began, f := time.Now(), &failing{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				That(f, "it comes", func() bool { return time.Since(began) >= holdsAfter })
			}()
			<-done
			if f.said != want {
				t.Errorf("after %v: said %q, want %q", holdsAfter, f.said, want)
			}
		}
	})
}

func TestStaysFailsWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for endsAfter, want := range map[time.Duration]string{
			2 * time.Second: "", 999 * time.Millisecond: "not for 1s: it stays", 0: "not for 1s: it stays",
		} {
			began, f := time.Now(), &failing{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				Stays(f, "it stays", time.Second, func() bool { return time.Since(began) < endsAfter })
			}()
			<-done
			if f.said != want {
				t.Errorf("after %v: said %q, want %q", endsAfter, f.said, want)
			}
		}
	})
}
