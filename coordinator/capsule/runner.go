package capsule

import (
	"context"
	"errors"
	"sync"
	"time"

	"world/confine"
	"world/fault"
	"world/store"
)

// longest is how long a run may take whose context has no earlier deadline.
const longest = 10 * time.Second

// family names the users that take turns in running capsules, so that two that run
// at the same time are strangers to each other.
const family = "capsule"

// Options is what a runner needs. All but Floor are required.
type Options struct {
	Jail    *confine.Jail
	Archive *Archive
	Floor   confine.Level // default landlock: the evaluator is our own code (D26)
}

// New returns the runner of pure functions.
func New(o Options) *Jailed {
	if o.Floor == 0 {
		o.Floor = confine.Landlock
	}
	return &Jailed{Options: o, tongues: map[store.Ref]tongue{}}
}

// Jailed runs pure functions in the jail, each in a process of its own. An
// interpreter other than this build's is proved before its first run; see Prove.
type Jailed struct {
	Options

	mu      sync.Mutex
	tongues map[store.Ref]tongue // of interpreters that were proved
}

var _ Runner = (*Jailed)(nil)

// Run implements Runner. What the interpreter prints on stderr goes into the
// error's cause, for logs only.
func (r *Jailed) Run(ctx context.Context, p Program, input []byte) ([]byte, error) {
	if len(p.Source) > MaxSource || len(input) > MaxInput {
		return nil, fault.New("capsule: run", fault.Limit, "program or input is too large: %d and %d bytes", len(p.Source), len(input))
	}
	image, err := r.Archive.Image(ctx, p.Interpreter)
	if err != nil {
		return nil, err
	}
	t, err := r.proved(ctx, image)
	if err != nil {
		return nil, err
	}
	return r.speak(ctx, t, image, string(p.Source), string(input))
}

// limits bound one run beside the context's deadline. Memory holds the evaluator,
// a request and a response several times over.
var limits = confine.Limits{
	Wall: longest, CPU: longest, Memory: 256 << 20, FileSize: 1, Files: 16,
	Processes: 64, Output: MaxOutput + 64<<10, Scratch: 1 << 16,
}

// judge turns the end of a run into the kinds that Runner promises.
func judge(ctx context.Context, r confine.Result) ([]byte, error) {
	cause := errors.New(string(r.Stderr))
	if r.Bound != confine.Unbounded {
		return bounded(ctx, r)
	}
	switch r.Exit {
	case ExitDone:
		if len(r.Stdout) > MaxOutput {
			return bounded(ctx, r)
		}
		return r.Stdout, nil
	case ExitInvalid:
		return nil, fault.Wrap("capsule: run", fault.Invalid, cause, "the program has no main from one string to one string")
	case ExitFailed:
		return nil, fault.Wrap("capsule: run", fault.Failed, cause, "the program failed")
	case ExitLimit:
		return limited(r, "steps or output")
	case ExitRequest:
		return nil, fault.Wrap("capsule: run", fault.Internal, cause, "")
	}
	// An interpreter that runs as a child of the first stage, and died.
	return limited(r, "it died, of memory most likely")
}

// bounded is the error of a run that reached a bound, or whose output did.
func bounded(ctx context.Context, r confine.Result) ([]byte, error) {
	switch r.Bound {
	case confine.Unbounded:
		return limited(r, "output")
	case confine.CallerBound:
		return nil, fault.Wrap("capsule: run", fault.Timeout, ctx.Err(), "the call ended before the capsule did")
	case confine.Died:
		return limited(r, "it died, of memory most likely")
	}
	return limited(r, string(r.Bound))
}

func limited(r confine.Result, what string) ([]byte, error) {
	return nil, fault.Wrap("capsule: run", fault.Limit, errors.New(string(r.Stderr)), "the capsule reached its limit: %s", what)
}
