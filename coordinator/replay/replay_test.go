package replay_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator/capsule"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/coordinator/replay"
	"world/fault"
	"world/store"
	"world/store/record"
)

// TestForgeries makes evidence false in one place at a time, with every hash
// right, and checks that replay names the place; the same call without the forgery
// replays.
func TestForgeries(t *testing.T) {
	call := func(edit func(*record.InvocationRecord)) func(*forger) {
		return func(f *forger) { f.finish = func(fin *store.Finish) { forge(fin, edit) } }
	}
	effect := func(edit func(*record.EffectRecord)) func(*forger) {
		return func(f *forger) { f.finish = func(fin *store.Finish) { forgeEffect(fin, edit) } }
	}
	const allowed, denied, pure = `{"do":"x"}`, `{"cost":3,"do":"x"}`, `{"p":1}`
	for name, test := range map[string]struct {
		transition store.TransitionID
		args       string
		forge      func(*forger)
		at         replay.Position
		wanted     string // part of what is said to be recorded
		got        string // part of what follows from evidence
	}{
		"another episode":     {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.EpisodeID = "ep9" }), replay.AtEntry, "ep", "ep9"},
		"another invocation":  {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.InvocationID = "mcp:ep:other" }), replay.AtEntry, "invocation mcp:ep:", "mcp:ep:other"},
		"another interpreter": {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Interpreter = store.RefOf(nil) }), replay.AtEntry, "interpreter", "e3b0c442"},
		"another epoch":       {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.SemanticsEpoch = 7 }), replay.AtEntry, "0", "7"},
		"another time":        {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Now++ }), replay.AtClaim, "1700000000", "1700000001"},
		"another transition":  {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.SkillID = coordtest.Far }), replay.AtClaim, "act", "far"},
		"another registry":    {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Registry = r.Session }), replay.AtEvidence, "", "does not decode"},
		"no plan":             {coordtest.Act, denied, call(func(r *record.InvocationRecord) { r.Plan = "" }), replay.AtPlan, "plan", "world/effect-plan/v1"},
		"a plan of pure":      {coordtest.Echo, pure, call(func(r *record.InvocationRecord) { r.Plan = r.Input }), replay.AtRecord, `"plan":"sha256:`, `"plan":""`},
		"an earlier ordinal":  {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Ordinal = 0 }), replay.AtEffectRecord, `"budgetBefore":2`, `"budgetBefore":3`},
		"a later ordinal":     {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Ordinal = 9 }), replay.AtSpend, "effect:ep:2", "none"},
		"another grant":       {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Effects[0].Grant = 0 }), replay.AtDecision, "0", "1"},
		"another effect id":   {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Effects[0].ID = "e2" }), replay.AtRequest, "e2", "e1"},
		"another intent":      {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Effects[0].Intent = "effect:ep:7" }), replay.AtIntent, "effect:ep:7", "effect:ep:1"},
		"a failure":           {coordtest.Act, allowed, call(func(r *record.InvocationRecord) { r.Failure = "failed" }), replay.AtRecord, `"failure":"failed"`, `"failure":""`},
		"more budget":         {coordtest.Act, allowed, effect(func(r *record.EffectRecord) { r.BudgetBefore++; r.BudgetAfter++ }), replay.AtEffectRecord, `"budgetBefore":3`, `"budgetBefore":2`},
		"another denial":      {coordtest.Act, denied, effect(func(r *record.EffectRecord) { r.Denial = "denied:scope" }), replay.AtEffectRecord, "denied:scope", "denied:budget"},
		"another output": {coordtest.Echo, pure, func(f *forger) {
			f.finish = func(fin *store.Finish) {
				_, to := swap(fin, record.Output, func(raw []byte) []byte { return bytes.Replace(raw, []byte("1"), []byte("2"), 1) })
				fin.Draft.StateRoot = to
				forge(fin, func(r *record.InvocationRecord) { r.Output = to })
			}
		}, replay.AtOutput, `{"p":2}`, `{"p":1}`},
		"another state": {coordtest.Echo, pure, func(f *forger) {
			f.finish = func(fin *store.Finish) { fin.Draft.StateRoot = fin.Draft.Transition }
		}, replay.AtEntry, "stateRoot", "stateRoot"},
		"a payload that was not planned": {coordtest.Act, allowed, func(f *forger) {
			var forged store.Ref
			f.intention = func(in *store.Intention) {
				last := len(in.Objects) - 1
				in.Objects[last] = store.NewObject(record.Request, "host/broker", bytes.Replace(in.Objects[last].Bytes(), []byte(`"x"`), []byte(`"y"`), 1))
				in.Request = in.Objects[last].Ref()
				forged = in.Request
			}
			f.finish = func(fin *store.Finish) {
				forgeEffect(fin, func(r *record.EffectRecord) { r.RequestRef = forged })
				forge(fin, func(r *record.InvocationRecord) { r.Effects[0].Request = forged })
			}
		}, replay.AtRequest, "request sha256:", "request sha256:"},
		"a result of another call": {coordtest.Act, allowed, func(f *forger) {
			f.finish = func(fin *store.Finish) {
				_, to := swap(fin, record.Result, func([]byte) []byte { return []byte(`{"forged":1}`) })
				fin.Outcome.Detail = to
				forgeEffect(fin, func(r *record.EffectRecord) { r.ResultRef = to })
			}
		}, replay.AtOutput, `{"done":`, `{"forged":1,`},
	} {
		t.Run(name, func(t *testing.T) {
			w, f, live := world(t, &coordtest.Hand{})
			w.Must(live, coordtest.Act, "", `{"do":"before"}`)
			if honest := one(t, w, w.Mint("ep2", live.Record.Grants...), test.transition, test.args); honest.Verdict != replay.Same {
				t.Fatalf("the honest call: %+v", honest)
			}
			test.forge(f)
			report := one(t, w, live, test.transition, test.args)
			if report.Verdict != replay.Diverged || report.Position != test.at || !strings.Contains(report.Wanted, test.wanted) || !strings.Contains(report.Got, test.got) {
				t.Errorf("%+v", report)
			}
		})
	}
}

