package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"world/fault"
	"world/store"
)

func leaseFences(t *testing.T, open Opener) {
	w := opened(t, open)
	first := w.lease()
	equal(t, "lease taken twice", w.lease(), first)
	other, err := w.Lease(w.ctx, "ep-2")
	ok(t, err)
	_, err = w.Lease(w.ctx, "Not An Episode")
	wantKind(t, "lease of a malformed episode", err, fault.Invalid)

	in, intent := w.intend("1")
	wantLost := func(n int) {
		t.Helper()
		lost, err := w.Indeterminate(w.ctx, 500)
		ok(t, err)
		equal(t, "indeterminate intents", len(lost), n)
	}
	wantLost(0) // it is running
	ok(t, w.GiveUp(w.ctx, first))
	wantLost(1)
	wantKind(t, "lease given up twice", w.GiveUp(w.ctx, first), fault.LeaseLost)
	wantKind(t, "lease never held", w.GiveUp(w.ctx, store.Lease{Episode: "ep-3", Epoch: 0}), fault.LeaseLost)

	// The old epoch writes nothing, whether or not somebody has a new one.
	refused := func() {
		t.Helper()
		before := w.state()
		_, err := w.Commit(w.ctx, w.finish(in, intent))
		wantKind(t, "commit under an old epoch", err, fault.LeaseLost)
		_, err = w.Intend(w.ctx, w.intention("2", 10, first))
		wantKind(t, "intent under an old epoch", err, fault.LeaseLost)
		equal(t, "state", w.state(), before)
	}
	refused()
	second := w.lease()
	if second.Epoch <= first.Epoch {
		t.Fatalf("epoch %d after %d", second.Epoch, first.Epoch)
	}
	refused()
	wantLost(1)
	// Nor may the new epoch end what an old one began.
	f := w.finish(in, intent)
	f.Lease = second
	before := w.state()
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "commit of an old intent under a new epoch", err, fault.LeaseLost)
	equal(t, "state", w.state(), before)

	in2, intent2 := w.intend("2")
	wantLost(1)
	_, err = w.Commit(w.ctx, w.finish(in2, intent2))
	ok(t, err)
	again, err := w.Lease(w.ctx, "ep-2")
	ok(t, err)
	equal(t, "lease of another episode", again, other)
}

func reopening(t *testing.T, open Opener) {
	w := opened(t, open)
	in, intent := w.intend("1")
	done, doneIntent := w.intend("2")
	_, err := w.Commit(w.ctx, w.finish(done, doneIntent))
	ok(t, err)
	_, err = w.Commit(w.ctx, w.pure("3"))
	ok(t, err)
	before := w.state(in.Request)
	lost, err := w.Indeterminate(w.ctx, 500)
	ok(t, err)
	equal(t, "indeterminate while it runs", len(lost), 0)
	ok(t, w.Close())

	w = resumed(t, open)
	equal(t, "state after reopening", w.state(in.Request), before)
	lost, err = w.Indeterminate(w.ctx, 500)
	ok(t, err)
	if !slices.Equal(lost, []store.Intent{intent}) {
		t.Fatalf("indeterminate after reopening: got %v, want %v", lost, intent)
	}
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	wantKind(t, "commit under the epoch of the dead process", err, fault.LeaseLost)
	if l := w.lease(); l.Epoch <= in.Lease.Epoch {
		t.Fatalf("epoch %d after reopening, was %d", l.Epoch, in.Lease.Epoch)
	}
	w.checkLedger(t)
	w.checkChain(t)
	_, next := w.intend("4")
	equal(t, "next ordinal", next.Ordinal, 2)
}

// checkChain holds a dense log in which every entry is derived from the one before.
func (w *world) checkChain(t testing.TB) []store.Entry {
	t.Helper()
	var all []store.Entry
	head := store.Void
	for {
		entries, err := w.Entries(w.ctx, head.Index+1, 500)
		ok(t, err)
		for _, e := range entries {
			want := store.Chain(head, store.Draft{SemanticsEpoch: e.SemanticsEpoch, TransitionFn: e.TransitionFn,
				Interpreter: e.Interpreter, WrittenBy: e.WrittenBy, Transition: e.Transition, StateRoot: e.StateRoot}, e.Invocation)
			equal(t, "link", e, want)
			head = e.Head()
		}
		all = append(all, entries...)
		if len(entries) == 0 {
			break
		}
	}
	got, err := w.Head(w.ctx)
	if len(all) > 0 {
		ok(t, err)
		equal(t, "head", got, head)
	}
	return all
}

