package law_test

import (
	"math"
	"testing"

	"world/broker/law"
)

var (
	read = law.Grant{Effect: "Workspace.Read", Scope: "worktree", ExpiresAt: 100, Budget: 3}
	ask  = law.Request{Effect: "Workspace.Read", Scope: "worktree", Cost: 1, Now: 50}
)

func grant(change func(*law.Grant)) law.Grant       { g := read; change(&g); return g }
func request(change func(*law.Request)) law.Request { r := ask; change(&r); return r }

func TestJudge(t *testing.T) {
	for _, row := range []struct {
		name string
		g    law.Grant
		r    law.Request
		want law.Verdict
	}{
		{"as minted", read, ask, law.Allowed},
		{"the whole budget", read, request(func(r *law.Request) { r.Cost = 3 }), law.Allowed},
		{"nothing of nothing", grant(func(g *law.Grant) { g.Budget = 0 }), request(func(r *law.Request) { r.Cost = 0 }), law.Allowed},
		{"at second zero", read, request(func(r *law.Request) { r.Now = 0 }), law.Allowed},
		{"one second before the expiry", read, request(func(r *law.Request) { r.Now = 99 }), law.Allowed},
		{"another effect", read, request(func(r *law.Request) { r.Effect = "Workspace.Write" }), law.DeniedEffectName},
		{"another case", read, request(func(r *law.Request) { r.Effect = "workspace.read" }), law.DeniedEffectName},
		{"another scope", read, request(func(r *law.Request) { r.Scope = "worktree/src" }), law.DeniedScope},
		{"at the expiry", read, request(func(r *law.Request) { r.Now = 100 }), law.DeniedExpired},
		{"before time", read, request(func(r *law.Request) { r.Now = -1 }), law.DeniedExpired},
		{"one more than the budget", read, request(func(r *law.Request) { r.Cost = 4 }), law.DeniedBudget},
		{"a negative cost", read, request(func(r *law.Request) { r.Cost = -1 }), law.DeniedBudget},
		{"a negative budget", grant(func(g *law.Grant) { g.Budget = -1 }), request(func(r *law.Request) { r.Cost = 0 }), law.DeniedBudget},
		{"a difference that would wrap", read, request(func(r *law.Request) { r.Cost = math.MinInt64 }), law.DeniedBudget},
		{"everything wrong", law.Grant{}, law.Request{Effect: "x", Scope: "y", Cost: -1, Now: -1}, law.DeniedEffectName},
		{"scope and what follows wrong", law.Grant{Effect: "x"}, law.Request{Effect: "x", Scope: "y", Cost: -1, Now: -1}, law.DeniedScope},
		{"time and budget wrong", law.Grant{Effect: "x", Scope: "y"}, law.Request{Effect: "x", Scope: "y", Cost: 1, Now: 1}, law.DeniedExpired},
	} {
		if got := law.Judge(row.g, row.r); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got.Label(), row.want.Label())
		}
	}
}

func TestDecide(t *testing.T) {
	scope := grant(func(g *law.Grant) { g.Scope = "elsewhere" })
	expired := grant(func(g *law.Grant) { g.ExpiresAt = 10 })
	empty := grant(func(g *law.Grant) { g.Budget = 0 })
	other := grant(func(g *law.Grant) { g.Effect = "Other" })
	denied := func(v law.Verdict, at int, budget int64) law.Decision {
		return law.Decision{Verdict: v, Grant: at, BudgetBefore: budget, Remaining: budget}
	}
	for _, row := range []struct {
		name   string
		grants []law.Grant
		want   law.Decision
	}{
		{"no grants", nil, denied(law.DeniedEffectName, -1, 0)},
		{"none of that effect", []law.Grant{other, other}, denied(law.DeniedEffectName, -1, 0)},
		{"one scope off", []law.Grant{other, scope}, denied(law.DeniedScope, 1, 3)},
		{"the most progressed", []law.Grant{scope, expired, empty, expired, scope}, denied(law.DeniedBudget, 2, 0)},
		{"the first of a tie", []law.Grant{other, expired, expired}, denied(law.DeniedExpired, 1, 3)},
		{"the first that allows", []law.Grant{empty, read, read}, law.Decision{Verdict: law.Allowed, Grant: 1, BudgetBefore: 3, Remaining: 2}},
		{"the first grant of several", []law.Grant{read, read, read}, law.Decision{Verdict: law.Allowed, Grant: 0, BudgetBefore: 3, Remaining: 2}},
	} {
		if got := law.Decide(row.grants, ask); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

func TestDebit(t *testing.T) {
	want := read
	want.Budget = 2
	if got := law.Debit(read, ask); got != want {
		t.Errorf("allowed: %+v, want %+v", got, want)
	}
	if got := law.Debit(read, request(func(r *law.Request) { r.Now = 100 })); got != read {
		t.Errorf("denied: %+v, want %+v", got, read)
	}
}

func TestSeedAndPlus(t *testing.T) {
	for _, row := range []struct{ budget, spent, want int64 }{
		{5, 0, 5}, {5, 2, 3}, {5, 5, 0}, {5, 6, 0}, {0, 0, 0}, {0, -4, 0}, {-1, 0, 0}, {-1, -9, 0}, {5, -1, 5},
		{math.MaxInt64, math.MinInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64, 0}, {math.MaxInt64, math.MaxInt64 - 1, 1},
	} {
		if got := law.Seed(row.budget, row.spent); got != row.want {
			t.Errorf("seed of %d after %d: %d, want %d", row.budget, row.spent, got, row.want)
		}
	}
	for _, row := range []struct{ a, b, want int64 }{
		{0, 0, 0}, {2, 3, 5}, {-2, 3, 3}, {2, -3, 2}, {-2, -3, 0},
		{math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64}, {math.MaxInt64, math.MinInt64, math.MaxInt64},
	} {
		if got := law.Plus(row.a, row.b); got != row.want {
			t.Errorf("%d plus %d: %d, want %d", row.a, row.b, got, row.want)
		}
	}
}

func TestLabels(t *testing.T) {
	want := []string{"denied:effect-name", "denied:scope", "denied:expired", "denied:budget", "allowed"}
	for v := law.DeniedEffectName; v <= law.Allowed; v++ {
		if v.Label() != want[v] {
			t.Errorf("verdict %d is %q, want %q", v, v.Label(), want[v])
		}
	}
	for _, v := range []law.Verdict{-1, law.Allowed + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("verdict %d has a label", v)
				}
			}()
			v.Label()
		}()
	}
}

func TestDecidingAllocatesNothing(t *testing.T) {
	grants := []law.Grant{{}, {}, {}, {}, {}, read}
	var left int64
	if n := testing.AllocsPerRun(100, func() {
		left = law.Decide(grants, ask).Remaining + law.Debit(read, ask).Budget + law.Seed(3, law.Plus(1, int64(len(law.Allowed.Label()))))
	}); n != 0 || left != 4 {
		t.Errorf("%v allocations a decision, want none; %d left, want 4", n, left)
	}
}