// TestInventedAuthority forges a whole allowed call beyond the budget, by raising
// the budget that the database guards and the record shows: only the session
// object says otherwise, and replay asks it.
func TestInventedAuthority(t *testing.T) {
	w, _, live := world(t, &coordtest.Hand{})
	w.Forged = true
	w.Must(live, coordtest.Act, "", `{"cost":3}`)
	rich := live
	rich.Record.Grants = []record.SessionGrant{live.Record.Grants[0], coordtest.Grant(coordtest.Write, coordtest.Scope, 99)}
	reply := w.Must(rich, coordtest.Act, "", `{}`)
	if reply.Failed {
		t.Fatalf("the forged session was denied: %+v", reply)
	}
	report, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, reply.Invocation)
	if err != nil || report.Verdict != replay.Diverged || report.Position != replay.AtDecision || report.Got != "denied:budget" {
		t.Errorf("%+v, %v", report, err)
	}
	// And one by a session that could not even see the transition.
	blind := w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Scope, 5))
	blind.Record.Grants = rich.Record.Grants
	reply = w.Must(blind, coordtest.Act, "", `{}`)
	report, err = replay.Replay(t.Context(), w.Store, coordtest.Runner{}, reply.Invocation)
	if err != nil || report.Verdict != replay.Diverged || report.Position != replay.AtAdmission || report.Got != "access denied:effect-name" {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestUnreplayable checks the reasons, and that they are counted apart.
func TestUnreplayable(t *testing.T) {
	w, _, live := world(t, &coordtest.Hand{})
	ok := w.Must(live, coordtest.Act, "", `{}`)
	w.Must(live, coordtest.Orphan, "", `{"effect":"Nobody.Does"}`)
	counts, err := replay.ReplayAll(t.Context(), w.Store, coordtest.Runner{}, nil)
	if err != nil || counts.Same != 1 || counts.Diverged != 0 || counts.Unreplayable[replay.Handlers] != 1 {
		t.Errorf("counts %+v, %v", counts, err)
	}
	for kind, reason := range map[fault.Kind]replay.Reason{
		fault.Unavailable: replay.InterpreterAbsent, fault.Corrupt: replay.InterpreterAbsent,
		fault.Timeout: replay.Machine, fault.Limit: replay.Machine, fault.Internal: replay.Machine,
	} {
		report, err := replay.Replay(t.Context(), w.Store, ailing{kind}, ok.Invocation)
		if err != nil || report.Verdict != replay.Unreplayable || report.Reason != reason {
			t.Errorf("%s: %+v, %v", kind, report, err)
		}
	}
	// A program that fails where it answered is a divergence, not a weak machine.
	if report, err := replay.Replay(t.Context(), w.Store, ailing{fault.Failed}, ok.Invocation); err != nil || report.Verdict != replay.Diverged {
		t.Errorf("failed: %+v, %v", report, err)
	}
	if _, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, "mcp:ep:never"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an id that was never used: %v", err)
	}
}

type ailing struct{ kind fault.Kind }

func (a ailing) Run(context.Context, capsule.Program, []byte) ([]byte, error) {
	return nil, fault.New("test", a.kind, "unwell")
}

