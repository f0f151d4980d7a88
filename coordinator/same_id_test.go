package coordinator_test

import (
	"context"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/fault"
	"world/store"
	"world/store/record"
)

// TestSameIDOtherCall checks that an id is one call for ever, whoever asks.
func TestSameIDOtherCall(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 5)
	first := w.Must(live, coordtest.Act, "task", `{"do":"x","n":1}`)
	for name, call := range map[string]struct {
		transition store.TransitionID
		args       string
	}{"other arguments": {coordtest.Act, `{"do":"y"}`}, "another transition": {coordtest.Far, `{"do":"x","n":1}`}} {
		if _, err := w.Invoke(t.Context(), live, call.transition, "task", call.args); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The arguments are compared in canonical form, and a new session of the
	// episode may ask for what an older one did.
	again := w.Must(writer(w, 9), coordtest.Act, "task", ` {"n":1.0, "do":"x"}`)
	if !again.Replayed || string(again.Output) != string(first.Output) {
		t.Errorf("the same call again: %+v", again)
	}
	// The same task id is another call on another surface or in another episode.
	other := w.Must(w.Mint("ep2", coordtest.Grant(coordtest.Write, coordtest.Scope, 1)), coordtest.Act, "task", `{"do":"y"}`)
	if other.Replayed || len(hand.Jobs()) != 2 {
		t.Errorf("another episode's call: %+v", other)
	}
}

// TestSameIDInFlight checks what a twin of a running call gets: the result when
// it waits, in flight when it cannot, a conflict at once when it is no twin.
func TestSameIDInFlight(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	hand := &coordtest.Hand{Before: func(context.Context, broker.Job) { began <- struct{}{}; <-goOn }}
	w := world(t, hand, nil)
	live := writer(w, 5)
	snapshot, err := w.C.Snapshot(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		reply coordinator.Reply
		err   error
	}
	answers := make(chan answer, 2)
	ask := func() {
		reply, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`)
		answers <- answer{reply, err}
	}
	go ask()
	<-began
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.C.Invoke(gone, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: "task", Args: []byte(`{}`)})
	if !fault.Is(err, fault.InFlight) || !strings.Contains(fault.Public(err), "resend the same id") {
		t.Errorf("a twin that does not wait: %v", err)
	}
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{"do":1}`); !fault.Is(err, fault.Conflict) {
		t.Errorf("other arguments while running: %v", err)
	}
	go ask()
	close(goOn)
	first, second := <-answers, <-answers
	if first.err != nil || second.err != nil || string(first.reply.Output) != string(second.reply.Output) || first.reply.Replayed == second.reply.Replayed {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if n := len(hand.Jobs()); n != 1 {
		t.Errorf("the handler ran %d times", n)
	}
}

// TestClaimWithoutAnswer checks that an id whose call was cut short is never run
// again, before and after an operator's word.
func TestClaimWithoutAnswer(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 5)
	cutShort(t, w, live, "task", `{}`)
	before := head(t, w)
	_, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`)
	if !fault.Is(err, fault.Indeterminate) || !strings.Contains(fault.Public(err), "Do not repeat it blindly") || !strings.Contains(fault.Public(err), "effect:ep:0") {
		t.Errorf("resent: %v", err)
	}
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{"do":1}`); !fault.Is(err, fault.Conflict) {
		t.Errorf("resent with other arguments: %v", err)
	}
	reconcile(t, w, "abandoned")
	_, err = w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`)
	if !fault.Is(err, fault.Indeterminate) || !strings.Contains(fault.Public(err), "closed by an operator's word: abandoned") {
		t.Errorf("resent after reconciling: %v", err)
	}
	if len(hand.Jobs()) != 0 || head(t, w) != before+1 {
		t.Errorf("something ran: %d jobs, head %d after %d", len(hand.Jobs()), head(t, w), before)
	}
	if total, intents := spent(t, w, "ep"); total != 1 || intents != 1 {
		t.Errorf("spent %d by %d intents", total, intents)
	}
	// The episode goes on, less the unit.
	if reply := w.Must(live, coordtest.Act, "next", `{}`); reply.Failed {
		t.Errorf("the next call: %+v", reply)
	}
}

// reconcile closes the open intent effect:ep:0 by an operator's word.
func reconcile(t *testing.T, w *coordtest.World, verdict string) {
	t.Helper()
	lease, err := w.Store.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	object := store.NewObject(record.Reconciliation, "test", record.ReconciliationRecord{
		Intent: "effect:ep:0", Verdict: verdict, By: "tester", At: w.Now()}.Bytes())
	draft, err := registry.HostDraft(t.Context(), w.Store, "reconcile", object.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Act(t.Context(), store.Act{Objects: []store.Object{object}, Draft: draft, At: w.Now(), Changes: []store.Change{
		store.ReconcileIntent{Episode: "ep", Ordinal: 0, Reconciliation: object.Ref(), Lease: lease},
	}}); err != nil {
		t.Fatalf("reconcile: %v", err)
	}
}
