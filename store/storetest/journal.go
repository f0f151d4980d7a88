package storetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store"
)

func pureCall(t *testing.T, open Opener) {
	w := opened(t, open)
	head, err := w.Head(w.ctx)
	ok(t, err)
	f := w.pure("1")
	got, err := w.Commit(w.ctx, f)
	ok(t, err)
	equal(t, "entry", got, store.Chain(head, f.Draft, f.Claim.Invocation))
	found, err := w.EntryOf(w.ctx, f.Claim.Invocation)
	ok(t, err)
	equal(t, "entry of the call", found, got)
	claim, err := w.Claim(w.ctx, f.Claim.Invocation)
	ok(t, err)
	equal(t, "claim", claim, f.Claim)
	for _, o := range f.Objects {
		_, err := w.Object(w.ctx, o.Ref())
		ok(t, err)
	}
	_, err = w.IntentOf(w.ctx, f.Claim.Invocation)
	wantKind(t, "intent of a pure call", err, fault.NotFound)
	equal(t, "spend of a pure call", w.total(), 0)

	// The id is taken for ever, whoever comes with it.
	before := w.state()
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "same call again", err, fault.Conflict)
	other := w.pure("1")
	other.Claim.Transition = "tools.write"
	_, err = w.Commit(w.ctx, other)
	wantKind(t, "other call, same id", err, fault.Conflict)
	in := w.intention("1", 10, w.lease())
	_, err = w.Intend(w.ctx, in)
	wantKind(t, "intent under a finished id", err, fault.Conflict)
	equal(t, "state", w.state(), before)
}

func effectfulCall(t *testing.T, open Opener) {
	w := opened(t, open)
	in := w.intention("1", 5, w.lease())
	in.Cost = 2
	intent, err := w.Intend(w.ctx, in)
	ok(t, err)
	want := store.Intent{Episode: episode, Ordinal: 0, Invocation: in.Claim.Invocation, Effect: effect, Scope: scope,
		Cost: 2, Request: in.Request, At: in.Claim.At, Epoch: in.Lease.Epoch}
	equal(t, "intent", intent, want)
	stored, err := w.Intent(w.ctx, episode, 0)
	ok(t, err)
	equal(t, "stored intent", stored, want)
	equal(t, "spend after the intent", w.total(), 2)
	_, err = w.EntryOf(w.ctx, in.Claim.Invocation)
	wantKind(t, "entry before the commit", err, fault.NotFound)
	for _, o := range in.Objects {
		_, err := w.Object(w.ctx, o.Ref())
		ok(t, err)
	}

	f := w.finish(in, intent)
	entry, err := w.Commit(w.ctx, f)
	ok(t, err)
	equal(t, "entry's call", entry.Invocation, in.Claim.Invocation)
	want.Outcome = f.Outcome
	stored, err = w.IntentOf(w.ctx, in.Claim.Invocation)
	ok(t, err)
	equal(t, "finished intent", stored, want)
	equal(t, "spend after the commit", w.total(), 2)
	ledger, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	equal(t, "next ordinal", ledger.Next, 1)

	before := w.state()
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "second outcome", err, fault.Conflict)
	f.Outcome.Status = store.StatusFailed
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "another outcome", err, fault.Conflict)
	_, err = w.Intend(w.ctx, in)
	wantKind(t, "claimed id", err, fault.Conflict)
	equal(t, "state", w.state(), before)
}

// total is the spend of the fixture's effect and scope.
func (w *world) total() int64 {
	w.t.Helper()
	l, err := w.Ledger(w.ctx, episode)
	ok(w.t, err)
	return l.Of(effect, scope)
}

