package broker_test

import (
	"testing"

	"world/broker"
	"world/broker/law"
	"world/coordinator/coordtest"
	"world/fault"
)

var declared = []law.Triple{{Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 1}, {Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 3}}

// TestBind checks R4: which manifests and calls can be bound.
func TestBind(t *testing.T) {
	b := newBench(t, &coordtest.Hand{}, nil)
	good := b.call("task")
	for name, test := range map[string]struct {
		declared []law.Triple
		edit     func(*broker.Call)
		lawful   bool
	}{
		"declared":        {declared, func(*broker.Call) {}, true},
		"nothing":         {nil, func(*broker.Call) {}, true},
		"zero cost":       {[]law.Triple{{Effect: "E", Scope: "s"}}, func(*broker.Call) {}, true},
		"negative cost":   {[]law.Triple{{Effect: "E", Scope: "s", Cost: -1}}, func(*broker.Call) {}, false},
		"twice":           {append(declared, declared[0]), func(*broker.Call) {}, false},
		"another lease":   {declared, func(c *broker.Call) { c.Lease.Episode = "other" }, false},
		"another ledger":  {declared, func(c *broker.Call) { c.Ledger.Episode = "other" }, false},
		"another session": {declared, func(c *broker.Call) { c.Session.Episode = "other" }, false},
	} {
		call := good
		test.edit(&call)
		if _, err := b.Bind(call, test.declared); (err == nil) != test.lawful || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInvokerChecksTheTriple is the second check beside plan law L3: the invoker
// refuses what is not exactly declared, before anything, even when the grants
// would allow it.
func TestInvokerChecksTheTriple(t *testing.T) {
	hand := &coordtest.Hand{}
	b := newBench(t, hand, nil)
	for _, triple := range []law.Triple{
		{Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 2},
		{Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 0},
		{Effect: coordtest.Write, Scope: coordtest.Scope, Cost: -1},
		{Effect: coordtest.Write, Scope: "worktre", Cost: 1},
		{Effect: coordtest.Write, Scope: "", Cost: 1},
		{Effect: "Workspace.write", Scope: coordtest.Scope, Cost: 1},
		{Effect: "", Scope: coordtest.Scope, Cost: 1},
		{},
	} {
		ev, err := b.request(t, "task", triple)
		if !fault.Is(err, fault.Denied) || ev.Intent != nil || ev.Objects != nil {
			t.Errorf("%+v: %+v, %v", triple, ev, err)
		}
	}
	if ledger := b.ledger(t); ledger.Next != 0 || len(hand.Jobs()) != 0 {
		t.Errorf("an undeclared request left %+v and ran %d times", ledger, len(hand.Jobs()))
	}
	if ev, err := b.request(t, "task", declared[1]); err != nil || ev.Status != "ok" {
		t.Errorf("the declared triple: %+v, %v", ev, err)
	}
}

// TestNoHandler checks R8 both as a question and at the request.
func TestNoHandler(t *testing.T) {
	b := newBench(t, &coordtest.Hand{}, nil)
	orphans := []law.Triple{{Effect: "A", Scope: "s", Cost: 1}, declared[0], {Effect: "B", Scope: "s", Cost: 1}, {Effect: "A", Scope: "t", Cost: 1}}
	if missing := b.Unhandled(orphans); len(missing) != 2 || missing[0] != "A" || missing[1] != "B" {
		t.Errorf("unhandled: %v", missing)
	}
	if missing := b.Unhandled(declared); missing != nil {
		t.Errorf("unhandled of handled: %v", missing)
	}
	invoker, err := b.Bind(b.call("task"), orphans)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := invoker.Request(t.Context(), orphans[0], []byte("{}"), b.input, b.planned); !fault.Is(err, fault.Unsupported) {
		t.Errorf("request: %v", err)
	}
	if _, err := b.store.Claim(t.Context(), "mcp:ep:task"); !fault.Is(err, fault.NotFound) {
		t.Errorf("its id was claimed: %v", err)
	}
}

// TestNilHandlerIsNone checks that a handler that is named and absent is absent.
func TestNilHandlerIsNone(t *testing.T) {
	b := broker.New(broker.Options{Handlers: map[law.Effect]broker.Handler{"A": nil}})
	if missing := b.Unhandled([]law.Triple{{Effect: "A"}}); len(missing) != 1 {
		t.Errorf("unhandled: %v", missing)
	}
}
