package drift

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"world/broker/law"
	"world/fault"
	"world/spec"
	"world/z3"
)

var bothSolvers = []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")}

func open(t *testing.T, b *spec.Book, solver z3.Program) *Model {
	t.Helper()
	m, err := Open(context.Background(), b, solver, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// The model against answers worked out by hand from the seed page, so that Go
// and model are not only held to each other.
func TestTheModelAnswersTheSeedPage(t *testing.T) {
	read := law.Grant{Effect: "Workspace.Read", Scope: "worktree", ExpiresAt: 100, Budget: 3}
	ask := func(effect law.Effect, scope law.Scope, cost, now int64) law.Request {
		return law.Request{Effect: effect, Scope: scope, Cost: cost, Now: now}
	}
	other := read
	other.Scope = "elsewhere"
	rows := []struct {
		name string
		Case
		want  law.Decision
		label string
	}{
		{"no grants", Case{nil, ask("Workspace.Read", "worktree", 1, 5)}, law.Decision{Verdict: law.DeniedEffectName, Grant: -1}, "denied:effect-name"},
		{"other effect", Case{[]law.Grant{read}, ask("Workspace.Write", "worktree", 1, 5)}, law.Decision{Verdict: law.DeniedEffectName, Grant: -1}, "denied:effect-name"},
		{"other scope", Case{[]law.Grant{read}, ask("Workspace.Read", "work", 1, 5)}, law.Decision{Verdict: law.DeniedScope, BudgetBefore: 3, Remaining: 3}, "denied:scope"},
		{"at the expiry", Case{[]law.Grant{read}, ask("Workspace.Read", "worktree", 1, 100)}, law.Decision{Verdict: law.DeniedExpired, BudgetBefore: 3, Remaining: 3}, "denied:expired"},
		{"above the budget", Case{[]law.Grant{read}, ask("Workspace.Read", "worktree", 4, 5)}, law.Decision{Verdict: law.DeniedBudget, BudgetBefore: 3, Remaining: 3}, "denied:budget"},
		{"the whole budget", Case{[]law.Grant{read}, ask("Workspace.Read", "worktree", 3, 99)}, law.Decision{Verdict: law.Allowed, BudgetBefore: 3}, "allowed"},
		{"closest miss", Case{[]law.Grant{other, read, other}, ask("Workspace.Read", "worktree", 4, 5)}, law.Decision{Verdict: law.DeniedBudget, Grant: 1, BudgetBefore: 3, Remaining: 3}, "denied:budget"},
		{"first among ties", Case{[]law.Grant{other, other}, ask("Workspace.Read", "worktree", 1, 5)}, law.Decision{Verdict: law.DeniedScope, BudgetBefore: 3, Remaining: 3}, "denied:scope"},
		{"first allowing", Case{[]law.Grant{other, read, read}, ask("Workspace.Read", "worktree", 1, 5)}, law.Decision{Verdict: law.Allowed, Grant: 1, BudgetBefore: 3, Remaining: 2}, "allowed"},
	}
	for _, solver := range bothSolvers {
		m := open(t, book(t), solver)
		for _, row := range rows {
			got, err := m.Decide([]Case{row.Case})
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != row.want || m.Label(got[0].Verdict) != row.label {
				t.Errorf("%s, %s: got %+v, want %+v", solver.Name, row.name, got[0], row.want)
			}
		}
	}
}

func TestNumbersCrossThePipe(t *testing.T) {
	budgets := []Two{{math.MaxInt64, 1}, {5, math.MinInt64}, {math.MinInt64, 0}, {7, 7}}
	want := []int64{math.MaxInt64 - 1, 5, 0, 0}
	for _, solver := range bothSolvers {
		got, err := open(t, book(t), solver).Seed(budgets)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: seed of %+v is %d, want %d", solver.Name, budgets[i], got[i], want[i])
			}
		}
	}
}

// Texts are compared as bytes, whatever they hold.
func TestTextsAreBytes(t *testing.T) {
	hostile := []law.Scope{"", `"`, `""`, `\`, `\u{41}`, "A", ")", "|", ";", "\x00", "\n", "\xff", "\u00e9", "e\u0301", "worktree "}
	var pairs []Pair
	for _, a := range hostile {
		for _, b := range hostile {
			pairs = append(pairs, Pair{law.Grant{Effect: "e", Scope: a, ExpiresAt: 2, Budget: 1}, law.Request{Effect: "e", Scope: b, Cost: 1, Now: 1}})
		}
	}
	for _, solver := range bothSolvers {
		got, err := open(t, book(t), solver).Judge(pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			if want := law.Judge(p.Grant, p.Request); got[i] != want {
				t.Errorf("%s: scopes %q and %q: %v, want %v", solver.Name, p.Grant.Scope, p.Request.Scope, got[i], want)
			}
		}
	}
}

func TestALawWithoutAFunctionIsNamed(t *testing.T) {
	was, _ := book(t).File("seeding")
	cut := strings.Replace(was.Text, "(define-fun seed (", "(define-fun seedling (", 1)
	for _, solver := range bothSolvers {
		_, err := Open(context.Background(), book(t).With("seeding", cut), solver, time.Minute)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "spec/z3/seeding.smt2:10: ") {
			t.Errorf("%s: got %v, want seeding.smt2 and its line", solver.Name, err)
		}
	}
}

func TestNoInputsNeedNoAnswer(t *testing.T) {
	got, err := open(t, book(t), z3.Z3("z3")).Judge(nil)
	if err != nil || len(got) != 0 {
		t.Fatalf("got %v, %v", got, err)
	}
}