func intendRefuses(t *testing.T, open Opener) {
	w := opened(t, open)
	lease := w.lease()
	probe := text("x", "comes with a refused intent")
	nowhere := store.RefOf([]byte("nowhere"))
	before := w.state()
	for _, tt := range []struct {
		name  string
		kind  fault.Kind
		spoil func(in *store.Intention)
	}{
		{"negative cost", fault.Invalid, func(in *store.Intention) { in.Cost = -1 }},
		{"no effect", fault.Invalid, func(in *store.Intention) { in.Effect = "" }},
		{"no scope", fault.Invalid, func(in *store.Intention) { in.Scope = "" }},
		{"no invocation", fault.Invalid, func(in *store.Intention) { in.Claim.Invocation = "" }},
		{"long invocation", fault.Invalid, func(in *store.Intention) { in.Claim.Invocation = store.InvocationID(make([]byte, 257)) }},
		{"no episode", fault.Invalid, func(in *store.Intention) { in.Claim.Episode = "" }},
		{"no transition", fault.Invalid, func(in *store.Intention) { in.Claim.Transition = "" }},
		{"negative time", fault.Invalid, func(in *store.Intention) { in.Claim.At = -1 }},
		{"request not stored", fault.Invalid, func(in *store.Intention) { in.Request = nowhere }},
		{"request no ref", fault.Invalid, func(in *store.Intention) { in.Request = "request" }},
		{"input not stored", fault.Invalid, func(in *store.Intention) { in.Claim.Input = nowhere }},
		{"source not stored", fault.Invalid, func(in *store.Intention) { in.Claim.TransitionFn = nowhere }},
		{"session not stored", fault.Invalid, func(in *store.Intention) { in.Claim.Session = nowhere }},
		{"no session", fault.Invalid, func(in *store.Intention) { in.Claim.Session = "" }},
		{"lease of another episode", fault.Invalid, func(in *store.Intention) { in.Lease.Episode = "ep-2" }},
		{"older epoch", fault.LeaseLost, func(in *store.Intention) { in.Lease.Epoch-- }},
		{"epoch of the future", fault.LeaseLost, func(in *store.Intention) { in.Lease.Epoch++ }},
		{"no budget", fault.OverBudget, func(in *store.Intention) { in.Budget = 0 }},
		{"negative budget", fault.OverBudget, func(in *store.Intention) { in.Budget = -5 }},
		{"cost over budget", fault.OverBudget, func(in *store.Intention) { in.Cost = in.Budget + 1 }},
		{"largest cost", fault.OverBudget, func(in *store.Intention) { in.Cost = math.MaxInt64 }},
	} {
		in := w.intention("1", 5, lease)
		in.Objects = append(in.Objects, probe)
		tt.spoil(&in)
		_, err := w.Intend(w.ctx, in)
		wantKind(t, tt.name, err, tt.kind)
		if after := w.state(probe.Ref()); after != before+fmt.Sprintln(probe.Ref(), true) {
			t.Fatalf("%s changed something:\n%s\nwas\n%s", tt.name, after, before)
		}
	}
	in := w.intention("1", 5, lease)
	_, err := w.Intend(w.ctx, in)
	ok(t, err)
}

// authorizedCall: the session that a call stands on is a condition of its intent.
func authorizedCall(t *testing.T, open Opener) {
	w := opened(t, open)
	mint := func(n int, o store.Object) {
		t.Helper()
		_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), Changes: []store.Change{store.MintSession{
			Session: store.Session{Credential: credential(n), Object: o.Ref(), Episode: episode, CreatedAt: 1, ExpiresAt: 2}}}})
		ok(t, err)
	}
	mint(1, w.session)
	mint(2, text("world/session/v1", "another"))
	lease := w.lease()
	by := func(task string, n int) store.Intention {
		in := w.intention(task, 10, lease)
		in.Credential = credential(n)
		return in
	}
	for _, task := range []string{"1", "2"} {
		_, err := w.Intend(w.ctx, by(task, 1))
		ok(t, err)
	}
	before := w.state()
	refused := func(what string, in store.Intention, kind fault.Kind) {
		t.Helper()
		_, err := w.Intend(w.ctx, in)
		wantKind(t, what, err, kind)
		equal(t, "state", w.state(), before)
	}
	malformed := by("3", 1)
	malformed.Credential = "secret"
	refused("malformed credential", malformed, fault.Invalid)
	refused("a session that is not there", by("3", 3), fault.Unauthenticated)
	refused("another session", by("3", 2), fault.Corrupt)
	_, err := w.act(1, "revoke", store.RevokeSession{Credential: credential(1), Revocation: w.source.Ref()})
	ok(t, err)
	before = w.state()
	refused("a revoked session", by("3", 1), fault.Unauthenticated)
	_, err = w.Intend(w.ctx, w.intention("3", 10, lease))
	ok(t, err)
	w.checkLedger(t)
}

