package rows

import "world/store"

// ObjectColumns are the columns of an object with its first label.
const ObjectColumns = "hash, semantic_id, provenance, bytes, digest"

// ScanObject reads an object's row with its first label; before lists what comes
// before its columns. The bytes are not hashed.
func ScanObject(row Scanner, before ...any) (o store.StoredObject, err error) {
	l := store.Label{}
	err = Whole(row, &o, func(o store.StoredObject) string { return "object " + string(o.Ref) },
		func(o store.StoredObject) store.Digest { return store.ObjectDigest(o.Ref, l) },
		append(before, Ref(&o.Ref), &l.SemanticID, &l.Provenance, &o.Bytes)...)
	o.Labels = []store.Label{l}
	return o, err
}

// LabelColumns are the columns of a further label, after the object's hash.
const LabelColumns = "semantic_id, provenance, digest"

// ScanLabel reads a further label of an object.
func ScanLabel(row Scanner, r store.Ref) (l store.Label, err error) {
	err = Whole(row, &l, func(store.Label) string { return "a label of object " + string(r) },
		func(l store.Label) store.Digest { return store.LabelDigest(r, l) }, &l.SemanticID, &l.Provenance)
	return l, err
}
