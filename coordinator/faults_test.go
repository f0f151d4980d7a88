package coordinator_test

import (
	"context"
	"fmt"
	"testing"

	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// faulty is a store whose operations are counted, and fail from the nth on, that
// one only or all that follow.
type faulty struct {
	store.Store
	at    int // 0 for never
	after bool
	kind  fault.Kind
	n     int
	hit   []string // the operations that failed
}

func (f *faulty) fails(op string) error {
	f.n++
	if f.at == 0 || f.n < f.at || f.n > f.at && !f.after {
		return nil
	}
	f.hit = append(f.hit, op)
	return fault.New("test: "+op, f.kind, "injected")
}

func guard[T any](f *faulty, op string, run func() (T, error)) (T, error) {
	if err := f.fails(op); err != nil {
		var none T
		return none, err
	}
	return run()
}

func (f *faulty) LastTime(ctx context.Context) (int64, error) {
	return guard(f, "last time", func() (int64, error) { return f.Store.LastTime(ctx) })
}
func (f *faulty) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	return guard(f, "object", func() (store.Object, error) { return f.Store.Object(ctx, ref) })
}
func (f *faulty) Registry(ctx context.Context, name string) (store.Ref, error) {
	return guard(f, "registry", func() (store.Ref, error) { return f.Store.Registry(ctx, name) })
}
func (f *faulty) Session(ctx context.Context, id store.CredentialID) (store.Session, error) {
	return guard(f, "session", func() (store.Session, error) { return f.Store.Session(ctx, id) })
}
func (f *faulty) Ledger(ctx context.Context, id store.EpisodeID) (store.Ledger, error) {
	return guard(f, "ledger", func() (store.Ledger, error) { return f.Store.Ledger(ctx, id) })
}
func (f *faulty) Claim(ctx context.Context, id store.InvocationID) (store.Claim, error) {
	return guard(f, "claim", func() (store.Claim, error) { return f.Store.Claim(ctx, id) })
}
func (f *faulty) EntryOf(ctx context.Context, id store.InvocationID) (store.Entry, error) {
	return guard(f, "entry of", func() (store.Entry, error) { return f.Store.EntryOf(ctx, id) })
}
func (f *faulty) IntentOf(ctx context.Context, id store.InvocationID) (store.Intent, error) {
	return guard(f, "intent of", func() (store.Intent, error) { return f.Store.IntentOf(ctx, id) })
}
func (f *faulty) Lease(ctx context.Context, id store.EpisodeID) (store.Lease, error) {
	return guard(f, "lease", func() (store.Lease, error) { return f.Store.Lease(ctx, id) })
}
func (f *faulty) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	return guard(f, "intend", func() (store.Intent, error) { return f.Store.Intend(ctx, in) })
}
func (f *faulty) Commit(ctx context.Context, fin store.Finish) (store.Entry, error) {
	return guard(f, "commit", func() (store.Entry, error) { return f.Store.Commit(ctx, fin) })
}
func (f *faulty) GiveUp(ctx context.Context, l store.Lease) error {
	_, err := guard(f, "give up", func() (struct{}, error) { return struct{}{}, f.Store.GiveUp(ctx, l) })
	return err
}
func (f *faulty) Keep(ctx context.Context, objects []store.Object) error {
	_, err := guard(f, "keep", func() (struct{}, error) { return struct{}{}, f.Store.Keep(ctx, objects) })
	return err
}

// TestEveryOperationFails fails the nth operation of the store under one call,
// for every n, alone and with all that follow. Whatever fails, nothing runs
// without a durable intent, nothing runs twice, and the id tells the truth later.
func TestEveryOperationFails(t *testing.T) {
	seen := map[string]int{}
	for _, mode := range []faulty{{kind: fault.Internal}, {kind: fault.Uncertain}, {kind: fault.Corrupt, after: true}} {
		for _, args := range []string{`{}`, `{"cost":3}`} {
			for n := 1; ; n++ {
				f := mode
				f.at = n
				failAt(t, fmt.Sprintf("%s: %s from operation %d, on %v", args, f.kind, n, f.after), args, &f)
				if len(f.hit) == 0 {
					break
				}
				for _, op := range f.hit {
					seen[op]++
				}
			}
		}
	}
	for _, op := range []string{"last time", "registry", "object", "session", "ledger", "claim", "lease", "intend", "commit", "give up", "keep"} {
		if seen[op] == 0 {
			t.Errorf("%s was never the operation that failed", op)
		}
	}
}

