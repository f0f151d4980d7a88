package registry

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"world/canon"
	"world/store"
	"world/store/record"
)

// Publish adds transitions to the registry, or replaces those of the same id, as
// one more revision in one act with a log entry. It changes nothing, and says so,
// when the registry serves exactly these already. now is in logical unix seconds.
// Errors: Invalid when a transition is not well formed or the interpreter is not
// kept, Conflict when the registry moved meanwhile. The caller has asked a human (D30).
func Publish(ctx context.Context, s store.Store, transitions []Builtin, interpreter store.Ref, now int64) (revision Revision, changed bool, err error) {
	current, err := Current(ctx, s)
	if err != nil {
		return Revision{}, false, err
	}
	next := record.RegistryRevision{Revision: current.Revision + 1, Parent: current.Ref, Entries: slices.Clone(current.Entries)}
	var objects []store.Object
	for _, b := range transitions {
		d, source, err := describe(b, interpreter)
		if err != nil {
			return Revision{}, false, err
		}
		objects = append(objects, source)
		changed = put(&next.Entries, d) || changed
	}
	if !changed {
		return current, false, nil
	}
	if err := next.Check(); err != nil {
		return Revision{}, false, err
	}
	registry := store.NewObject(record.Registry, provenance, next.Bytes())
	draft, err := HostDraft(ctx, s, "registry-publish", registry.Ref())
	if err != nil {
		return Revision{}, false, err
	}
	draft.Interpreter = interpreter
	_, err = s.Act(ctx, store.Act{
		Objects: append(objects, registry),
		Draft:   draft,
		Changes: []store.Change{store.MoveRegistry{Name: record.RegistryName, From: current.Ref, To: registry.Ref()}},
		At:      now,
	})
	return Revision{registry.Ref(), next}, err == nil, err
}

// put inserts or replaces a descriptor in id order and reports whether that changed anything.
func put(entries *[]record.Descriptor, d record.Descriptor) bool {
	i, found := slices.BinarySearchFunc(*entries, d.ID, func(d record.Descriptor, id store.TransitionID) int {
		return cmp.Compare(d.ID, id)
	})
	if !found {
		*entries = slices.Insert(*entries, i, d)
		return true
	}
	same := bytes.Equal(canon.Encode((*entries)[i]), canon.Encode(d))
	(*entries)[i] = d
	return !same
}
