package confine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"world/fault"
)

// grace is how much earlier the inner clock ends a run than the outer one, so that
// the orderly end comes first and can say which limit it was. Also how long pipes
// may stay open after the program is dead.
const grace = 150 * time.Millisecond

// Run runs one program and returns when its whole tree is dead; a verb inside
// namespaces that has ended by itself has then been killed, and is dead before another
// run on its worktree begins and before Close returns. An error means
// that nothing ran: Unavailable when the floor is above the level reached or the
// fence could not be built, Invalid when the spec is not one. How a program that
// ran ended, well or badly, is in the Result.
func (j *Jail) Run(ctx context.Context, s Spec) (Result, error) {
	if j.reach.Level < s.Floor {
		return Result{}, fault.New("confine: run", fault.Unavailable,
			"this needs confinement level %s and the machine reaches %s", s.Floor, j.reach.Level)
	}
	if s.Worktree != "" {
		j.ends.wait(ctx, s.Worktree)
	}
	if s.Warm && j.pool != nil && (s.verb() || j.reach.Level == Namespaces) {
		return j.pool.run(ctx, s)
	}
	return j.runAt(ctx, j.reach.Level, s)
}

// admit refuses a spec that is none, or needs what a level does not give.
func (j *Jail) admit(level Level, s Spec) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.FileAt != "" && level != Namespaces {
		return fault.New("confine: run", fault.Unavailable, "a file at a place of its own needs level %s", Namespaces)
	}
	return s.Overlay.admits(level, j.reach)
}

func (j *Jail) runAt(ctx context.Context, level Level, s Spec) (Result, error) {
	if err := j.admit(level, s); err != nil {
		return Result{}, err
	}
	if s.shorten(ctx); s.Limits.Wall <= 0 || ctx.Err() != nil {
		return Result{Level: level, Exit: -1, Bound: boundOf(ctx)}, nil
	}
	s.User = j.userOf(s)
	r := &run{level: level, spec: s}
	defer r.closeFiles()
	if err := r.launch(j); err != nil {
		return Result{}, err
	}
	return r.watch(ctx)
}

// families is how many users a family has.
const families = 64

// userOf returns the user that runs a spec. A family in another process has others.
func (j *Jail) userOf(s Spec) User {
	if s.Family == "" {
		return s.User
	}
	return UserOf(fmt.Sprint(s.Family, " ", j.salt, " ", j.turn.Add(1)%families))
}

// innerWall is when the first stage itself ends the run.
func (s Spec) innerWall() time.Duration { return s.Limits.Wall - min(grace, s.Limits.Wall/4) }

// shorten cuts the wall time to what the context leaves.
func (s *Spec) shorten(ctx context.Context) {
	if end, ok := ctx.Deadline(); ok {
		s.Limits.Wall = min(s.Limits.Wall, time.Until(end)-s.Overlay.time())
	}
}

// boundOf says why a context ended: its deadline, unless somebody cancelled it.
func boundOf(ctx context.Context) Bound {
	if errors.Is(ctx.Err(), context.Canceled) {
		return CallerBound
	}
	return WallBound
}
