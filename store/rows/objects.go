package rows

import "world/store"

// ObjectColumns are the columns of an object with its first label.
const ObjectColumns = "hash, semantic_id, provenance, bytes, digest"

// Objects reads objects' rows with their first labels, one after another; before
// lists what comes before their columns. The bytes are not hashed.
func Objects(before ...any) func(Scanner) (store.StoredObject, error) {
	type labelled struct {
		store.StoredObject
		label store.Label
	}
	next := reading(func(o labelled) string { return ObjectWhere(o.StoredObject) },
		func(o labelled) store.Digest { return store.ObjectDigest(o.Ref, o.label) },
		func(o *labelled) []any {
			return append(before, Ref(&o.Ref), &o.label.SemanticID, &o.label.Provenance, &o.Bytes)
		})
	return func(row Scanner) (store.StoredObject, error) {
		o, err := next(row)
		o.Labels = []store.Label{o.label}
		return o.StoredObject, err
	}
}

// ScanObject reads one object's row as Objects does.
func ScanObject(row Scanner, before ...any) (store.StoredObject, error) {
	return Objects(before...)(row)
}

// ObjectWhere names an object's row.
func ObjectWhere(o store.StoredObject) string { return "object " + string(o.Ref) }

// LabelColumns are the columns of a further label, after the object's hash.
const LabelColumns = "semantic_id, provenance, digest"

// ScanLabel reads a further label of an object.
func ScanLabel(row Scanner, r store.Ref) (l store.Label, err error) {
	err = Whole(row, &l, func(store.Label) string { return "a label of object " + string(r) },
		func(l store.Label) store.Digest { return store.LabelDigest(r, l) }, &l.SemanticID, &l.Provenance)
	return l, err
}
