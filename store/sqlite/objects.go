package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// Keep implements store.Store.
func (s *Store) Keep(ctx context.Context, objects []store.Object) error {
	const op = "sqlite: keep"
	if err := s.writable(op); err != nil {
		return err
	}
	if err := store.CheckObjects(op, objects); err != nil {
		return err
	}
	return s.writer.do(ctx, op,
		func(c *conn) error { return putObjects(c, objects, nobody) },
		func(c *conn) (bool, error) {
			for _, o := range objects {
				if n, err := countObjects(c, o.Ref()); err != nil || n == 0 {
					return false, err
				}
			}
			return true, nil
		})
}

// objectRows is how many rows of objects go into one statement at most: calls
// carry fewer, and few different statements stay prepared.
const objectRows = 16

// subject is what the entry of a transaction is about.
type subject struct {
	ref   store.Ref
	index int64 // of the entry
}

var nobody = subject{"", none}

// none is the number of no row.
const none = -1

// putObjects stores what is new. Bytes that are there already stay as they are,
// and another label for them is added. The subject is marked as such.
func putObjects(c *conn, objects []store.Object, about subject) error {
	fresh := make([]store.Object, 0, len(objects))
	for _, o := range objects {
		if !c.known.has(o) {
			fresh = append(fresh, o)
		}
	}
	marked := about.ref == ""
	for part := range slices.Chunk(fresh, objectRows) {
		args := make([]any, 0, 6*len(part))
		with := false
		for _, o := range part {
			l, index := o.Label(), int64(none)
			if o.Ref() == about.ref {
				with, index = true, about.index
			}
			d := store.ObjectDigest(o.Ref(), l)
			args = append(args, rows.Blob(o.Ref()), l.SemanticID, l.Provenance, d[:], index, o.Bytes())
		}
		n, err := c.exec(insertObjects[len(part)], args...)
		if err == nil && n < int64(len(part)) {
			if err = putTwins(c, part); err == nil {
				err = putLabels(c, part)
			}
			with = false
		}
		if err != nil {
			return err
		}
		marked = marked || with
	}
	for _, o := range fresh {
		c.known.stored(o)
	}
	if marked {
		return nil
	}
	return mark(c, about)
}

// mark notes the first entry about an object, when there is none yet.
func mark(c *conn, about subject) error {
	_, err := c.exec("UPDATE objects SET about = ?1 WHERE "+hashIs(2)+" AND about < 0", about.index, rows.Blob(about.ref))
	return err
}

// insertObjects[n] inserts n objects, but for those that are stored and those whose
// hashes start as another's does.
var insertObjects = func() (all [objectRows + 1]string) {
	const object = "(?,?,?,?,?,?,0)"
	for n := range all {
		all[n] = "INSERT INTO objects (hash, semantic_id, provenance, digest, about, bytes, twin) VALUES " +
			strings.TrimSuffix(strings.Repeat(object+",", n), ",") + " ON CONFLICT DO NOTHING"
	}
	return all
}()

// hashIs is the condition that an object's hash is parameter number n, as the index
// serves it.
func hashIs(n int) string {
	return fmt.Sprintf("substr(objects.hash, 1, 8) = substr(?%d, 1, 8) AND objects.hash = ?%d", n, n)
}

