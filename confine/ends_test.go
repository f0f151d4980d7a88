package confine_test

import (
	"context"
	"path/filepath"
	"strings"
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
		spec := s.spec("lie", ticks, `{"Exit":3}`)
		spec.Warm = warm
		if got := s.run(spec); got.Exit != 3 || got.Bound != confine.Unbounded || got.Elapsed > spec.Limits.Wall/2 {
			t.Errorf("%+v", got)
		}
		if got := s.run(s.spec("list", ".")); got.Exit != 0 {
			t.Errorf("%+v", got)
		}
		quiet(t, ticks)
	}
	s.run(s.spec("lie", filepath.Join(s.worktree, "ticks"), `{"Exit":3}`))
	if err := s.jail.Close(); err != nil {
		t.Error(err)
	}
	if n := processes(t, s.worktree); n != 0 {
		t.Errorf("%d processes outlive their jail", n)
	}
}

// TestNotYetAnswered: who has not said that he ended by himself is waited for to the end.
func TestNotYetAnswered(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		s := newSite(t, level)
		says := []string{`{"Exit":3,"Bound":"cpu"}`, `{"Exit":3,"Unstarted":true}`, `{"Exit":3`, `"x"`}
		if level == confine.Landlock {
			says = append(says, `{"Exit":3}`) // there nobody knows what else lives
		}
		for _, said := range says {
			spec := s.spec("lie", filepath.Join(s.worktree, "ticks"), said)
			spec.Limits.Wall = 400 * time.Millisecond
			began := time.Now()
			s.jail.Run(context.Background(), spec) // its end is a lie that is believed, or none
			if took := time.Since(began); took < 250*time.Millisecond {
				t.Errorf("%s, %s: answered after %s", level, said, took)
			}
			if n := processes(t, s.worktree); n != 0 {
				t.Errorf("%s, %s: %d processes are left", level, said, n)
			}
		}
	}
}

// TestAnsweredInFull: what was written last is in the answer, however much of it lay
// in the pipe, and what a program leaves behind neither holds it up nor adds to it.
func TestAnsweredInFull(t *testing.T) {
	s := newWarm(t, confine.Namespaces, 4)
	text := strings.Repeat("0123456789abcde\n", 4000)
	for i := range 20 {
		spec := s.warm(text[:i*3199], "echo")
		if i%2 == 1 {
			spec = s.over("cat; (sleep 60; echo late) & (sleep 60 >&2) &")
			spec.Warm, spec.Stdin = i%4 == 1, []byte(text[:i*3199])
		}
		if got := s.run(spec); string(got.Stdout) != text[:i*3199] || got.Exit != 0 || got.Elapsed > spec.Limits.Wall/2 {
			t.Errorf("run %d: %d bytes of %d, %+v", i, len(got.Stdout), i*3199, got.Bound)
		}
	}
}
