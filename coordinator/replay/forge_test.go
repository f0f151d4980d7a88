package replay_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/replay"
	"world/session"
	"world/store"
	"world/store/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forger is a store that changes what a call is about to make durable: the way to
// false evidence whose every hash is right.
type forger struct {
	store.Store
	intention func(*store.Intention)
	finish    func(*store.Finish)
}

func (f *forger) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	if f.intention != nil {
		f.intention(&in)
	}
	return f.Store.Intend(ctx, in)
}

func (f *forger) Commit(ctx context.Context, fin store.Finish) (store.Entry, error) {
	if f.finish != nil {
		f.finish(&fin)
	}
	return f.Store.Commit(ctx, fin)
}

// world is a world whose store may forge, and a session with a budget of 3 writes.
func world(t *testing.T, hand *coordtest.Hand) (*coordtest.World, *forger, session.Live) {
	t.Helper()
	f := &forger{}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, func(o *coordinator.Options) { f.Store, o.Store = o.Store, f })
	return w, f, w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Scope, 5), coordtest.Grant(coordtest.Write, coordtest.Scope, 3))
}

// swap replaces an object of a finish, and returns the new one's ref.
func swap(f *store.Finish, semanticID string, edit func([]byte) []byte) (from, to store.Ref) {
	for i, o := range f.Objects {
		if o.Label().SemanticID == semanticID {
			f.Objects[i] = store.NewObject(semanticID, o.Label().Provenance, edit(append([]byte(nil), o.Bytes()...)))
			return o.Ref(), f.Objects[i].Ref()
		}
	}
	panic("no " + semanticID + " to forge")
}

// forge edits the invocation record of a finish, and the entry that names it.
func forge(f *store.Finish, edit func(*record.InvocationRecord)) {
	_, f.Draft.Transition = swap(f, record.Invocation, func(raw []byte) []byte {
		r, err := record.DecodeInvocation(raw)
		if err != nil {
			panic(err)
		}
		edit(&r)
		return r.Bytes()
	})
}

// forgeEffect edits the effect record, and all that name it.
func forgeEffect(f *store.Finish, edit func(*record.EffectRecord)) {
	_, to := swap(f, record.Effect, func(raw []byte) []byte {
		r, err := record.DecodeEffect(raw)
		if err != nil {
			panic(err)
		}
		edit(&r)
		return r.Bytes()
	})
	if f.Intent != nil {
		f.Outcome.Record = to
	}
	forge(f, func(r *record.InvocationRecord) { r.Effects[0].Record = to })
}

// one makes one call and replays it.
func one(t *testing.T, w *coordtest.World, live session.Live, id store.TransitionID, args string) replay.Report {
	t.Helper()
	reply := w.Must(live, id, "", args)
	report, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, reply.Invocation)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
