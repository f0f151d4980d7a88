// Package rows says how each kind of row is kept: its columns, the values that
// write it, and a function that reads it and says whether it is whole. Engines
// differ in how they name and lock rows, not in what a row holds.
//
// It promises that a row which was changed underneath the engine, in whatever
// column, reads as Corrupt, naming the row. Refs are kept as 32 bytes, "" as
// none; every row but the bytes of objects carries the digest of its columns.
//
// Source: DESIGN decision D16.
package rows

import (
	"fmt"

	"world/fault"
	"world/store"
)

// Scanner is a row as a driver gives it.
type Scanner interface{ Scan(dest ...any) error }

// Blob is a ref as it is kept: 32 bytes, or none for "".
func Blob(r store.Ref) []byte {
	if r == "" {
		return []byte{}
	}
	sum := r.Sum()
	return sum[:]
}

// RefColumn reads kept refs back.
type RefColumn struct{ to *store.Ref }

// Ref reads a column into a ref.
func Ref(to *store.Ref) RefColumn { return RefColumn{to} }

// Scan implements sql.Scanner.
func (c RefColumn) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok && v != nil {
		return fmt.Errorf("a ref column holds %T", v)
	}
	return c.ScanBytes(b)
}

// ScanBytes reads the bytes of a column as a driver that knows them gives them.
func (c RefColumn) ScanBytes(b []byte) error {
	switch len(b) {
	case 0:
		c.Set("")
	case 32:
		c.Set(store.RefFromSum([32]byte(b)))
	default:
		return fmt.Errorf("a ref column holds %d bytes", len(b))
	}
	return nil
}

// Set is ScanBytes for who knows which ref the bytes are.
func (c RefColumn) Set(r store.Ref) { *c.to = r }

// Damaged reports a row that does not say what was written.
func Damaged(what string, args ...any) error {
	return fault.New("store: read row", fault.Corrupt, what, args...)
}

// reading makes a function that reads rows of one kind, one after another, through
// the same values, which dest lists in the order of their columns.
func reading[T any](where func(T) string, want func(T) store.Digest, dest func(*T) []any) func(Scanner) (T, error) {
	var v T
	var got []byte
	columns := append(dest(&v), &got)
	return func(row Scanner) (T, error) {
		var none T
		v, got = none, nil
		if err := row.Scan(columns...); err != nil {
			return v, Damaged("%s does not decode", where(v))
		}
		return v, Matches(got, want(v), func() string { return where(v) })
	}
}

// Whole reads one row into v, digest last, and compares. Where names the row.
func Whole[T any](row Scanner, v *T, where func(T) string, want func(T) store.Digest, dest ...any) error {
	var got []byte
	if err := row.Scan(append(dest, &got)...); err != nil {
		return Damaged("%s does not decode", where(*v))
	}
	return Matches(got, want(*v), func() string { return where(*v) })
}

// Matches compares a stored digest with the one that the row should have.
func Matches(got []byte, want store.Digest, where func() string) error {
	if string(want[:]) != string(got) {
		return Damaged("%s does not match its digest", where())
	}
	return nil
}
