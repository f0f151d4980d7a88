package confine

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"world/fault"
)

// Options say what a Jail is made of.
type Options struct {
	// Stage is the program whose main is Main of this package: it runs first
	// inside every fence. The Jail does not close it.
	Stage *Image

	// Hidden are paths that no program may see although they lie in the system's
	// directories, and that nothing to show may hold: the state directory, the workspace
	// root. This process's home is one besides.
	Hidden []string

	// Ceiling keeps the level down, for machines where an operator knows better and
	// for tests of the lower levels; 0 is no ceiling.
	Ceiling Level

	// Workers is how many processes may wait for the input of a warm run, all
	// together; 0: none ever waits.
	Workers int
}

// Jail runs programs. It is safe for concurrent use.
type Jail struct {
	stage  *Image
	hidden []string
	bwrap  string // "" when there is none
	outer  bool   // bubblewrap is started in a pid namespace of its own
	reach  Reach
	salt   string // of the users of families, as is turn
	turn   atomic.Uint64
	pool   *pool // nil: none waits
	ends   ends
}

// New makes a jail and proves how strong it is by attacking it; that takes tens of
// milliseconds. A jail that reaches no level is Unavailable.
func New(o Options) (*Jail, error) {
	if o.Stage == nil {
		return nil, fault.New("confine: new", fault.Invalid, "a jail needs a first stage")
	}
	// What this process inherited is its own: no program gets it.
	if err := unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fault.Wrap("confine: new", fault.Unavailable, err, "inherited descriptors cannot be kept back")
	}
	j := &Jail{stage: o.Stage, bwrap: findBubblewrap(), outer: true, salt: rand.Text()}
	j.hidden = slices.Clone(o.Hidden)
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) != "/" {
		j.hidden = append(j.hidden, home)
	}
	ceiling := o.Ceiling
	if ceiling == 0 {
		ceiling = Namespaces
	}
	reach, err := j.prove(ceiling)
	if err != nil {
		return nil, err
	}
	j.reach = reach
	if o.Workers > 0 {
		j.pool = newPool(j, o.Workers)
	}
	return j, nil
}

// Close ends every process that waits for a run, and returns when they are dead, and
// those of runs that were answered. Runs that are under way stay, and later ones find
// nobody waiting.
func (j *Jail) Close() error {
	if j.pool != nil {
		j.pool.close()
	}
	j.ends.all.Wait()
	return nil
}

// Dismiss ends every process that waits for a run on a worktree, such as one of an
// episode that has ended, and returns when those that waited already are dead, and
// those of runs there that were answered.
func (j *Jail) Dismiss(worktree string) {
	if j.pool != nil {
		j.pool.dismiss(worktree)
	}
	j.ends.wait(context.Background(), worktree)
}

// Stage returns the first stage, so that callers can tell whether a program is it.
func (j *Jail) Stage() *Image { return j.stage }

// Reach returns what the attacks at start showed.
func (j *Jail) Reach() Reach { return j.reach }

// CanShow reports whether a directory can be a Spec.Readable: a program's user can
// walk to it, and showing it would not uncover what must stay hidden.
func (j *Jail) CanShow(dir string, hidden []string, user User) bool {
	_, err := hide(append(hidden, j.hidden...), []string{dir}, user)
	return err == nil && isDir(dir) && Reachable(dir, user)
}

// findBubblewrap looks where distributions install it, and not along PATH, which
// belongs to whoever started the daemon.
func findBubblewrap() string {
	for _, path := range []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