func commitRefuses(t *testing.T, open Opener) {
	w := opened(t, open)
	in, intent := w.intend("1")
	_, other := w.intend("2")
	probe := text("x", "comes with a refused commit")
	nowhere := store.RefOf([]byte("nowhere"))
	before := w.state()
	for _, tt := range []struct {
		name  string
		kind  fault.Kind
		spoil func(f *store.Finish)
	}{
		{"claim of another transition", fault.Conflict, func(f *store.Finish) { f.Claim.Transition = "tools.write" }},
		{"claim of another input", fault.Conflict, func(f *store.Finish) { f.Claim.Input = w.source.Ref() }},
		{"claim of another time", fault.Conflict, func(f *store.Finish) { f.Claim.At++ }},
		{"claim never made", fault.Conflict, func(f *store.Finish) { f.Claim.Invocation = "mcp:ep-1:never" }},
		{"intent of another call", fault.Conflict, func(f *store.Finish) { f.Intent = &other }},
		{"intent dropped", fault.Conflict, func(f *store.Finish) { f.Intent = nil }},
		{"intent that is not", fault.NotFound, func(f *store.Finish) { i := intent; i.Ordinal = 99; f.Intent = &i }},
		{"lease of another episode", fault.Invalid, func(f *store.Finish) { f.Lease.Episode = "ep-2" }},
		{"older epoch", fault.LeaseLost, func(f *store.Finish) { f.Lease.Epoch-- }},
		{"no outcome", fault.Invalid, func(f *store.Finish) { f.Outcome.Status = store.StatusOpen }},
		{"unknown outcome", fault.Invalid, func(f *store.Finish) { f.Outcome.Status = "skipped" }},
		{"success without record", fault.Invalid, func(f *store.Finish) { f.Outcome.Record = "" }},
		{"success without result", fault.Invalid, func(f *store.Finish) { f.Outcome.Detail = "" }},
		{"record not stored", fault.Invalid, func(f *store.Finish) { f.Outcome.Record = nowhere }},
		{"result not stored", fault.Invalid, func(f *store.Finish) { f.Outcome.Detail = nowhere }},
		{"indeterminate with a record", fault.Invalid, func(f *store.Finish) { f.Outcome.Status = store.StatusIndeterminate }},
		{"negative time", fault.Invalid, func(f *store.Finish) { f.At = -1 }},
		{"negative epoch tag", fault.Invalid, func(f *store.Finish) { f.Draft.SemanticsEpoch = -1 }},
	} {
		f := w.finish(in, intent)
		f.Objects = append(f.Objects, probe)
		tt.spoil(&f)
		_, err := w.Commit(w.ctx, f)
		wantKind(t, tt.name, err, tt.kind)
		if after := w.state(probe.Ref()); after != before+fmt.Sprintln(probe.Ref(), true) {
			t.Fatalf("%s changed something:\n%s\nwas\n%s", tt.name, after, before)
		}
	}
	_, err := w.Commit(w.ctx, w.finish(in, intent))
	ok(t, err)

	f := w.pure("3")
	f.Claim.Input = nowhere
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "pure call with an input that is not stored", err, fault.Invalid)
}

func budgetGuard(t *testing.T, open Opener) {
	w := opened(t, open)
	lease := w.lease()
	n := 0
	spend := func(e law.Effect, s law.Scope, cost, budget int64) error {
		n++
		in := w.intention(fmt.Sprint(n), budget, lease)
		in.Effect, in.Scope, in.Cost = e, s, cost
		_, err := w.Intend(w.ctx, in)
		return err
	}
	ok(t, spend(effect, scope, 3, 5))
	wantKind(t, "3 of 2 left", spend(effect, scope, 3, 5), fault.OverBudget)
	ok(t, spend(effect, scope, 2, 5))
	wantKind(t, "1 of 0 left", spend(effect, scope, 1, 5), fault.OverBudget)
	ok(t, spend(effect, scope, 0, 5)) // nothing costs nothing
	wantKind(t, "smaller grant", spend(effect, scope, 1, 2), fault.OverBudget)
	ok(t, spend(effect, scope, 0, 2))
	ok(t, spend(effect, scope, 1, 6)) // a larger grant raises the ceiling, and counts what was spent
	wantKind(t, "beyond the larger grant", spend(effect, scope, 1, 6), fault.OverBudget)

	// Other effects and scopes have totals of their own.
	ok(t, spend("Workspace.Write", scope, 1, 1))
	ok(t, spend(effect, "other", 1, 1))
	// The largest amounts neither wrap nor lose a unit.
	ok(t, spend("Big", scope, math.MaxInt64-1, math.MaxInt64))
	ok(t, spend("Big", scope, 1, math.MaxInt64))
	wantKind(t, "beyond the largest", spend("Big", scope, 1, math.MaxInt64), fault.OverBudget)

	ledger, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	want := store.Ledger{Episode: episode, Next: 9, Spent: []store.Spent{
		{Effect: "Big", Scope: scope, Total: math.MaxInt64},
		{Effect: effect, Scope: "other", Total: 1},
		{Effect: effect, Scope: scope, Total: 6},
		{Effect: "Workspace.Write", Scope: scope, Total: 1},
	}}
	if ledger.Episode != want.Episode || ledger.Next != want.Next || !slices.Equal(ledger.Spent, want.Spent) {
		t.Fatalf("ledger: got %v, want %v", ledger, want)
	}
	w.checkLedger(t)
	if l, err := w.Ledger(w.ctx, "ep"); err != nil || l.Next != 0 || len(l.Spent) != 0 {
		t.Fatalf("an episode whose name begins alike: got %v, %v", l, err)
	}
}

