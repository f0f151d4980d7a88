package broker_test

import (
	"context"
	"testing"

	"world/broker"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
	"world/store/record"
)

// TestAllowed checks what is durable while the handler runs, and the evidence.
func TestAllowed(t *testing.T) {
	var b *bench
	hand := &coordtest.Hand{Before: func(ctx context.Context, job broker.Job) {
		intent, err := b.store.Intent(ctx, "ep", 0)
		if err != nil || intent.Name() != job.Intent || intent.Outcome.Status != store.StatusOpen || intent.Cost != 3 {
			t.Errorf("the write-ahead: %+v, %v", intent, err)
		}
		for _, ref := range []store.Ref{b.input.Ref(), b.planned.Ref(), intent.Request} {
			if _, err := b.store.Object(ctx, ref); err != nil {
				t.Errorf("object %s: %v", ref, err)
			}
		}
	}}
	b = newBench(t, hand, nil)
	ev, err := b.request(t, "task", declared[1])
	if err != nil {
		t.Fatal(err)
	}
	q := record.EffectRequest{Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 3, Now: coordtest.Start, Payload: []byte(`{"pay":"load"}`)}
	if ev.Request != store.RefOf(q.Bytes()) || ev.Grant != 1 || ev.Ordinal != 0 || ev.Status != record.StatusOK {
		t.Errorf("evidence %+v", ev)
	}
	if ev.Record.BudgetBefore != 4 || ev.Record.BudgetAfter != 1 || ev.Record.Check() != nil {
		t.Errorf("record %+v", ev.Record)
	}
	if ev.Outcome.Status != store.StatusSucceeded || ev.Outcome.Record != ev.RecordRef || ev.Outcome.Detail != store.RefOf(ev.Output) {
		t.Errorf("outcome %+v", ev.Outcome)
	}
	o := ev.Effect("e1")
	if o.ID != "e1" || o.Intent != "effect:ep:0" || o.Record != ev.RecordRef || o.Detail != "" {
		t.Errorf("effect %+v", o)
	}
	if refs := refs(ev.Objects); !refs[ev.RecordRef] || !refs[ev.Record.ResultRef] || len(refs) != 2 {
		t.Errorf("objects %v", refs)
	}
}

// TestDenied checks that a denial has evidence and leaves no trace in the journal.
func TestDenied(t *testing.T) {
	hand := &coordtest.Hand{}
	b := newBench(t, hand, nil)
	b.request(t, "first", declared[1])
	ev, err := b.request(t, "task", declared[1])
	if err != nil {
		t.Fatal(err)
	}
	if ev.Status != record.StatusDenied || ev.Grant != 1 || ev.Ordinal != 1 || ev.Intent != nil || ev.Record.Denial != "denied:budget" || ev.Record.BudgetBefore != 1 {
		t.Errorf("evidence %+v", ev)
	}
	if refs := refs(ev.Objects); !refs[ev.Request] || !refs[ev.RecordRef] || len(refs) != 2 {
		t.Errorf("objects %v", refs)
	}
	if o := ev.Effect("e1"); o.Intent != "" || o.Record == "" || o.Detail != "" || o.Grant != 1 {
		t.Errorf("effect %+v", o)
	}
	if ledger := b.ledger(t); ledger.Next != 1 || len(hand.Jobs()) != 1 {
		t.Errorf("a denial left %+v", ledger)
	}
}

func refs(objects []store.Object) map[store.Ref]bool {
	set := map[store.Ref]bool{}
	for _, o := range objects {
		set[o.Ref()] = true
	}
	return set
}

// TestGuardDecidesAgain hands the broker a ledger that is out of date: the guard
// in the database refuses, and the decision is made again on the true one.
func TestGuardDecidesAgain(t *testing.T) {
	hand := &coordtest.Hand{}
	b := newBench(t, hand, nil)
	stale := b.call("task")
	b.request(t, "first", declared[1])
	invoker, err := b.Bind(stale, declared)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := invoker.Request(t.Context(), declared[1], []byte(`{}`), b.input, b.planned)
	if err != nil || ev.Status != record.StatusDenied || ev.Record.BudgetBefore != 1 || ev.Ordinal != 1 {
		t.Errorf("evidence %+v, %v", ev, err)
	}
	if len(hand.Jobs()) != 1 {
		t.Errorf("ran %d times", len(hand.Jobs()))
	}
}

// TestStaleLedgerThatFits checks that a decision on an outdated ledger that the
// guard lets pass is not carried out: its record would not replay.
func TestStaleLedgerThatFits(t *testing.T) {
	hand := &coordtest.Hand{}
	b := newBench(t, hand, nil)
	stale := b.call("task")
	b.request(t, "first", declared[0])
	invoker, err := b.Bind(stale, declared)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := invoker.Request(t.Context(), declared[0], []byte(`{}`), b.input, b.planned)
	if !fault.Is(err, fault.Internal) || ev.Intent == nil || len(hand.Jobs()) != 1 {
		t.Errorf("evidence %+v, %v, ran %d times", ev, err, len(hand.Jobs()))
	}
}

// stubborn is a store whose guard always refuses.
type stubborn struct {
	store.Store
	ledgers int
}

func (s *stubborn) Intend(context.Context, store.Intention) (store.Intent, error) {
	return store.Intent{}, fault.New("test", fault.OverBudget, "refused")
}

func (s *stubborn) Ledger(ctx context.Context, id store.EpisodeID) (store.Ledger, error) {
	s.ledgers++
	return s.Store.Ledger(ctx, id)
}

// TestGuardAndLedgerDisagree checks that deciding again ends.
func TestGuardAndLedgerDisagree(t *testing.T) {
	hand := &coordtest.Hand{}
	s := &stubborn{}
	b := newBench(t, hand, func(o *broker.Options) { s.Store, o.Store = o.Store, s })
	if _, err := b.request(t, "task", declared[0]); !fault.Is(err, fault.Corrupt) || s.ledgers != 8 || len(hand.Jobs()) != 0 {
		t.Errorf("%v after %d ledgers", err, s.ledgers)
	}
}

// TestRequestRefusals checks that what the store refuses is not run.
func TestRequestRefusals(t *testing.T) {
	hand := &coordtest.Hand{}
	b := newBench(t, hand, nil)
	used := b.call("task")
	b.request(t, "task", declared[0])
	lost := b.call("lost")
	lost.Lease.Epoch++
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	fresh := func() broker.Call { return b.call("fresh") }
	used.Ledger = fresh().Ledger
	for name, test := range map[string]struct {
		ctx  context.Context
		call broker.Call
		kind fault.Kind
	}{
		"claimed id":  {t.Context(), used, fault.Conflict},
		"lost lease":  {t.Context(), lost, fault.LeaseLost},
		"caller gone": {gone, fresh(), fault.Timeout},
	} {
		invoker, err := b.Bind(test.call, declared)
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := invoker.Request(test.ctx, declared[0], []byte(`{}`), b.input, b.planned); !fault.Is(err, test.kind) || ev.Intent != nil {
			t.Errorf("%s: %+v, %v", name, ev, err)
		}
	}
	if n := len(hand.Jobs()); n != 1 {
		t.Errorf("ran %d times", n)
	}
}
