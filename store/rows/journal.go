package rows

import (
	"fmt"

	"world/store"
)

// ClaimColumns are the columns of a claim.
const ClaimColumns = "invocation, episode, transition, transition_fn, input, session, at, digest"

// Claims reads claims, one after another.
func Claims() func(Scanner) (store.Claim, error) {
	return reading(ClaimWhere, store.Claim.Digest, func(c *store.Claim) []any {
		return []any{&c.Invocation, &c.Episode, &c.Transition, Ref(&c.TransitionFn), Ref(&c.Input), Ref(&c.Session), &c.At}
	})
}

// ScanClaim reads a claim.
func ScanClaim(row Scanner) (store.Claim, error) { return Claims()(row) }

// ClaimArgs are a claim's values.
func ClaimArgs(c store.Claim) []any {
	d := c.Digest()
	return []any{string(c.Invocation), string(c.Episode), string(c.Transition),
		Blob(c.TransitionFn), Blob(c.Input), Blob(c.Session), c.At, d[:]}
}

// ClaimWhere names a claim's row.
func ClaimWhere(c store.Claim) string { return fmt.Sprintf("claim %q", c.Invocation) }

// IntentColumns are the columns of an intent.
const IntentColumns = "episode, ordinal, invocation, effect, scope, cost, request, at, epoch, status, record, detail, outcome_at, reconciled, digest"

// Intents reads intents, one after another.
func Intents() func(Scanner) (store.Intent, error) {
	return reading(IntentWhere, store.Intent.Digest, func(i *store.Intent) []any {
		return []any{&i.Episode, &i.Ordinal, &i.Invocation, &i.Effect, &i.Scope, &i.Cost, Ref(&i.Request), &i.At, &i.Epoch,
			&i.Outcome.Status, Ref(&i.Outcome.Record), Ref(&i.Outcome.Detail), &i.Outcome.At, Ref(&i.Reconciled)}
	})
}

// ScanIntent reads an intent.
func ScanIntent(row Scanner) (store.Intent, error) { return Intents()(row) }

// IntentArgs are an intent's values.
func IntentArgs(i store.Intent) []any {
	d := i.Digest()
	return []any{string(i.Episode), i.Ordinal, string(i.Invocation), string(i.Effect), string(i.Scope), i.Cost,
		Blob(i.Request), i.At, i.Epoch, string(i.Outcome.Status), Blob(i.Outcome.Record), Blob(i.Outcome.Detail),
		i.Outcome.At, Blob(i.Reconciled), d[:]}
}

// LedgerWhere names the rows of an episode's totals.
func LedgerWhere(l store.Ledger) string { return "spend of " + string(l.Episode) }

// IntentWhere names an intent's row.
func IntentWhere(i store.Intent) string { return fmt.Sprintf("intent %q", i.Name()) }
