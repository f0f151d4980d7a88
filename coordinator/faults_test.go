package coordinator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// TestEveryOperationFails fails the nth operation of the store under one call,
// for every n, alone and with all that follow. Whatever fails, nothing runs
// without a durable intent, nothing runs twice, and the id tells the truth later.
func TestEveryOperationFails(t *testing.T) {
	seen := map[string]int{}
	for i, mode := range []coordtest.Faulty{{Kind: fault.Internal}, {Kind: fault.Internal}, {Kind: fault.Uncertain}, {Kind: fault.Corrupt, On: true}} {
		fresh := time.Duration(-i % 2) // the snapshot is used, or looked at again
		for _, args := range []string{`{}`, `{"cost":3}`} {
			for n := 1; ; n++ {
				f := mode
				f.At = n
				failAt(t, fmt.Sprintf("%s: %s from operation %d, on %v", args, f.Kind, n, f.On), args, &f, fresh)
				if len(f.Hit) == 0 {
					break
				}
				for _, op := range f.Hit {
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

func failAt(t *testing.T, name, args string, f *coordtest.Faulty, fresh time.Duration) {
	t.Helper()
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 2)
	f.Store = w.Store
	options := w.Options
	options.Store, options.Deadlines.Fresh = f, fresh
	w.C = coordinator.New(options)
	reply, err := w.Invoke(t.Context(), live, coordtest.Act, "task", args)
	ran := len(hand.Jobs())
	_, intents := spent(t, w, "ep")
	switch {
	case len(f.Hit) == 0 && err != nil:
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