// putTwins stores those objects that are still missing: their hashes start as
// another's does.
func putTwins(c *conn, objects []store.Object) error {
	for _, o := range objects {
		l := o.Label()
		d := store.ObjectDigest(o.Ref(), l)
		if _, err := c.exec(insertTwin, rows.Blob(o.Ref()), l.SemanticID, l.Provenance, d[:], o.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

var insertTwin = "INSERT INTO objects (hash, semantic_id, provenance, digest, about, bytes, twin) SELECT ?1, ?2, ?3, ?4, -1, ?5, " +
	"(SELECT count(*) FROM objects WHERE substr(hash, 1, 8) = substr(?1, 1, 8)) " +
	"WHERE NOT EXISTS (SELECT 1 FROM objects WHERE " + hashIs(1) + ")"

// putLabels adds the labels that differ from the first one of their object. The join
// is a cross join so that it starts with the few: left free, SQLite starts with all
// objects there are.
func putLabels(c *conn, objects []store.Object) error {
	args := make([]any, 0, 4*len(objects))
	for _, o := range objects {
		l := o.Label()
		d := store.LabelDigest(o.Ref(), l)
		args = append(args, rows.Blob(o.Ref()), l.SemanticID, l.Provenance, d[:])
	}
	_, err := c.exec("INSERT INTO labels (hash, semantic_id, provenance, digest) "+
		"SELECT n.column1, n.column2, n.column3, n.column4 FROM (VALUES "+values(len(objects), 4)+") n "+
		"CROSS JOIN objects o ON substr(o.hash, 1, 8) = substr(n.column1, 1, 8) AND o.hash = n.column1 "+
		"WHERE (o.semantic_id, o.provenance) <> (n.column2, n.column3) "+
		"ON CONFLICT (hash, semantic_id, provenance) DO NOTHING", args...)
	return err
}

// storedSQL is an expression for how many of n refs are stored, the first of which
// is parameter number first. It is not written with IN, for which SQLite would
// build a table of its own each time.
func storedSQL(first, n int) string {
	var b strings.Builder
	b.WriteString("0")
	for i := range n {
		fmt.Fprintf(&b, " + EXISTS (SELECT 1 FROM objects WHERE %s)", hashIs(first+i))
	}
	return b.String()
}

// countObjects is how many of refs are stored.
func countObjects(c *conn, refs ...store.Ref) (n int, err error) {
	_, err = c.row(func(row rows.Scanner) error { return row.Scan(&n) }, "SELECT "+storedSQL(1, len(refs)), blobs(refs)...)
	return n, err
}

// requireObject refuses a change that names an object which is not stored.
func requireObject(c *conn, op string, r store.Ref) error {
	if err := store.CheckRefs(op, r); err != nil {
		return err
	}
	n, err := countObjects(c, r)
	if err == nil && n == 0 {
		err = fault.New(op, fault.Invalid, "object %s is named but not stored", r)
	}
	return err
}

// notStored names the first of several objects that is not stored, as one is.
func notStored(c *conn, op string, named []store.Ref) error {
	for _, r := range named {
		if err := requireObject(c, op, r); err != nil {
			return err
		}
	}
	return fault.New(op, fault.Internal, "an object came to be inside a transaction")
}

func blobs(refs []store.Ref) []any {
	args := make([]any, len(refs))
	for i, r := range refs {
		args[i] = rows.Blob(r)
	}
	return args
}

// Object implements store.Reader.
func (s *Store) Object(ctx context.Context, r store.Ref) (o store.Object, err error) {
	err = s.readers.read(ctx, "sqlite: object", func(c *conn) error {
		row, err := readObject(c, r)
		if err == nil {
			err = row.Fault
		}
		if err == nil {
			l := row.Value.Labels[0]
			o = store.NewObject(l.SemanticID, l.Provenance, row.Value.Bytes)
			if o.Ref() != r {
				err = rows.Damaged("object %s has bytes of another hash", r)
			}
		}
		return err
	})
	return o, err
}

// readObject looks one object up, with its first label only.
func readObject(c *conn, r store.Ref) (o store.Row[store.StoredObject], err error) {
	o.Name = func(store.StoredObject) string { return fmt.Sprintf("object %s", r) }
	if _, err := store.ParseRef(string(r)); err != nil {
		return o, err
	}
	found, err := c.row(func(row rows.Scanner) error {
		o.Value, _, o.Fault = scanObject(row)
		return nil
	}, "SELECT "+objectColumns+" FROM objects WHERE "+hashIs(1), rows.Blob(r))
	if err == nil && !found {
		err = fault.New("sqlite: object", fault.NotFound, "object %s", r)
	}
	return o, err
}

// Labels implements store.Reader.
func (s *Store) Labels(ctx context.Context, r store.Ref) (labels []store.Label, err error) {
	const op = "sqlite: labels"
	if _, err := store.ParseRef(string(r)); err != nil {
		return nil, err
	}
	err = s.readers.read(ctx, op, func(c *conn) error {
		return snapshot(c, func() error {
			o, err := readObject(c, r)
			if err == nil {
				err = o.Fault
			}
			if err != nil {
				return err
			}
			further, err := many(c, func(row rows.Scanner) (store.Label, error) { return rows.ScanLabel(row, r) },
				"SELECT "+rows.LabelColumns+" FROM labels WHERE hash = ? ORDER BY semantic_id, provenance", rows.Blob(r))
			labels = append(o.Value.Labels, further...)
			return err
		})
	})
	return labels, err
}
