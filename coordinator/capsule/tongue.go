package capsule

import (
	"context"
	"errors"

	"world/confine"
	"world/fault"
	"world/store"
)

// tongue is how one interpreter is spoken to: what a run of it is, and what its end
// means.
type tongue struct {
	name  string
	spec  func(source, input []byte) (confine.Spec, error)
	judge func(ctx context.Context, r confine.Result) ([]byte, error)
}

// starlark is the tongue of world-tool of this build and of earlier ones.
var starlark = tongue{
	name: "world-tool",
	spec: func(source, input []byte) (confine.Spec, error) {
		return confine.Spec{Args: []string{Verb}, Stdin: EncodeRequest(source, input), Limits: limits}, nil
	},
	judge: judge,
}

// trial is a program that an interpreter is tried with, and the probe its input.
type trial struct{ needs, source string }

const (
	probe  = `a "probe" of \ three: é`
	leaked = "leaked"
)

// ours answers in world-tool's tongue with its input and one more character.
var ours = trial{source: "def main(a): return a + '!'"}

// prove finds out how an interpreter is spoken to, and that it gives no program what
// none was granted: a pure program must run, and one that uses a capability must
// fail, both without any. What speaks neither tongue, or grants what it was not
// given, is Unavailable.
func (r *Jailed) prove(ctx context.Context, image *confine.Image) (tongue, error) {
	if got, err := r.speak(ctx, starlark, image, ours.source, probe); err == nil && string(got) == probe+"!" {
		return starlark, nil
	} else if fault.Is(err, fault.Timeout) {
		return tongue{}, err
	}
	got, err := r.speak(ctx, ailang, image, pure.source, probe)
	if fault.Is(err, fault.Timeout) {
		return tongue{}, err
	}
	if err != nil || string(got) != probe+"!" {
		return tongue{}, fault.Wrap("capsule: prove", fault.Unavailable, errors.Join(err, errors.New(string(got))),
			"interpreter %s runs a pure program neither as world-tool does nor as AILANG does", image.Ref)
	}
	for _, t := range impure {
		got, err := r.speak(ctx, ailang, image, t.source, probe)
		if fault.Is(err, fault.Timeout) {
			return tongue{}, err
		}
		if !fault.Is(err, fault.Failed) {
			return tongue{}, fault.Wrap("capsule: prove", fault.Unavailable, errors.Join(err, errors.New(string(got))),
				"interpreter %s did not refuse a program that needs %s, though it was given no capability", image.Ref, t.needs)
		}
	}
	return ailang, nil
}

// proved is what prove found of an interpreter, once.
func (r *Jailed) proved(ctx context.Context, image *confine.Image) (tongue, error) {
	if image.Ref == r.Jail.Stage().Ref {
		return starlark, nil // this build's own
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.tongues[image.Ref]; ok {
		return t, nil
	}
	t, err := r.prove(ctx, image)
	if err == nil {
		r.tongues[image.Ref] = t
	}
	return t, err
}

// Prove makes sure of an interpreter before the first call needs it, and returns how
// it is spoken to. Errors as those of Run.
func (r *Jailed) Prove(ctx context.Context, ref store.Ref) (name string, err error) {
	image, err := r.Archive.Image(ctx, ref)
	if err != nil {
		return "", err
	}
	t, err := r.proved(ctx, image)
	return t.name, err
}

// speak runs one program in one interpreter.
func (r *Jailed) speak(ctx context.Context, t tongue, image *confine.Image, source, input string) ([]byte, error) {
	spec, err := t.spec([]byte(source), []byte(input))
	if err != nil {
		return nil, err
	}
	spec.Floor, spec.Family = max(r.Floor, spec.Floor), family
	if image.Ref == r.Jail.Stage().Ref {
		spec.Warm = true
	} else {
		spec.Program = image
	}
	result, err := r.Jail.Run(ctx, spec)
	if err != nil {
		return nil, err
	}
	return t.judge(ctx, result)
}
