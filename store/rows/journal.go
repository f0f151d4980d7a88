package rows

import (
	"fmt"

	"world/store"
)

// ClaimColumns are the columns of a claim.
const ClaimColumns = "invocation, episode, transition, transition_fn, input, session, at, digest"

// ScanClaim reads a claim.
func ScanClaim(row Scanner) (c store.Claim, err error) {
	err = Whole(row, &c, ClaimWhere, store.Claim.Digest,
		&c.Invocation, &c.Episode, &c.Transition, Ref(&c.TransitionFn), Ref(&c.Input), Ref(&c.Session), &c.At)
	return c, err
}

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

// ScanIntent reads an intent.
func ScanIntent(row Scanner) (i store.Intent, err error) {
	err = Whole(row, &i, IntentWhere, store.Intent.Digest,
		&i.Episode, &i.Ordinal, &i.Invocation, &i.Effect, &i.Scope, &i.Cost, Ref(&i.Request), &i.At, &i.Epoch,
		&i.Outcome.Status, Ref(&i.Outcome.Record), Ref(&i.Outcome.Detail), &i.Outcome.At, Ref(&i.Reconciled))
	return i, err
}

// IntentArgs are an intent's values.
func IntentArgs(i store.Intent) []any {
	d := i.Digest()
	return []any{string(i.Episode), i.Ordinal, string(i.Invocation), string(i.Effect), string(i.Scope), i.Cost,
		Blob(i.Request), i.At, i.Epoch, string(i.Outcome.Status), Blob(i.Outcome.Record), Blob(i.Outcome.Detail),
		i.Outcome.At, Blob(i.Reconciled), d[:]}
}

// IntentWhere names an intent's row.
func IntentWhere(i store.Intent) string { return fmt.Sprintf("intent %q", i.Name()) }
