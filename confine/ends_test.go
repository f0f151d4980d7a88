package confine_test

import (
	"path/filepath"
	"testing"
	"time"

	"world/confine"
)

// TestAnsweredIsKilled: a verb inside namespaces is answered when it says how it ended
// and all that it wrote is here. One that says so and goes on is dead before anything
// else runs on its worktree, and at the latest when the jail is closed.
func TestAnsweredIsKilled(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 4)
	for _, warm := range []bool{false, true, true} {
		ticks := filepath.Join(s.worktree, "ticks")
		spec := s.spec("lie", ticks, `{"Exit":3,"Wrote":[0,0]}`)
		spec.Warm = warm
		if got := s.run(spec); got.Exit != 3 || got.Bound != confine.Unbounded || got.Elapsed > spec.Limits.Wall/2 {
			t.Errorf("%+v", got)
		}
		if got := s.run(s.spec("list", ".")); got.Exit != 0 {
			t.Errorf("%+v", got)
		}
		quiet(t, ticks)
	}
	s.run(s.spec("lie", filepath.Join(s.worktree, "ticks"), `{"Exit":3,"Wrote":[0,0]}`))
	if err := s.jail.Close(); err != nil {
		t.Error(err)
	}
	if n := processes(t, s.worktree); n != 0 {
		t.Errorf("%d processes outlive their jail", n)
	}
}

// TestNotYetAnswered: who has not said all, or not in full, is waited for to the end.
func TestNotYetAnswered(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		s := newSite(t, level)
		says := []string{`{"Exit":3,"Wrote":[1,0]}`, `{"Exit":3,"Wrote":[0,1]}`, `{"Exit":3}`, `{"Exit":3,"Wrote":[0,0]`, `"x"`}
		if level == confine.Landlock {
			says = append(says, `{"Exit":3,"Wrote":[0,0]}`) // there the kill may come too late for a moment
		}
		for _, said := range says {
			spec := s.spec("lie", filepath.Join(s.worktree, "ticks"), said)
			spec.Limits.Wall = 400 * time.Millisecond
			if got := s.run(spec); got.Elapsed < 250*time.Millisecond {
				t.Errorf("%s, %s: answered after %s: %+v", level, said, got.Elapsed, got)
			}
			if n := processes(t, s.worktree); n != 0 {
				t.Errorf("%s, %s: %d processes are left", level, said, n)
			}
		}
	}
}
