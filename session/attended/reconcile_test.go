package attended_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/replay"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/store"
	"world/store/fsck"
	"world/store/record"
	"world/store/why"
)

// forgetful is a store that loses every outcome: the intent stays open.
type forgetful struct{ store.Store }

func (f forgetful) Commit(ctx context.Context, fin store.Finish) (store.Entry, error) {
	if fin.Intent != nil {
		return store.Entry{}, fault.New("test", fault.LeaseLost, "no outcome is written")
	}
	return f.Store.Commit(ctx, fin)
}

// unknown is a world with two effects of which nobody knows: effect:ep:0 of
// mcp:ep:lost has an outcome that says so, effect:ep:1 of mcp:ep:cut has none.
func unknown(t *testing.T) (*coordtest.World, session.Live, attended.Desk) {
	t.Helper()
	hand := &coordtest.Hand{Answer: func(broker.Job) broker.Result { return coordtest.Lose("nobody knows") }}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand, "Net.Send": hand}, nil)
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 5))
	w.Must(live, coordtest.Act, "lost", `{}`)
	options := w.Options
	options.Store = forgetful{w.Store}
	honest := w.C
	w.C = coordinator.New(options)
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "cut", `{}`); !fault.Is(err, fault.Indeterminate) {
		t.Fatalf("the call was to be cut off: %v", err)
	}
	w.C = honest
	return w, live, attended.Desk{Office: w.Office(), Wall: func() time.Time { return time.Unix(w.Now()+7, 0) }}
}

func TestReconcileClosesAnIntent(t *testing.T) {
	for id, c := range map[string]struct{ intent, task, verdict string }{
		"effect:ep:0": {"effect:ep:0", "lost", "succeeded"},
		"mcp:ep:cut":  {"effect:ep:1", "cut", "abandoned"},
		"effect:ep:1": {"effect:ep:1", "cut", "failed"},
	} {
		t.Run(id, func(t *testing.T) {
			w, live, d := unknown(t)
			ledger, err := w.Store.Ledger(t.Context(), "ep")
			if err != nil {
				t.Fatal(err)
			}
			terminal, h := sit(t, nil, "y\n")
			done, err := d.Reconcile(t.Context(), terminal, attended.Word{ID: id, Verdict: c.verdict, Note: "looked at the file"})
			if err != nil || done.Intent != c.intent {
				t.Fatalf("%+v, %v", done, err)
			}
			for _, want := range []string{`Intent ` + c.intent + `: "Workspace.Write" on "worktree", cost 1, of call "mcp:ep:` + c.task + `"`,
				"its cost stays spent", "Confirm that " + c.intent + " is reconciled as " + c.verdict + "? [y/N] "} {
				if !strings.Contains(h.saw(), want) {
					t.Errorf("the screen does not show %q: %q", want, h.saw())
				}
			}
			object, err := w.Store.Object(t.Context(), done.Object)
			if err != nil {
				t.Fatal(err)
			}
			r, err := record.DecodeReconciliation(object.Bytes())
			if err != nil || r.Intent != c.intent || r.Verdict != c.verdict || r.Note != "looked at the file" ||
				!strings.HasPrefix(r.By, "operator ") || r.At != coordtest.Start+7 || object.Label().SemanticID != record.Reconciliation {
				t.Errorf("%+v, %v", r, err)
			}
			entry, err := w.Store.Entry(t.Context(), done.Entry)
			if err != nil || entry.WrittenBy != "host:reconcile" || entry.Transition != done.Object || entry.Invocation != "" {
				t.Errorf("%+v, %v", entry, err)
			}
			// No refund, no effect record, and it is off the list.
			after, err := w.Store.Ledger(t.Context(), "ep")
			if err != nil || after.Of(coordtest.Write, coordtest.Scope) != ledger.Of(coordtest.Write, coordtest.Scope) || after.Next != ledger.Next {
				t.Errorf("ledger %+v, before %+v, %v", after, ledger, err)
			}
			intent, err := w.Store.IntentOf(t.Context(), store.NewInvocationID(store.SurfaceMCP, "ep", c.task))
			if err != nil || intent.Reconciled != done.Object || intent.Outcome.Record != "" {
				t.Errorf("intent %+v, %v", intent, err)
			}
			open, err := w.Store.Indeterminate(t.Context(), 10)
			if err != nil || len(open) != 1 || open[0].Name() == c.intent {
				t.Errorf("still listed: %v, %v", open, err)
			}
			tellsOfIt(t, w, live, c.intent, c.task, c.verdict)
			// A second word is refused unasked.
			terminal, h = sit(t, nil, "y\n")
			if _, err := d.Reconcile(t.Context(), terminal, attended.Word{ID: id, Verdict: c.verdict, Note: "again"}); !fault.Is(err, fault.Conflict) || h.saw() != "" {
				t.Errorf("again: %v, %q", err, h.saw())
			}
		})
	}
}

