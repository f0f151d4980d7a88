package admin

import (
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/record"
)

// lose leaves effect:ep:0 behind, of which nobody knows whether it happened.
func (d *daemon) lose(t *testing.T) {
	t.Helper()
	s := d.desk.Office.Store
	genesis, err := s.Entry(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := s.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	q := record.EffectRequest{Effect: "Workspace.Write", Scope: "worktree", Cost: 1, Now: born, Payload: []byte("{}")}
	request := store.NewObject(record.Request, "test", q.Bytes())
	_, err = s.Intend(t.Context(), store.Intention{
		Claim: store.Claim{
			Invocation: "mcp:ep:task", Episode: "ep", Transition: "test", TransitionFn: genesis.TransitionFn,
			Input: request.Ref(), Session: genesis.Transition, At: born,
		},
		Objects: []store.Object{request}, Effect: q.Effect, Scope: q.Scope, Cost: 1, Budget: 1, Request: request.Ref(), Lease: lease,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.GiveUp(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}

func TestReconcileAtTheClientsTerminal(t *testing.T) {
	d := startDaemon(t)
	d.lose(t)
	for _, c := range []struct {
		name, how, id, verdict, answer string
		code                           int
		want                           string
	}{
		{"no terminal", "reconcile without a terminal", "effect:ep:0", "failed", "", 1, "denied: this needs the controlling terminal"},
		{"bad verdict", "reconcile", "effect:ep:0", "undone", "", 1, "invalid: a verdict is"},
		{"no intent", "reconcile", "effect:ep:1", "failed", "", 1, "not found: there is no such intent"},
		{"a no", "reconcile", "effect:ep:0", "failed", "n\n", 1, "denied: aborted"},
		{"a yes", "reconcile", "effect:ep:0", "failed", "y\n", 0, "effect:ep:0"},
		{"again", "reconcile", "mcp:ep:task", "failed", "", 1, "conflict: intent effect:ep:0 is reconciled already"},
	} {
		before := d.head(t)
		run := d.startClient(t, c.how, "ID="+c.id, "VERDICT="+c.verdict)
		if c.answer != "" {
			run.asked(t)
			run.types(t, c.answer)
		}
		if code, out := run.answer(t); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d: %s", c.name, code, out)
		}
		if (d.head(t) == before) != (c.code != 0) {
			t.Errorf("%s: head %d, before %d", c.name, d.head(t), before)
		}
	}
	intent, err := d.desk.Office.Store.Intent(t.Context(), "ep", 0)
	if err != nil || intent.Reconciled == "" {
		t.Fatalf("%+v, %v", intent, err)
	}
	object, err := d.desk.Office.Store.Object(t.Context(), intent.Reconciled)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.DecodeReconciliation(object.Bytes())
	if err != nil || r.Note != "looked <at> it" || r.Verdict != "failed" || r.At != born+5 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := d.desk.Office.Store.Entry(t.Context(), 2); !fault.Is(err, fault.NotFound) {
		t.Errorf("more than one entry: %v", err)
	}
}
