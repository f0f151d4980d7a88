package coordtest

import (
	"context"

	"world/fault"
	"world/store"
)

// Faulty is a store whose operations are counted, and of which the nth fails, that
// one only or all that follow. It is for one caller.
type Faulty struct {
	store.Store
	At   int  // which operation, from 1; 0 for none
	On   bool // those that follow too
	Done bool // what fails is done all the same, and only its answer is lost
	Kind fault.Kind
	Hit  []string // the operations that failed
	n    int
}

func (f *Faulty) fails(op string) error {
	f.n++
	if f.At == 0 || f.n < f.At || f.n > f.At && !f.On {
		return nil
	}
	f.Hit = append(f.Hit, op)
	return fault.New("test: "+op, f.Kind, "injected")
}

func guard[T any](f *Faulty, op string, run func() (T, error)) (T, error) {
	var none T
	err := f.fails(op)
	if err == nil {
		return run()
	}
	if f.Done {
		if _, own := run(); own != nil {
			err = own
		}
	}
	return none, err
}

// LastTime implements store.Store.
func (f *Faulty) LastTime(ctx context.Context) (int64, error) {
	return guard(f, "last time", func() (int64, error) { return f.Store.LastTime(ctx) })
}

// Look implements store.Store, by reads that fail one by one.
func (f *Faulty) Look(ctx context.Context, what store.Lookup) (store.Looked, error) {
	return store.Ask(ctx, f, what)
}

// Object implements store.Store.
func (f *Faulty) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	return guard(f, "object", func() (store.Object, error) { return f.Store.Object(ctx, ref) })
}

// Registry implements store.Store.
func (f *Faulty) Registry(ctx context.Context, name string) (store.Ref, error) {
	return guard(f, "registry", func() (store.Ref, error) { return f.Store.Registry(ctx, name) })
}

// Session implements store.Store.
func (f *Faulty) Session(ctx context.Context, id store.CredentialID) (store.Session, error) {
	return guard(f, "session", func() (store.Session, error) { return f.Store.Session(ctx, id) })
}

// Ledger implements store.Store.
func (f *Faulty) Ledger(ctx context.Context, id store.EpisodeID) (store.Ledger, error) {
	return guard(f, "ledger", func() (store.Ledger, error) { return f.Store.Ledger(ctx, id) })
}

// Claim implements store.Store.
func (f *Faulty) Claim(ctx context.Context, id store.InvocationID) (store.Claim, error) {
	return guard(f, "claim", func() (store.Claim, error) { return f.Store.Claim(ctx, id) })
}

// EntryOf implements store.Store.
func (f *Faulty) EntryOf(ctx context.Context, id store.InvocationID) (store.Entry, error) {
	return guard(f, "entry of", func() (store.Entry, error) { return f.Store.EntryOf(ctx, id) })
}

// IntentOf implements store.Store.
func (f *Faulty) IntentOf(ctx context.Context, id store.InvocationID) (store.Intent, error) {
	return guard(f, "intent of", func() (store.Intent, error) { return f.Store.IntentOf(ctx, id) })
}

// Lease implements store.Store.
func (f *Faulty) Lease(ctx context.Context, id store.EpisodeID) (store.Lease, error) {
	return guard(f, "lease", func() (store.Lease, error) { return f.Store.Lease(ctx, id) })
}

// Intend implements store.Store.
func (f *Faulty) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	return guard(f, "intend", func() (store.Intent, error) { return f.Store.Intend(ctx, in) })
}

// Commit implements store.Store.
func (f *Faulty) Commit(ctx context.Context, fin store.Finish) (store.Entry, error) {
	return guard(f, "commit", func() (store.Entry, error) { return f.Store.Commit(ctx, fin) })
}

// GiveUp implements store.Store.
func (f *Faulty) GiveUp(ctx context.Context, l store.Lease) error {
	_, err := guard(f, "give up", func() (struct{}, error) { return struct{}{}, f.Store.GiveUp(ctx, l) })
	return err
}

// Keep implements store.Store.
func (f *Faulty) Keep(ctx context.Context, objects []store.Object) error {
	_, err := guard(f, "keep", func() (struct{}, error) { return struct{}{}, f.Store.Keep(ctx, objects) })
	return err
}
