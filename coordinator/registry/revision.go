package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"world/canon"
	"world/fault"
	"world/store"
	"world/store/record"
)

// provenance labels the objects of this package.
const provenance = "host/registry"

const (
	maxSource = 1 << 20  // bytes
	maxSchema = 64 << 10 // bytes, canonical
)

// Revision is one registry revision with its ref.
type Revision struct {
	Ref store.Ref
	record.RegistryRevision
}

// Find returns the descriptor of a transition.
func (r Revision) Find(id store.TransitionID) (record.Descriptor, bool) {
	i, ok := slices.BinarySearchFunc(r.Entries, id, func(d record.Descriptor, id store.TransitionID) int {
		return cmp.Compare(d.ID, id)
	})
	if !ok {
		return record.Descriptor{}, false
	}
	return r.Entries[i], true
}

// Current reads the revision that the registry head names. NotFound before genesis.
func Current(ctx context.Context, r store.Reader) (Revision, error) {
	ref, err := r.Registry(ctx, record.RegistryName)
	if err != nil {
		return Revision{}, err
	}
	return Read(ctx, r, ref)
}

// Read reads one revision. Corrupt when the object is missing or no revision.
func Read(ctx context.Context, r store.Reader, ref store.Ref) (Revision, error) {
	const op = "registry: read"
	object, err := r.Object(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return Revision{}, fault.Wrap(op, fault.Corrupt, err, "registry revision %s is missing", ref)
	}
	if err != nil {
		return Revision{}, err
	}
	revision, err := record.DecodeRegistry(object.Bytes())
	if err != nil {
		return Revision{}, fault.Wrap(op, fault.Corrupt, err, "registry revision %s does not decode", ref)
	}
	return Revision{ref, revision}, nil
}

// First builds revision 1 of these built-ins under one interpreter, with the
// source objects that it names. Invalid when a built-in is not well formed.
func First(builtins []Builtin, interpreter store.Ref) (record.RegistryRevision, []store.Object, error) {
	revision := record.RegistryRevision{Revision: 1, Entries: []record.Descriptor{}}
	var sources []store.Object
	for _, b := range builtins {
		d, source, err := describe(b, interpreter)
		if err != nil {
			return revision, nil, err
		}
		revision.Entries = append(revision.Entries, d)
		sources = append(sources, source)
	}
	slices.SortFunc(revision.Entries, func(a, b record.Descriptor) int { return cmp.Compare(a.ID, b.ID) })
	return revision, sources, revision.Check()
}

// describe makes the descriptor and the source object of one built-in.
func describe(b Builtin, interpreter store.Ref) (record.Descriptor, store.Object, error) {
	const op = "registry: describe"
	if len(b.Source) == 0 || len(b.Source) > maxSource {
		return record.Descriptor{}, store.Object{}, fault.New(op, fault.Invalid, "transition %q: a source has 1 to %d bytes", b.ID, maxSource)
	}
	source := store.NewObject(record.Source, provenance, b.Source)
	d := record.Descriptor{
		ID: b.ID, Title: b.Title, Description: b.Description,
		TransitionFn: source.Ref(), Interpreter: interpreter,
		Access: b.Access, DeclaredEffects: append([]record.Triple{}, b.Declared...),
	}
	for _, schema := range []struct {
		raw json.RawMessage
		to  *json.RawMessage
	}{{b.InputSchema, &d.InputSchema}, {b.OutputSchema, &d.OutputSchema}} {
		canonical, err := canon.Canonical(schema.raw, canon.Limits{Bytes: 4 * maxSchema})
		if err != nil || len(canonical) > maxSchema {
			return d, source, fault.Wrap(op, fault.Invalid, err, "transition %q: a schema is a JSON object of at most %d bytes", b.ID, maxSchema)
		}
		*schema.to = canonical
	}
	return d, source, nil
}