// TestNoEntry checks calls that were cut short, before and after an operator's word.
func TestNoEntry(t *testing.T) {
	w, f, live := world(t, &coordtest.Hand{})
	f.finish = func(fin *store.Finish) { fin.Lease.Epoch-- } // this commit is refused
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "cut", `{}`); !fault.Is(err, fault.Indeterminate) {
		t.Fatalf("cut short: %v", err)
	}
	f.finish = nil
	reason := func(want replay.Reason) {
		t.Helper()
		report, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, "mcp:ep:cut")
		if err != nil || report.Verdict != replay.Unreplayable || report.Reason != want {
			t.Errorf("%+v, %v", report, err)
		}
		counts, err := replay.ReplayAll(t.Context(), w.Store, coordtest.Runner{}, nil)
		if err != nil || counts.Unreplayable[want] != 1 || counts.Same+counts.Diverged != 0 {
			t.Errorf("counts %+v, %v", counts, err)
		}
	}
	reason(replay.NoEntry)
	lease, err := w.Store.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	word := store.NewObject(record.Reconciliation, "test", record.ReconciliationRecord{Intent: "effect:ep:0", Verdict: "failed", At: w.Now()}.Bytes())
	draft, err := registry.HostDraft(t.Context(), w.Store, "reconcile", word.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Act(t.Context(), store.Act{Objects: []store.Object{word}, Draft: draft, At: w.Now(), Changes: []store.Change{
		store.ReconcileIntent{Episode: "ep", Reconciliation: word.Ref(), Lease: lease}}}); err != nil {
		t.Fatal(err)
	}
	reason(replay.Reconciled)
}

// TestNoHandlerIsCalled replays every kind of end with the handlers gone, after
// more spend, and out of order.
func TestNoHandlerIsCalled(t *testing.T) {
	answer := coordtest.Succeed(`{"a":1}`)
	hand := &coordtest.Hand{Answer: func(broker.Job) broker.Result { return answer }}
	w, _, live := world(t, hand)
	var ids []store.InvocationID
	for _, step := range []struct {
		answer broker.Result
		args   string
	}{
		{coordtest.Succeed(`{"a":1}`), `{"after":1}`}, {coordtest.Fail("no"), `{"after":1}`}, {coordtest.Lose("gone"), `{}`},
		{coordtest.Succeed(`{}`), `{}`}, {coordtest.Succeed(`{}`), `{"raw":"x"}`}, {coordtest.Succeed(`{}`), `{"effect":"Workspace.Read","broken":1}`},
	} {
		answer = step.answer
		ids = append(ids, w.Must(live, coordtest.Act, "", step.args).Invocation)
	}
	jobs := len(hand.Jobs())
	p := &replay.Replayer{Store: w.Store, Runner: coordtest.Runner{}}
	for i := range ids {
		id := ids[len(ids)-1-i]
		if report, err := p.Call(t.Context(), id); err != nil || report.Verdict != replay.Same {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if len(hand.Jobs()) != jobs {
		t.Error("replay called a handler")
	}
	if counts, err := p.All(t.Context(), nil); err != nil || counts.Same != len(ids) {
		t.Errorf("counts %+v, %v", counts, err)
	}
}

// recordingRunner notes which interpreter it was asked for.
type recordingRunner struct{ asked map[store.Ref]int }

func (r recordingRunner) Run(ctx context.Context, p capsule.Program, input []byte) ([]byte, error) {
	r.asked[p.Interpreter]++
	return coordtest.Runner{}.Run(ctx, p, input)
}

// TestInterpreter checks that the archived interpreter runs, and today's on request.
func TestInterpreter(t *testing.T) {
	w, _, live := world(t, &coordtest.Hand{})
	id := w.Must(live, coordtest.Act, "", `{"after":1}`).Invocation
	archived, today := store.RefOf(coordtest.Interpreter), store.RefOf([]byte("today's"))
	for _, current := range []store.Ref{"", today} {
		runner := recordingRunner{map[store.Ref]int{}}
		p := &replay.Replayer{Store: w.Store, Runner: runner, Current: current}
		report, err := p.Call(t.Context(), id)
		want := archived
		if current != "" {
			want = current
		}
		if err != nil || report.Verdict != replay.Same || runner.asked[want] != 2 || len(runner.asked) != 1 {
			t.Errorf("current %q: %+v, %v, asked %v", current, report, err, runner.asked)
		}
	}
}

// TestEndedAndStopped checks that the end of a context and a visitor's error end
// the replay and are no divergence.
func TestEndedAndStopped(t *testing.T) {
	w, _, live := world(t, &coordtest.Hand{})
	id := w.Must(live, coordtest.Act, "", `{}`).Invocation
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if report, err := replay.Replay(ctx, w.Store, coordtest.Runner{}, id); err == nil {
		t.Errorf("ended: %+v", report)
	}
	stop := errors.New("stop")
	if _, err := replay.ReplayAll(t.Context(), w.Store, coordtest.Runner{}, func(replay.Report) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
}
