package confine

import (
	"context"
	"os"
	"time"

	"world/fault"
)

// Overlay asks for a private layer over the worktree: the program sees the
// worktree and may change all of it, and what it changes lies in the layer. When
// the program has ended by itself, and everything that it started is dead, the
// layer is judged by the stage's Applier and applied to the worktree, or refused
// whole. A run that reaches a bound changes nothing. It needs level namespaces and
// a program of its own, since a verb is the first stage itself, which holds the
// worktree (D27).
//
// Moving a directory that was there before answers EXDEV inside.
type Overlay struct {
	Law   []byte        `json:"-"` // for the Applier; the program does not get it. Nil: the layer is thrown away
	Bytes int64         // size of the layer
	Files int64         // files, directories and links in the layer together
	Shut  []string      // regular files in the worktree that the program finds empty, and can neither write nor take away
	Time  time.Duration // for judging and applying, on top of Limits.Wall; two thirds are kept for applying, or for clearing up
}

// Applier judges what a program left in its layer, and applies it. It reads all of
// it, and refuses with an error, whose text an agent may read, or calls Begin, changes
// the worktree and returns a report of what it changed, at most MaxChanges bytes. Where
// Begin says false, or ctx has ended before, its error is that of ctx, and nothing
// that it made is left; an error after Begin means that some may have been applied.
// Nothing else touches either tree meanwhile.
type Applier func(ctx context.Context, t TakeOver) (report []byte, err error)

// TakeOver is what an Applier works on.
type TakeOver struct {
	Law             []byte
	Layer, Worktree *os.Root
	Bytes           int64       // Overlay.Bytes: the layer has no more of them, and no more are to be written for it
	Begin           func() bool // from here on the worktree may be changed, and nobody ends that
}

// MaxChanges is the largest report of an Applier, in bytes.
const MaxChanges = 256 << 10

// Applied says what became of a layer. Append only.
type Applied string

const (
	NotApplied   Applied = ""        // the worktree is as it was before
	WasApplied   Applied = "applied" // all of it, be it nothing
	MaybeApplied Applied = "unknown" // it was begun and did not come to its end
)

// check refuses an overlay that cannot be made for this run.
func (o *Overlay) check(s Spec) error {
	switch {
	case o == nil:
		return nil
	case o.Bytes <= 0 || o.Files <= 0 || o.Time <= 0:
		return invalid("every limit of an overlay must be positive")
	case s.Worktree == "" || s.ReadOnly:
		return invalid("an overlay lies over a worktree that may be written")
	case s.verb():
		return invalid("a verb of the first stage cannot run over an overlay")
	}
	return nil
}

// time is what a run over this overlay may take beside Limits.Wall.
func (o *Overlay) time() time.Duration {
	if o == nil {
		return 0
	}
	return o.Time
}

// admits refuses an overlay that this machine cannot make.
func (o *Overlay) admits(level Level, r Reach) error {
	if o == nil || level == Namespaces && r.overlay == "" {
		return nil
	}
	why := r.overlay
	if level != Namespaces {
		why = "level " + level.String()
	}
	return fault.New("confine: run", fault.Unavailable, "a program needs a private layer over the worktree, which this machine does not give: %s", why)
}