func reconciliation(t *testing.T, open Opener) {
	w := opened(t, open)
	in, running := w.intend("running")
	cut, ended := w.intend("indeterminate")
	f := w.finish(cut, ended)
	f.Outcome.Status, f.Outcome.Record = store.StatusIndeterminate, ""
	_, err := w.Commit(w.ctx, f)
	ok(t, err)
	fine, finished := w.intend("finished")
	_, err = w.Commit(w.ctx, w.finish(fine, finished))
	ok(t, err)

	word := text("world/reconciliation/v1", "it happened")
	ok(t, w.Keep(w.ctx, []store.Object{word}))
	reconcile := func(body string, ordinal int64, lease store.Lease) error {
		_, err := w.act(200, body, store.ReconcileIntent{Episode: episode, Ordinal: ordinal, Reconciliation: word.Ref(), Lease: lease})
		return err
	}
	lease := w.lease()
	wantKind(t, "running", reconcile("a", running.Ordinal, lease), fault.InFlight)
	wantKind(t, "finished", reconcile("b", finished.Ordinal, lease), fault.Conflict)
	wantKind(t, "no such intent", reconcile("c", 99, lease), fault.NotFound)
	wantKind(t, "older epoch", reconcile("d", ended.Ordinal, store.Lease{Episode: episode, Epoch: lease.Epoch - 1}), fault.LeaseLost)
	wantKind(t, "lease of another episode", reconcile("e", ended.Ordinal, store.Lease{Episode: "ep-2", Epoch: 1}), fault.Invalid)
	_, err = w.act(200, "f", store.ReconcileIntent{Episode: episode, Ordinal: ended.Ordinal, Reconciliation: store.RefOf([]byte("nowhere")), Lease: lease})
	wantKind(t, "reconciliation that is no object", err, fault.Invalid)

	ok(t, reconcile("g", ended.Ordinal, lease))
	wantKind(t, "twice", reconcile("h", ended.Ordinal, lease), fault.Conflict)
	got, err := w.Intent(w.ctx, episode, ended.Ordinal)
	ok(t, err)
	equal(t, "reconciliation", got.Reconciled, word.Ref())
	equal(t, "outcome stays", got.Outcome, f.Outcome)

	ok(t, w.GiveUp(w.ctx, lease))
	lease = w.lease()
	ok(t, reconcile("i", running.Ordinal, lease))
	in.Lease = lease
	late := w.finish(in, running)
	_, err = w.Commit(w.ctx, late)
	if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.LeaseLost) {
		t.Fatalf("outcome after reconciliation: got %v", err)
	}
	lost, err := w.Indeterminate(w.ctx, 500)
	ok(t, err)
	equal(t, "indeterminate after reconciliation", len(lost), 0)
	equal(t, "spend", w.total(), 3) // no refund
}

func lastTime(t *testing.T, open Opener) {
	w := opened(t, open)
	want := func(at int64) {
		t.Helper()
		got, err := w.LastTime(w.ctx)
		ok(t, err)
		equal(t, "last time", got, at)
	}
	want(0)
	_, err := w.act(50, "a")
	ok(t, err)
	want(50)
	_, err = w.act(40, "b") // a clock set back moves nothing back
	ok(t, err)
	want(50)
	in, intent := w.intend("1")
	want(100)
	f := w.finish(in, intent)
	f.At = 99
	_, err = w.Commit(w.ctx, f)
	ok(t, err)
	want(100)
	f = w.pure("2")
	f.At = 300
	_, err = w.Commit(w.ctx, f)
	ok(t, err)
	want(300)
	ok(t, w.Close())
	w = resumed(t, open)
	want(300)
}

func endedContext(t *testing.T, open Opener) {
	w := opened(t, open)
	lease := w.lease()
	before := w.state()
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	probe := text("x", "never stored")
	f := w.pure("1")
	for what, call := range map[string]func() error{
		"keep": func() error { return w.Keep(ctx, []store.Object{probe}) },
		"act": func() error {
			_, err := w.Act(ctx, store.Act{Objects: []store.Object{probe}, Draft: w.draft(probe, probe)})
			return err
		},
		"intend":  func() error { _, err := w.Intend(ctx, w.intention("1", 5, lease)); return err },
		"commit":  func() error { _, err := w.Commit(ctx, f); return err },
		"lease":   func() error { _, err := w.Lease(ctx, "ep-9"); return err },
		"give up": func() error { return w.GiveUp(ctx, lease) },
		"head":    func() error { _, err := w.Head(ctx); return err },
		"object":  func() error { _, err := w.Object(ctx, w.source.Ref()); return err },
		"audit":   func() error { _, err := w.Audit(ctx); return err },
	} {
		err := call()
		wantKind(t, what, err, fault.Timeout)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v does not say that the context was cancelled", what, err)
		}
	}
	_, err := w.Object(w.ctx, probe.Ref())
	wantKind(t, "object", err, fault.NotFound)
	equal(t, "state", w.state(), before)
	_, err = w.Commit(w.ctx, f)
	ok(t, err)
}

func closed(t *testing.T, open Opener) {
	w := opened(t, open)
	ok(t, w.Close())
	_, err := w.Head(w.ctx)
	wantKind(t, "head", err, fault.Unavailable)
	wantKind(t, "keep", w.Keep(w.ctx, []store.Object{w.source}), fault.Unavailable)
	_, err = w.Commit(w.ctx, w.pure("1"))
	wantKind(t, "commit", err, fault.Unavailable)
	ok(t, w.Close()) // a second one does nothing
}
