package evidence_test

import (
	"context"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator/coordtest"
	"world/coordinator/evidence"
	"world/fault"
	"world/store"
	"world/store/record"
)

// holed is a store in which one object is missing, or is not what it was.
type holed struct {
	store.Store
	ref   store.Ref
	bytes []byte // what is there instead, nil for nothing
}

func (h *holed) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	if ref != h.ref {
		return h.Store.Object(ctx, ref)
	}
	if h.bytes == nil {
		return store.Object{}, fault.New("test", fault.NotFound, "no such object")
	}
	return store.NewObject("test", "test", h.bytes), nil
}

// ended makes a call whose effect ended so, and returns its entry.
func ended(t *testing.T, result broker.Result) (*coordtest.World, store.Entry) {
	t.Helper()
	hand := &coordtest.Hand{Answer: func(broker.Job) broker.Result { return result }}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 3))
	return w, w.Must(live, coordtest.Act, "task", `{"do":"it"}`).Entry
}

func TestLoad(t *testing.T) {
	for _, test := range []struct {
		result         broker.Result
		status, detail string
		output         string
	}{
		{coordtest.Succeed(`{"a":1}`), record.StatusOK, "", `{"a":1}`},
		{coordtest.Fail("no"), record.StatusFailed, "no", ""},
		{coordtest.Lose("gone"), record.StatusIndeterminate, "gone", ""},
	} {
		w, entry := ended(t, test.result)
		call, err := evidence.Load(t.Context(), w.Store, entry)
		if err != nil {
			t.Fatal(err)
		}
		e := call.Ended[0]
		if e.Status != test.status || e.Detail != test.detail || string(e.Output) != test.output || (e.Message == "") != (test.status == record.StatusOK) {
			t.Errorf("%s: %+v", test.status, e)
		}
		if string(call.Input) != `{"do":"it"}` || call.Session.Episode != "ep" || string(e.Request.Payload) != `{"do":"it"}` ||
			string(e.Effect.Payload) != `{"do":"it"}` || e.Effect.Triple.Cost != 1 || call.Plan == nil || call.Output == nil {
			t.Errorf("%s: %+v", test.status, call)
		}
	}
}

// TestHoles takes away, or replaces, each object that a call's evidence names:
// the error is Corrupt and names the item.
func TestHoles(t *testing.T) {
	for _, result := range []broker.Result{coordtest.Succeed(`{}`), coordtest.Fail("no"), coordtest.Lose("gone")} {
		w, entry := ended(t, result)
		call, err := evidence.Load(t.Context(), w.Store, entry)
		if err != nil {
			t.Fatal(err)
		}
		e := call.Ended[0]
		decoded := map[store.Ref]string{
			entry.Transition: "invocation record", call.Record.Session: "session",
			e.EffectOutcome.Request: "request", e.EffectOutcome.Record: "effect record",
		}
		named := map[store.Ref]string{
			call.Record.Input: "input", call.Record.Output: "output", call.Record.Plan: "plan",
			e.Record.ResultRef: "result", e.EffectOutcome.Detail: "failure text",
		}
		for ref, what := range decoded {
			named[ref] = what
		}
		delete(named, "")
		delete(decoded, "")
		for ref, what := range named {
			_, err := evidence.Load(t.Context(), &holed{Store: w.Store, ref: ref}, entry)
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(fault.Detail(err), what+" "+string(ref)) {
				t.Errorf("without %s: %v", what, err)
			}
		}
		for ref, what := range decoded {
			_, err := evidence.Load(t.Context(), &holed{Store: w.Store, ref: ref, bytes: []byte("else")}, entry)
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(fault.Detail(err), what) {
				t.Errorf("another %s: %v", what, err)
			}
		}
	}
}

// TestOtherFaultsStay checks that a store that does not answer is not corruption,
// and that an entry of the host is refused.
func TestOtherFaultsStay(t *testing.T) {
	w, entry := ended(t, coordtest.Succeed(`{}`))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := evidence.Load(ctx, w.Store, entry); err == nil || fault.Is(err, fault.Corrupt) {
		t.Errorf("a store that does not answer: %v", err)
	}
	genesis, err := w.Store.Entry(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.Load(t.Context(), w.Store, genesis); !fault.Is(err, fault.Invalid) {
		t.Errorf("genesis as a call: %v", err)
	}
}
