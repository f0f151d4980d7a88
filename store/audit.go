package store

import "context"

// Auditor opens a store to fsck.
type Auditor interface {
	// Audit fixes its upper bounds now and sees nothing newer, so that writers
	// beside it cause no finding (D16).
	Audit(ctx context.Context) (Audit, error)
}

// Row is one stored row as the engine reads it, never refused: a row that does
// not decode, or does not match the digest of its columns, comes with Fault set.
type Row[T any] struct {
	Value T
	Fault error
	Name  func(T) string // of the row, for Where
}

// Where is the row's table and key, such as "log 17".
func (r Row[T]) Where() string { return r.Name(r.Value) }

// StoredObject is an object as stored: Ref is the key, and nothing is checked.
type StoredObject struct {
	Ref    Ref
	Bytes  []byte
	Labels []Label
}

// HeadMove is one registry head as stored.
type HeadMove struct {
	Name string
	To   Ref
}

// Audit streams raw rows. Each method visits all rows of its kind below the
// bounds, and stops at the first error of visit. Rows come in key order, but
// objects and claims as they lie.
type Audit interface {
	// Engine runs the engine's own integrity check and compares the schema with
	// the one this build writes; each finding is one line.
	Engine(ctx context.Context) ([]string, error)

	// Object looks one object up, NotFound when there is none.
	Object(ctx context.Context, ref Ref) (Row[StoredObject], error)

	Objects(ctx context.Context, visit func(Row[StoredObject]) error) error
	Entries(ctx context.Context, visit func(Row[Entry]) error) error
	Head(ctx context.Context) (Row[Head], error) // NotFound when there is none
	LastTime(ctx context.Context) (Row[int64], error)
	Claims(ctx context.Context, visit func(Row[Claim]) error) error
	Intents(ctx context.Context, visit func(Row[Intent]) error) error
	Ledgers(ctx context.Context, visit func(Row[Ledger]) error) error
	Sessions(ctx context.Context, visit func(Row[Session]) error) error
	Registries(ctx context.Context, visit func(Row[HeadMove]) error) error
	Leases(ctx context.Context, visit func(Row[Lease]) error) error
	Close() error
}
