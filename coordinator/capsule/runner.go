package capsule

import (
	"context"
	"errors"
	"time"

	"world/confine"
	"world/fault"
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
func New(o Options) Runner {
	if o.Floor == 0 {
		o.Floor = confine.Landlock
	}
	return &runner{o}
}

type runner struct{ Options }

// Run implements Runner. What the interpreter prints on stderr goes into the
// error's cause, for logs only.
func (r *runner) Run(ctx context.Context, p Program, input []byte) ([]byte, error) {
	if len(p.Source) > MaxSource || len(input) > MaxInput {
		return nil, fault.New("capsule: run", fault.Limit, "program or input is too large: %d and %d bytes", len(p.Source), len(input))
	}
	image, err := r.Archive.Image(ctx, p.Interpreter)
	if err != nil {
		return nil, err
	}
	spec := confine.Spec{
		Floor: r.Floor, Args: []string{Verb}, Stdin: EncodeRequest(p.Source, input),
		Family: family, Limits: limits,
	}
	if image.Ref == r.Jail.Stage().Ref {
		spec.Warm = true
	} else {
		spec.Program = image
	}
	result, err := r.Jail.Run(ctx, spec)
	if err != nil {
		return nil, err
	}
	return judge(ctx, result)
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
	limit := func(what string) ([]byte, error) {
		return nil, fault.Wrap("capsule: run", fault.Limit, cause, "the capsule reached its limit: %s", what)
	}
	switch r.Bound {
	case confine.Unbounded:
	case confine.CallerBound:
		return nil, fault.Wrap("capsule: run", fault.Timeout, ctx.Err(), "the call ended before the capsule did")
	case confine.Died:
		return limit("it died, of memory most likely")
	default:
		return limit(string(r.Bound))
	}
	switch r.Exit {
	case ExitDone:
		if len(r.Stdout) > MaxOutput {
			return limit("output")
		}
		return r.Stdout, nil
	case ExitInvalid:
		return nil, fault.Wrap("capsule: run", fault.Invalid, cause, "the program has no main from one string to one string")
	case ExitFailed:
		return nil, fault.Wrap("capsule: run", fault.Failed, cause, "the program failed")
	case ExitLimit:
		return limit("steps or output")
	case ExitRequest:
		return nil, fault.Wrap("capsule: run", fault.Internal, cause, "")
	}
	// An interpreter that runs as a child of the first stage, and died.
	return limit("it died, of memory most likely")
}