func failAt(t *testing.T, name, args string, f *faulty) {
	t.Helper()
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 2)
	f.Store = w.Store
	options := w.Options
	options.Store = f
	w.C = coordinator.New(options)
	reply, err := w.Invoke(t.Context(), live, coordtest.Act, "task", args)
	ran := len(hand.Jobs())
	_, intents := spent(t, w, "ep")
	switch {
	case len(f.hit) == 0 && err != nil:
		t.Errorf("%s: nothing failed, yet %v", name, err)
	case err == nil && reply.Denial == "" && reply.Failed:
		t.Errorf("%s: reply %+v", name, reply)
	case err != nil && ran == 1 && !fault.Is(err, fault.Indeterminate):
		t.Errorf("%s: the effect ran and the caller is told %v", name, err)
	case ran > int(intents) || intents > 1:
		t.Errorf("%s: ran %d times on %d intents", name, ran, intents)
	}
	// The store works again, in a new process.
	w.Restart()
	again, err := w.Invoke(t.Context(), live, coordtest.Act, "task", args)
	total, intents := spent(t, w, "ep")
	switch {
	case len(hand.Jobs()) > 1 || intents > 1 || total != intents:
		t.Errorf("%s: resent, ran %d times, spent %d by %d intents", name, len(hand.Jobs()), total, intents)
	case err == nil && again.Denial == "" && (again.Failed || len(hand.Jobs()) != 1):
		t.Errorf("%s: resent, %+v after %d runs", name, again, len(hand.Jobs()))
	case err != nil && !(fault.Is(err, fault.Indeterminate) && intents == 1):
		t.Errorf("%s: resent, %v with %d intents", name, err, intents)
	}
	replays(t, w)
}

// TestCapsuleFaults checks that a capsule that cannot run leaves a recorded
// failure of its kind and no effect.
func TestCapsuleFaults(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Corrupt, fault.Unavailable, fault.Limit, fault.Failed, fault.Invalid, fault.Internal} {
		hand := &coordtest.Hand{}
		w := world(t, hand, func(o *coordinator.Options) {
			o.Runner = runner(func(context.Context, capsule.Program, []byte) ([]byte, error) {
				return nil, fault.Wrap("test", kind, fault.New("secret", kind, "/host/path"), "the capsule is not well")
			})
		})
		reply := w.Must(writer(w, 1), coordtest.Act, "", `{}`)
		call := recorded(t, w, reply.Entry)
		if !reply.Failed || reply.Kind != kind || call.Record.Failure != kind.String() || len(hand.Jobs()) != 0 {
			t.Errorf("%s: %+v", kind, reply)
		}
		if want := "transition execution failed: " + kind.String(); kind != fault.Internal && reply.Message != want+": the capsule is not well" {
			t.Errorf("%s: message %q", kind, reply.Message)
		}
	}
}

// TestMissingSource checks R6: without its source a transition is refused.
func TestMissingSource(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 1)
	options := w.Options
	options.Store = &sourceless{Store: w.Store}
	w.C = coordinator.New(options)
	for _, id := range []store.TransitionID{coordtest.Act, coordtest.Echo} {
		if _, err := w.Invoke(t.Context(), live, id, "", `{}`); !fault.Is(err, fault.Corrupt) || len(hand.Jobs()) != 0 {
			t.Errorf("%s: %v", id, err)
		}
	}
}

type sourceless struct{ store.Store }

func (s *sourceless) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	o, err := s.Store.Object(ctx, ref)
	if err == nil && o.Label().SemanticID == "world/transition-source/v1" {
		return store.Object{}, fault.New("test", fault.NotFound, "no such object")
	}
	return o, err
}
