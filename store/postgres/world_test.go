package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"world/fault"
	"world/fault/await"
	"world/store"
	"world/store/postgres"
)

// world is a store with what calls need, as one of its processes sees it.
type world struct {
	*postgres.Store
	t                            testing.TB
	ctx                          context.Context
	source, interpreter, session store.Object
}

const (
	episode = store.EpisodeID("ep-1")
	budget  = 1000
)

func text(semanticID, body string) store.Object {
	return store.NewObject(semanticID, "host:test", []byte(body))
}

func see(t testing.TB, s *postgres.Store) *world {
	ctx := context.Background()
	if t != nil {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		t.Cleanup(cancel)
		ctx = limited
	}
	return &world{Store: s, t: t, ctx: ctx, source: text("world/transition-source/v1", "the source"),
		interpreter: text("world/interpreter/v1", "the interpreter"), session: text("world/session/v1", "the session")}
}

// begun is a new world with its genesis.
func begun(t testing.TB, s *postgres.Store) *world {
	t.Helper()
	w := see(t, s)
	_, err := w.Begin(w.ctx, store.Act{Objects: []store.Object{w.source, w.interpreter, w.session}, Draft: w.draft(w.source)})
	ok(t, err)
	return w
}

func (w *world) draft(about store.Object) store.Draft {
	return store.Draft{SemanticsEpoch: 1, TransitionFn: w.source.Ref(), Interpreter: w.interpreter.Ref(),
		WrittenBy: "host:test", Transition: about.Ref(), StateRoot: about.Ref()}
}

func (w *world) claim(task string) (store.Claim, store.Object) {
	input := text("world/invocation-input/v1", "input of "+task)
	return store.Claim{Invocation: store.NewInvocationID(store.SurfaceMCP, episode, task), Episode: episode, Transition: "tools.read",
		TransitionFn: w.source.Ref(), Input: input.Ref(), Session: w.session.Ref(), At: 100}, input
}

func (w *world) intention(task string, lease store.Lease) store.Intention {
	claim, input := w.claim(task)
	return store.Intention{Claim: claim, Objects: []store.Object{input}, Effect: "Workspace.Read", Scope: "workspace",
		Cost: 1, Budget: budget, Request: input.Ref(), Lease: lease}
}

func (w *world) finish(in store.Intention, intent store.Intent) store.Finish {
	rec, output := text("world/effect-record/v1", "record of "+intent.Name()), text("world/invocation-record/v3", "end of "+intent.Name())
	return store.Finish{Claim: in.Claim, Intent: &intent, Lease: in.Lease, Objects: []store.Object{rec, output}, Draft: w.draft(output), At: 101,
		Outcome: store.Outcome{Status: store.StatusSucceeded, Record: rec.Ref(), Detail: rec.Ref(), At: 101}}
}

func (w *world) pure(task string) store.Finish {
	claim, input := w.claim(task)
	output := text("world/invocation-record/v3", "end of "+task)
	return store.Finish{Claim: claim, Objects: []store.Object{input, output}, Draft: w.draft(output), At: 100}
}

// call makes a whole effectful call.
func (w *world) call(task string) error {
	lease, err := w.Lease(w.ctx, episode)
	if err != nil {
		return err
	}
	in := w.intention(task, lease)
	intent, err := w.Intend(w.ctx, in)
	if err != nil {
		return err
	}
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	return err
}

func (w *world) lease() store.Lease {
	w.t.Helper()
	l, err := w.Lease(w.ctx, episode)
	ok(w.t, err)
	return l
}

// sound holds what must hold whatever happened: a dense chain that ends in the
// head, spend that equals the intents, and each intent finished at most once. It
// returns the numbers of entries and of units spent.
func (w *world) sound() (entries int, spent int64) {
	w.t.Helper()
	head := store.Void
	for {
		some, err := w.Entries(w.ctx, head.Index+1, 500)
		ok(w.t, err)
		for _, e := range some {
			want := store.Chain(head, store.Draft{SemanticsEpoch: e.SemanticsEpoch, TransitionFn: e.TransitionFn, Interpreter: e.Interpreter,
				WrittenBy: e.WrittenBy, Transition: e.Transition, StateRoot: e.StateRoot}, e.Invocation)
			if e != want {
				w.t.Fatalf("entry %v does not follow its predecessor: want %v", e, want)
			}
			head = e.Head()
			entries++
		}
		if len(some) == 0 {
			break
		}
	}
	if selected, err := w.Head(w.ctx); err != nil || selected != head {
		w.t.Fatalf("head %v, %v, and the log ends in %v", selected, err, head)
	}
	ledger, err := w.Ledger(w.ctx, episode)
	ok(w.t, err)
	var sum, next int64
	for {
		some, err := w.Intents(w.ctx, episode, next, 500)
		ok(w.t, err)
		for _, i := range some {
			if i.Ordinal != next {
				w.t.Fatalf("intent %d follows %d", i.Ordinal, next-1)
			}
			next, sum = next+1, sum+i.Cost
			if _, err := w.EntryOf(w.ctx, i.Invocation); (err == nil) != (i.Outcome.Status != "") {
				w.t.Fatalf("intent %s has outcome %q and entry %v", i.Name(), i.Outcome.Status, err)
			}
		}
		if len(some) == 0 {
			break
		}
	}
	spent = ledger.Of("Workspace.Read", "workspace")
	if spent != sum || ledger.Next != next {
		w.t.Fatalf("spend %d and next ordinal %d, and the intents say %d and %d", spent, ledger.Next, sum, next)
	}
	return entries, spent
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func wantKind(t testing.TB, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("%s: got error %v, want kind %v", what, err, kind)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// until polls a condition that time brings about.
func until(t testing.TB, what string, met func() bool) {
	t.Helper()
	await.That(t, what, met)
}

func task(parts ...any) string { return fmt.Sprint(parts...) }
