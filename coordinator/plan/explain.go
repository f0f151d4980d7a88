package plan

import (
	"fmt"
	"strings"

	"world/broker/law"
	"world/fault"
	"world/store/record"
)

// KindOf is the fault kind of an effect status that is not ok.
func KindOf(status string) fault.Kind {
	switch status {
	case record.StatusDenied:
		return fault.Denied
	case record.StatusFailed:
		return fault.Failed
	case record.StatusIndeterminate:
		return fault.Indeterminate
	}
	panic("plan: no fault kind for effect status " + status)
}

// Lasting begins a handler's text on an effect that it refused, and would refuse again
// until something changes that no call does. It is kept with the text, as evidence.
const Lasting = "refused: "

// Explain is what an agent is told of an effect that did not end ok: what
// happened, on which grant, and what would help. It is made from evidence alone,
// so that a stored call is told in the same words. detail is the handler's text.
func Explain(s record.SessionRecord, now int64, t law.Triple, o record.EffectOutcome, r record.EffectRecord, detail string) string {
	switch o.Status {
	case record.StatusOK:
		return ""
	case record.StatusDenied:
		return explainDenial(s, now, t, o.Grant, r)
	case record.StatusFailed:
		if refused, ok := strings.CutPrefix(detail, Lasting); ok {
			return Clip(fmt.Sprintf("%s was refused: %s. It is recorded and its cost of %d stays spent; the same call would be refused again",
				t.Effect, refused, t.Cost), maxText)
		}
		return Clip(fmt.Sprintf("%s failed: %s. It is recorded and its cost of %d stays spent; a call with a new id may try again",
			t.Effect, detail, t.Cost), maxText)
	case record.StatusIndeterminate:
		return Clip(fmt.Sprintf("it is not known whether %s happened (%s): %s. Its cost of %d stays spent and it is never retried for you. "+
			"Do not repeat it blindly: look first at what it acts on, or ask the operator to reconcile the intent",
			t.Effect, o.Intent, detail, t.Cost), maxText)
	}
	panic("plan: effect status outside its enumeration: " + o.Status)
}

func explainDenial(s record.SessionRecord, now int64, t law.Triple, grant int, r record.EffectRecord) string {
	wanted := fmt.Sprintf("%s=%s", clip(string(t.Effect)), clip(string(t.Scope)))
	if grant < 0 || grant >= len(s.Grants) {
		return fmt.Sprintf("%s: no grant of this session is for the effect %s; a session with a grant %s:N of at least %d would help",
			r.Denial, clip(string(t.Effect)), wanted, t.Cost)
	}
	g := s.Grants[grant]
	held := fmt.Sprintf("%s=%s:%d", clip(string(g.Effect)), clip(string(g.Scope)), g.Budget)
	switch r.Denial {
	case law.DeniedScope.Label():
		return fmt.Sprintf("%s: the grant %s is for another scope; a session with a grant %s:N would help", r.Denial, held, wanted)
	case law.DeniedExpired.Label():
		return fmt.Sprintf("%s: the grant %s ended at %d and the call was decided at %d (unix seconds); a new session for episode %s would help, and does not refill its budget",
			r.Denial, held, s.ExpiresAt, now, s.Episode)
	case law.DeniedBudget.Label():
		return fmt.Sprintf("%s: the grant %s has %d left in episode %s and the call costs %d; budgets last as long as the episode, so a larger grant or a new episode would help",
			r.Denial, held, r.BudgetBefore, s.Episode, t.Cost)
	}
	return r.Denial
}