// tellsOfIt checks what everybody else says of a reconciled intent.
func tellsOfIt(t *testing.T, w *coordtest.World, live session.Live, intent, task, verdict string) {
	t.Helper()
	_, err := w.Invoke(t.Context(), live, coordtest.Act, task, `{}`)
	if !fault.Is(err, fault.Indeterminate) || !strings.Contains(fault.Detail(err), "closed by an operator's word: "+verdict) {
		t.Errorf("resent: %v", err)
	}
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, task, `{"x":1}`); !fault.Is(err, fault.Conflict) {
		t.Errorf("resent with other arguments: %v", err)
	}
	report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
	if err != nil || !report.Clean() {
		t.Errorf("fsck: %v, %v", report.Findings, err)
	}
	for _, target := range []string{intent, "mcp:ep:" + task, "head"} {
		trail, err := why.Walk(t.Context(), w.Store, target, why.DefaultScan)
		if err != nil || !trail.Holds {
			t.Fatalf("why %s: %+v, %v", target, trail, err)
		}
		told := false
		for _, s := range trail.Steps {
			told = told || s.Part == "reconciliation" && strings.Contains(s.Says, verdict)
		}
		if !told {
			t.Errorf("why %s does not tell of it: %+v", target, trail.Steps)
		}
	}
	counts, err := replay.ReplayAll(t.Context(), w.Store, coordtest.Runner{}, nil)
	want := 0
	if task == "cut" {
		want = 1
	}
	if err != nil || counts.Diverged != 0 || counts.Same != 1 || counts.Unreplayable[replay.Reconciled] != want {
		t.Errorf("replay: %+v, %v", counts, err)
	}
}

func TestReconcileRefuses(t *testing.T) {
	w, live, d := unknown(t)
	w.Handlers[coordtest.Write].(*coordtest.Hand).Answer = nil
	w.Must(live, coordtest.Act, "done", `{}`) // effect:ep:2
	before, err := w.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good := attended.Word{ID: "effect:ep:0", Verdict: "failed", Note: "a note"}
	for name, c := range map[string]struct {
		word   attended.Word
		answer string
		asked  bool
		kind   fault.Kind
	}{
		"no id":           {attended.Word{Verdict: "failed", Note: "n"}, "y\n", false, fault.Invalid},
		"no note":         {attended.Word{ID: "effect:ep:0", Verdict: "failed", Note: " "}, "y\n", false, fault.Invalid},
		"long note":       {attended.Word{ID: "effect:ep:0", Verdict: "failed", Note: strings.Repeat("n", 2049)}, "y\n", false, fault.Invalid},
		"escape in note":  {attended.Word{ID: "effect:ep:0", Verdict: "failed", Note: "a\x1b[2Jb"}, "y\n", false, fault.Invalid},
		"no verdict":      {attended.Word{ID: "effect:ep:0", Note: "n"}, "y\n", false, fault.Invalid},
		"unknown verdict": {attended.Word{ID: "effect:ep:0", Verdict: "retried", Note: "n"}, "y\n", false, fault.Invalid},
		"no such intent":  {attended.Word{ID: "effect:ep:9", Verdict: "failed", Note: "n"}, "y\n", false, fault.NotFound},
		"no such call":    {attended.Word{ID: "mcp:ep:none", Verdict: "failed", Note: "n"}, "y\n", false, fault.NotFound},
		"nonsense":        {attended.Word{ID: "effect:ep:00", Verdict: "failed", Note: "n"}, "y\n", false, fault.NotFound},
		"has an outcome":  {attended.Word{ID: "effect:ep:2", Verdict: "failed", Note: "n"}, "y\n", false, fault.Conflict},
		"a no":            {good, "n\n", true, fault.Denied},
		"an almost yes":   {good, "YES\n", true, fault.Denied},
	} {
		terminal, h := sit(t, nil, c.answer)
		if _, err := d.Reconcile(t.Context(), terminal, c.word); !fault.Is(err, c.kind) || (h.saw() != "") != c.asked {
			t.Errorf("%s: %v, screen %q", name, err, h.saw())
		}
	}
	if head, err := w.Store.Head(t.Context()); err != nil || head != before {
		t.Errorf("a refusal wrote something: %+v, %v", head, err)
	}
	terminal, _ := sit(t, nil, "y\n")
	if _, err := d.Reconcile(t.Context(), terminal, good); err != nil {
		t.Errorf("the sample: %v", err)
	}
}

// TestReconcileLeavesWhatRuns asks while the effect's handler is at work.
func TestReconcileLeavesWhatRuns(t *testing.T) {
	var d attended.Desk
	hand := &coordtest.Hand{Before: func(_ context.Context, job broker.Job) {
		terminal, _ := sit(t, nil, "y\n")
		if _, err := d.Reconcile(t.Context(), terminal, attended.Word{ID: job.Intent, Verdict: "failed", Note: "n"}); !fault.Is(err, fault.InFlight) {
			t.Errorf("a running effect: %v", err)
		}
	}}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand, "Net.Send": hand}, nil)
	d = attended.Desk{Office: w.Office(), Wall: func() time.Time { return time.Unix(w.Now(), 0) }}
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	if reply := w.Must(live, coordtest.Act, "run", `{}`); reply.Failed {
		t.Errorf("the call was disturbed: %+v", reply)
	}
}

// moved is a store whose lease is given up once between taking and using it.
type moved struct {
	store.Store
	times int
}

func (m *moved) Act(ctx context.Context, act store.Act) (store.Entry, error) {
	if r, ok := act.Changes[0].(store.ReconcileIntent); ok && m.times > 0 {
		m.times--
		if err := m.Store.GiveUp(ctx, r.Lease); err != nil {
			return store.Entry{}, err
		}
	}
	return m.Store.Act(ctx, act)
}

func TestReconcileTakesALostLeaseOnceMore(t *testing.T) {
	for times, kind := range map[int]fault.Kind{1: -1, 2: fault.LeaseLost} {
		w, _, d := unknown(t)
		d.Office.Store = &moved{w.Store, times}
		terminal, _ := sit(t, nil, "y\n")
		_, err := d.Reconcile(t.Context(), terminal, attended.Word{ID: "effect:ep:0", Verdict: "failed", Note: "n"})
		if (err == nil) != (kind < 0) || err != nil && !fault.Is(err, kind) {
			t.Errorf("lost %d times: %v", times, err)
		}
	}
}
