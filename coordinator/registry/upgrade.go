package registry

import (
	"bytes"
	"context"

	"world/canon"
	"world/store"
	"world/store/record"
)

// Difference is a built-in that the registry does not serve as this binary has it.
type Difference struct {
	ID   store.TransitionID
	What []string // the parts that differ; empty when it is not served at all
}

// Differences compares the built-ins with the registry's newest revision and
// changes nothing. NotFound before genesis.
func Differences(ctx context.Context, r store.Reader, builtins []Builtin, interpreter store.Ref) ([]Difference, error) {
	current, err := Current(ctx, r)
	if err != nil {
		return nil, err
	}
	ours, _, err := First(builtins, interpreter)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for _, d := range ours.Entries {
		served, ok := current.Find(d.ID)
		if !ok {
			all = append(all, Difference{ID: d.ID})
		} else if what := differing(served, d); len(what) > 0 {
			all = append(all, Difference{d.ID, what})
		}
	}
	return all, nil
}

// differing names the parts in which two descriptors of one transition differ.
func differing(a, b record.Descriptor) (what []string) {
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"source", a.TransitionFn, b.TransitionFn}, {"interpreter", a.Interpreter, b.Interpreter},
		{"semantics epoch", a.SemanticsEpoch, b.SemanticsEpoch}, {"title", a.Title, b.Title},
		{"description", a.Description, b.Description}, {"input schema", a.InputSchema, b.InputSchema},
		{"output schema", a.OutputSchema, b.OutputSchema}, {"access", a.Access, b.Access},
		{"declared effects", a.DeclaredEffects, b.DeclaredEffects},
	} {
		if !bytes.Equal(canon.Encode(part.a), canon.Encode(part.b)) {
			what = append(what, part.name)
		}
	}
	return what
}

// Upgrade keeps this binary's interpreter and publishes its built-ins under it, as
// Publish does: what else the registry serves stays, and so do all interpreters
// that were kept before. The caller has asked a human (D30).
func Upgrade(ctx context.Context, s store.Store, builtins []Builtin, interpreter []byte, now int64) (Revision, bool, error) {
	program := store.NewObject(record.Interpreter, provenance, interpreter)
	if err := s.Keep(ctx, []store.Object{program}); err != nil {
		return Revision{}, false, err
	}
	return Publish(ctx, s, builtins, program.Ref(), now)
}
