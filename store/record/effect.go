package record

import (
	"strings"

	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/store"
)

// EffectRecord is the decision and accounting of one effect: the ten fields of
// the page "Effects, capabilities and budgets", in its order. Exactly three arms
// are lawful: denied, succeeded and failed.
type EffectRecord struct {
	Effect       law.Effect `json:"effect"`
	Scope        law.Scope  `json:"scope"`
	Cost         int64      `json:"cost"`         // calls
	BudgetBefore int64      `json:"budgetBefore"` // calls left in the deciding grant
	BudgetAfter  int64      `json:"budgetAfter"`  // calls
	Allowed      bool       `json:"allowed"`
	Failed       bool       `json:"failed"`
	Denial       string     `json:"denial"` // label, "" when allowed
	RequestRef   store.Ref  `json:"requestRef"`
	ResultRef    store.Ref  `json:"resultRef"` // "" unless succeeded
}

// DeniedEffect records a denial: nothing is debited.
func DeniedEffect(q EffectRequest, d law.Decision, request store.Ref) EffectRecord {
	return EffectRecord{
		Effect: q.Effect, Scope: q.Scope, Cost: q.Cost,
		BudgetBefore: d.BudgetBefore, BudgetAfter: d.BudgetBefore,
		Denial: d.Verdict.Label(), RequestRef: request,
	}
}

// RunEffect records an allowed effect that ran: result is "" when it failed.
func RunEffect(q EffectRequest, d law.Decision, request, result store.Ref) EffectRecord {
	return EffectRecord{
		Effect: q.Effect, Scope: q.Scope, Cost: q.Cost,
		BudgetBefore: d.BudgetBefore, BudgetAfter: d.Remaining,
		Allowed: true, Failed: result == "", RequestRef: request, ResultRef: result,
	}
}

// Bytes is the record's byte form.
func (r EffectRecord) Bytes() []byte { return canon.Encode(r) }

// DecodeEffect reads an effect record and refuses unlawful arms.
func DecodeEffect(raw []byte) (EffectRecord, error) {
	r, err := canon.DecodeExact[EffectRecord](raw, canon.Limits{Bytes: 64 << 10})
	if err != nil {
		return r, err
	}
	return r, r.Check()
}

// Check reports whether the record is one of the three lawful arms.
func (r EffectRecord) Check() error {
	bad := func(what string) error {
		return fault.New("record: effect", fault.Invalid, "%s", what)
	}
	if _, err := store.ParseRef(string(r.RequestRef)); err != nil {
		return bad("requestRef is not a ref")
	}
	if !r.Allowed {
		switch {
		case r.Failed:
			return bad("a denied effect cannot have failed")
		case !strings.HasPrefix(r.Denial, "denied:"):
			return bad("a denied effect carries a denial label")
		case r.BudgetAfter != r.BudgetBefore:
			return bad("a denied effect debits nothing")
		case r.ResultRef != "":
			return bad("a denied effect has no result")
		}
		return nil
	}
	switch {
	case r.Denial != "":
		return bad("an allowed effect carries no denial label")
	case r.Cost < 0 || r.Cost > r.BudgetBefore || r.BudgetAfter != r.BudgetBefore-r.Cost:
		return bad("an allowed effect debits exactly its cost")
	case r.Failed != (r.ResultRef == ""):
		return bad("an allowed effect has a result exactly when it did not fail")
	}
	if !r.Failed {
		if _, err := store.ParseRef(string(r.ResultRef)); err != nil {
			return bad("resultRef is not a ref")
		}
	}
	return nil
}
