package law

// Decision is the law's whole answer over a list of grants.
type Decision struct {
	Verdict      Verdict
	Grant        int   // index of the deciding grant, -1 for DeniedEffectName
	BudgetBefore int64 // calls left in the deciding grant, 0 for DeniedEffectName
	Remaining    int64 // calls left afterwards; BudgetBefore unless allowed
}

// Judge decides one request against one grant: the first failing check in the
// order effect name, scope, liveness, budget (theorem "precedence").
func Judge(g Grant, r Request) Verdict {
	if g.Effect != r.Effect {
		return DeniedEffectName
	}
	if g.Scope != r.Scope {
		return DeniedScope
	}
	if r.Now < 0 || r.Now >= g.ExpiresAt {
		return DeniedExpired
	}
	if r.Cost < 0 || g.Budget < 0 || r.Cost > g.Budget {
		return DeniedBudget
	}
	return Allowed
}

// Decide answers a request over grants in mint order: the first allowing grant
// if there is one, otherwise the most progressed denial, ties to the earliest.
// A denial by effect name names no grant (theorems "fold-step", "fold-first",
// "fold-unique"; stopping at the first allowing grant is "fold-absorbs").
func Decide(grants []Grant, r Request) Decision {
	best := Decision{Verdict: DeniedEffectName, Grant: -1}
	for i := range grants {
		g := &grants[i]
		v := Judge(*g, r)
		if v == Allowed {
			return Decision{Verdict: Allowed, Grant: i, BudgetBefore: g.Budget, Remaining: g.Budget - r.Cost}
		}
		if v > best.Verdict {
			best = Decision{Verdict: v, Grant: i, BudgetBefore: g.Budget, Remaining: g.Budget}
		}
	}
	return best
}

// Debit returns the grant after the request: exactly cost less when the law
// allows it, unchanged when it does not (theorems "debit", "denial-keeps").
func Debit(g Grant, r Request) Grant {
	if Judge(g, r) == Allowed {
		g.Budget -= r.Cost
	}
	return g
}
