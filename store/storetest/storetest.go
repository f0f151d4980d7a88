// Package storetest is the contract of package store as a suite that every
// engine passes unchanged.
//
// It promises that an engine which passes keeps each promise written on
// store.Store that one machine can show: errors and that they change nothing,
// idempotency, durability over reopening and kills, fencing, budgets under
// concurrency, one dense chain. It does not reach into an engine: what only
// damage can show belongs to the engine's own tests and to fsck.
package storetest

import (
	"testing"

	"world/store"
)

// Opener opens the store under test. Called again after Close, it opens the same
// store as another process would.
type Opener func(t testing.TB) store.Store

// Run runs the suite; fresh makes a new empty store for each test.
func Run(t *testing.T, fresh func(t *testing.T) Opener) {
	tests := []struct {
		name string
		run  func(t *testing.T, open Opener)
	}{
		{"EmptyStore", emptyStore},
		{"Objects", objects},
		{"Labels", labels},
		{"Limits", limits},
		{"Genesis", genesis},
		{"ActsChain", actsChain},
		{"ActNamesObjects", actNamesObjects},
		{"Sessions", sessions},
		{"Registry", registry},
		{"Endings", endings},
		{"EndsWithUnknown", endsWithUnknown},
		{"PureCall", pureCall},
		{"EffectfulCall", effectfulCall},
		{"IntendRefuses", intendRefuses},
		{"AuthorizedCall", authorizedCall},
		{"CommitRefuses", commitRefuses},
		{"CommitOntoAHead", commitOntoAHead},
		{"BudgetGuard", budgetGuard},
		{"Outcomes", outcomes},
		{"LeaseFences", leaseFences},
		{"Reopening", reopening},
		{"Reconciliation", reconciliation},
		{"LastTime", lastTime},
		{"Looks", looks},
		{"LooksTogether", looksTogether},
		{"Listings", listings},
		{"EndedContext", endedContext},
		{"Closed", closed},
		{"LastUnit", lastUnit},
		{"ManyCommitters", manyCommitters},
		{"OneOntoAHead", oneOntoAHead},
		{"OneLeaseAProcess", oneLeaseAProcess},
		{"Linearizable", linearizable},
		{"AuditSeesAll", auditSeesAll},
		{"AuditBounds", auditBounds},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, fresh(t)) })
	}
}
