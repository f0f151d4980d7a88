package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/handover"
)

// world is a store with a genesis and what calls need.
type world struct {
	store.Store
	t           testing.TB
	ctx         context.Context
	source      store.Object
	interpreter store.Object
	session     store.Object
}

const (
	episode = store.EpisodeID("ep-1")
	effect  = law.Effect("Workspace.Read")
	scope   = law.Scope("workspace")
	by      = "host:test"
)

// opened opens a store with a genesis; t's end closes it.
func opened(t testing.TB, open Opener) *world {
	t.Helper()
	w := resumed(t, open)
	_, err := w.Begin(w.ctx, store.Act{Objects: []store.Object{w.source, w.interpreter, w.session}, Draft: w.draft(w.source, w.session)})
	ok(t, err)
	return w
}

// resumed opens a store as it is.
func resumed(t testing.TB, open Opener) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	w := prepared(ctx, open(t))
	w.t = t
	t.Cleanup(func() {
		if err := handover.Offer(ctx, w.Store, t.Name()); err != nil && !fault.Is(err, fault.Unavailable) {
			t.Errorf("hand the journal over: %v", err)
		}
		w.Close()
	})
	return w
}

// prepared has the fixture's objects at hand; none of them is stored yet.
func prepared(ctx context.Context, s store.Store) *world {
	return &world{
		Store: s, ctx: ctx,
		source:      text("world/transition-source/v1", "the source"),
		interpreter: text("world/interpreter/v1", "the interpreter"),
		session:     text("world/session/v1", "the session"),
	}
}

func text(semanticID, body string) store.Object {
	return store.NewObject(semanticID, by, []byte(body))
}

// draft is an entry about what came to be, with a state.
func (w *world) draft(about, state store.Object) store.Draft {
	return store.Draft{
		SemanticsEpoch: 1, TransitionFn: w.source.Ref(), Interpreter: w.interpreter.Ref(),
		WrittenBy: by, Transition: about.Ref(), StateRoot: state.Ref(),
	}
}

// act chains an act about a text of its own.
func (w *world) act(at int64, body string, changes ...store.Change) (store.Entry, error) {
	o := text("world/host-act/v1", body)
	return w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), Changes: changes, At: at})
}

// claim is a claim of a task with an input of its own, and the input.
func (w *world) claim(task string) (store.Claim, store.Object) {
	input := text("world/invocation-input/v1", "input of "+task)
	return store.Claim{
		Invocation: store.NewInvocationID(store.SurfaceMCP, episode, task), Episode: episode, Transition: "tools.read",
		TransitionFn: w.source.Ref(), Input: input.Ref(), Session: w.session.Ref(), At: 100,
	}, input
}

// intention is the first half of an effectful call of one unit.
func (w *world) intention(task string, budget int64, lease store.Lease) store.Intention {
	claim, input := w.claim(task)
	request := text("world/effect-request/v1", "request of "+task)
	return store.Intention{
		Claim: claim, Objects: []store.Object{input, request}, Effect: effect, Scope: scope,
		Cost: 1, Budget: budget, Request: request.Ref(), Lease: lease,
	}
}

// finish is the second half: it ends the intent as succeeded.
func (w *world) finish(in store.Intention, intent store.Intent) store.Finish {
	task := string(in.Claim.Invocation)
	result := text("world/effect-result/v1", "result of "+task)
	rec := text("world/effect-record/v1", "record of "+task)
	output := text("world/invocation-output/v1", "output of "+task)
	invocation := text("world/invocation-record/v3", "invocation of "+task)
	return store.Finish{
		Claim: in.Claim, Intent: &intent, Lease: in.Lease, At: in.Claim.At + 1,
		Outcome: store.Outcome{Status: store.StatusSucceeded, Record: rec.Ref(), Detail: result.Ref(), At: in.Claim.At + 1},
		Objects: []store.Object{result, rec, output, invocation},
		Draft:   w.draft(invocation, output),
	}
}

// pure is a whole call without an effect.
func (w *world) pure(task string) store.Finish {
	claim, input := w.claim(task)
	output := text("world/invocation-output/v1", "output of "+task)
	invocation := text("world/invocation-record/v3", "invocation of "+task)
	return store.Finish{Claim: claim, Objects: []store.Object{input, output, invocation}, Draft: w.draft(invocation, output), At: claim.At}
}

func (w *world) lease() store.Lease {
	w.t.Helper()
	l, err := w.Lease(w.ctx, episode)
	ok(w.t, err)
	return l
}

// intend opens an intent of one unit under a wide budget.
func (w *world) intend(task string) (store.Intention, store.Intent) {
	w.t.Helper()
	in := w.intention(task, 1000, w.lease())
	intent, err := w.Intend(w.ctx, in)
	ok(w.t, err)
	return in, intent
}

// state is what a refused change must leave alone: head, ledger, intents, time
// and the newest objects of the call in question.
func (w *world) state(probes ...store.Ref) string {
	w.t.Helper()
	var b strings.Builder
	head, err := w.Head(w.ctx)
	fmt.Fprintln(&b, head, fault.Is(err, fault.NotFound))
	ledger, err := w.Ledger(w.ctx, episode)
	fmt.Fprintln(&b, ledger, err)
	intents, err := w.Intents(w.ctx, episode, 0, 500)
	fmt.Fprintln(&b, intents, err)
	at, err := w.LastTime(w.ctx)
	fmt.Fprintln(&b, at, err)
	sessions, err := w.Sessions(w.ctx, "", 500)
	fmt.Fprintln(&b, sessions, err)
	for _, r := range probes {
		_, err := w.Object(w.ctx, r)
		fmt.Fprintln(&b, r, fault.Is(err, fault.NotFound))
	}
	return b.String()
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