// checkLedger holds spend = sum of intents and dense ordinals.
func (w *world) checkLedger(t testing.TB) {
	t.Helper()
	sums := map[[2]string]int64{}
	var next int64
	for {
		intents, err := w.Intents(w.ctx, episode, next, 500)
		ok(t, err)
		for _, i := range intents {
			equal(t, "ordinal", i.Ordinal, next)
			next++
			key := [2]string{string(i.Effect), string(i.Scope)}
			sums[key] = law.Plus(sums[key], i.Cost)
		}
		if len(intents) == 0 {
			break
		}
	}
	ledger, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	equal(t, "next ordinal", ledger.Next, next)
	equal(t, "running totals", len(ledger.Spent), len(sums))
	for _, s := range ledger.Spent {
		equal(t, "running total", s.Total, sums[[2]string{string(s.Effect), string(s.Scope)}])
	}
}

func outcomes(t *testing.T, open Opener) {
	w := opened(t, open)
	for i, status := range []store.Status{store.StatusSucceeded, store.StatusFailed, store.StatusIndeterminate} {
		in, intent := w.intend(fmt.Sprint(i))
		f := w.finish(in, intent)
		f.Outcome.Status = status
		if status == store.StatusIndeterminate {
			f.Outcome.Record = ""
		}
		_, err := w.Commit(w.ctx, f)
		ok(t, err)
		got, err := w.Intent(w.ctx, episode, intent.Ordinal)
		ok(t, err)
		equal(t, "outcome", got.Outcome, f.Outcome)
	}
	equal(t, "spend", w.total(), 3) // however an effect ends, its unit is spent
	lost, err := w.Indeterminate(w.ctx, 500)
	ok(t, err)
	if len(lost) != 1 || lost[0].Ordinal != 2 {
		t.Fatalf("indeterminate: got %v, want the third intent alone", lost)
	}
}

func listings(t *testing.T, open Opener) {
	w := opened(t, open)
	for i := range 7 {
		w.intend(fmt.Sprint(i))
	}
	for _, tt := range []struct{ from, limit, first, n int }{
		{0, 3, 0, 3}, {3, 3, 3, 3}, {6, 3, 6, 1}, {7, 3, 0, 0}, {-5, 2, 0, 2}, {0, 500, 0, 7},
	} {
		got, err := w.Intents(w.ctx, episode, int64(tt.from), tt.limit)
		ok(t, err)
		if len(got) != tt.n || tt.n > 0 && got[0].Ordinal != int64(tt.first) {
			t.Fatalf("intents from %d, limit %d: got %v", tt.from, tt.limit, got)
		}
	}
	for i := range 4 {
		_, err := w.act(1, fmt.Sprint(i))
		ok(t, err)
	}
	for _, tt := range []struct{ from, limit, first, n int }{{0, 2, 0, 2}, {3, 10, 3, 2}, {5, 10, 0, 0}} {
		got, err := w.Entries(w.ctx, int64(tt.from), tt.limit)
		ok(t, err)
		if len(got) != tt.n || tt.n > 0 && got[0].Index != int64(tt.first) {
			t.Fatalf("entries from %d, limit %d: got %v", tt.from, tt.limit, got)
		}
	}
}
