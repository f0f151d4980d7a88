package record_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store/record"
)

// TestWhatIsRecordedOfADecision checks every field against values that all differ.
func TestWhatIsRecordedOfADecision(t *testing.T) {
	q := record.EffectRequest{Effect: "E", Scope: "s", Cost: 2, Now: 5}
	d := law.Decision{Verdict: law.DeniedBudget, BudgetBefore: 7, Remaining: 6}
	if got, want := record.DeniedEffect(q, d, ref("a")), (record.EffectRecord{
		Effect: "E", Scope: "s", Cost: 2, BudgetBefore: 7, BudgetAfter: 7, Denial: "denied:budget", RequestRef: ref("a"),
	}); got != want {
		t.Errorf("denied: %+v", got)
	}
	ran := record.EffectRecord{Effect: "E", Scope: "s", Cost: 2, BudgetBefore: 7, BudgetAfter: 6, Allowed: true, RequestRef: ref("a"), ResultRef: ref("b")}
	if got := record.RunEffect(q, d, ref("a"), ref("b")); got != ran {
		t.Errorf("succeeded: %+v", got)
	}
	ran.ResultRef, ran.Failed = "", true
	if got := record.RunEffect(q, d, ref("a"), ""); got != ran {
		t.Errorf("failed: %+v", got)
	}
}

// TestRecordsAtTheirEdges checks that the least and the rarest lawful values are read.
func TestRecordsAtTheirEdges(t *testing.T) {
	free, early, brief, homely := succeeded, session, session, session
	free.Cost, free.BudgetAfter = 0, free.BudgetBefore
	early.CreatedAt = 0
	brief.ExpiresAt = brief.CreatedAt
	homely.Home = "host-1"
	ended := revoked
	ended.At = 0
	for name, err := range map[string]error{
		"a cost of 0":              free.Check(),
		"a session born at 0":      early.Check(),
		"a session of no length":   brief.Check(),
		"a session with a home":    homely.Check(),
		"a revocation at 0":        second(record.DecodeRevocation(ended.Bytes())),
		"a word at 0":              record.ReconciliationRecord{Intent: "i", Verdict: "abandoned"}.Check(),
		"a word that it succeeded": record.ReconciliationRecord{Intent: "i", Verdict: "succeeded", At: 1}.Check(),
		"a word that it failed":    record.ReconciliationRecord{Intent: "i", Verdict: "failed", At: 1}.Check(),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	homely.Home = "a b"
	if err := homely.Check(); !fault.Is(err, fault.Invalid) {
		t.Errorf("a home that is no name: %v", err)
	}
}

// TestRequestsOfAnyShape checks that long parts and numbers of several digits come back.
func TestRequestsOfAnyShape(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, q := range []record.EffectRequest{
		{Effect: law.Effect(long), Cost: 12, Payload: []byte{}}, {Scope: law.Scope(long), Now: 12, Payload: []byte{}}, {Cost: -1 << 63, Payload: []byte(long)},
	} {
		want := fmt.Sprintf("%d:%s%d:%s%d:%d:%s", len(q.Effect), q.Effect, len(q.Scope), q.Scope, q.Cost, q.Now, q.Payload)
		if got := string(q.Bytes()); got != want {
			t.Errorf("got %.80s, want %.80s", got, want)
		}
		if back, err := record.DecodeRequest(q.Bytes()); err != nil || !reflect.DeepEqual(back, q) {
			t.Errorf("%.80s reads as %+v, %v", want, back, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestRecordsHaveTheirLimits checks the largest bytes that are looked at, and one more.
func TestRecordsHaveTheirLimits(t *testing.T) {
	for name, test := range map[string]struct {
		raw    []byte
		limit  int
		decode func([]byte) error
	}{
		"effect":         {succeeded.Bytes(), 64 << 10, func(b []byte) error { return second(record.DecodeEffect(b)) }},
		"session":        {session.Bytes(), 1 << 20, func(b []byte) error { return second(record.DecodeSession(b)) }},
		"revocation":     {revoked.Bytes(), 64 << 10, func(b []byte) error { return second(record.DecodeRevocation(b)) }},
		"reconciliation": {word.Bytes(), 64 << 10, func(b []byte) error { return second(record.DecodeReconciliation(b)) }},
	} {
		padded := string(test.raw) + strings.Repeat(" ", test.limit-len(test.raw))
		if err := test.decode([]byte(padded)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s of %d bytes: %v", name, len(padded), err)
		}
		if err := test.decode([]byte(padded + " ")); !fault.Is(err, fault.Limit) {
			t.Errorf("%s of one byte more: %v", name, err)
		}
	}
}

// TestRefusalsNameTheirReason checks all that the errors of records tell.
func TestRefusalsNameTheirReason(t *testing.T) {
	effect := func(of record.EffectRecord, edit func(*record.EffectRecord)) error { edit(&of); return of.Check() }
	minted := func(edit func(*record.SessionRecord)) error { s := session; edit(&s); return s.Check() }
	request := func(raw string) error { // with nothing behind the bytes that could be read by mistake
		return second(record.DecodeRequest(slices.Clip([]byte(raw))))
	}
	grant := record.SessionGrant{Effect: "E", Scope: "s", Budget: 1}
	for _, test := range []struct {
		err  error
		want string
	}{
		{effect(denied, func(r *record.EffectRecord) { r.RequestRef = "" }), "record: effect: invalid: requestRef is not a ref"},
		{effect(denied, func(r *record.EffectRecord) { r.Failed = true }), "record: effect: invalid: a denied effect cannot have failed"},
		{effect(denied, func(r *record.EffectRecord) { r.Denial = "allowed" }), "record: effect: invalid: a denied effect carries a denial label"},
		{effect(denied, func(r *record.EffectRecord) { r.BudgetAfter-- }), "record: effect: invalid: a denied effect debits nothing"},
		{effect(denied, func(r *record.EffectRecord) { r.ResultRef = ref("b") }), "record: effect: invalid: a denied effect has no result"},
		{effect(succeeded, func(r *record.EffectRecord) { r.Denial = "denied:" }), "record: effect: invalid: an allowed effect carries no denial label"},
		{effect(succeeded, func(r *record.EffectRecord) { r.BudgetAfter-- }), "record: effect: invalid: an allowed effect debits exactly its cost"},
		{effect(succeeded, func(r *record.EffectRecord) { r.Failed = true }), "record: effect: invalid: an allowed effect has a result exactly when it did not fail"},
		{effect(succeeded, func(r *record.EffectRecord) { r.ResultRef = "b" }), "record: effect: invalid: resultRef is not a ref"},
		{minted(func(s *record.SessionRecord) { s.Grants = nil }), "record: session: invalid: a session has grants and a life from createdAt to expiresAt"},
		{minted(func(s *record.SessionRecord) { s.Grants = []record.SessionGrant{{Effect: "E"}} }), "record: session: invalid: a grant is EFFECT=SCOPE:BUDGET with a budget of 0 or more"},
		{minted(func(s *record.SessionRecord) { s.Grants = []record.SessionGrant{grant, grant} }), "record: session: invalid: two grants of E=s"},
		{second(record.DecodeRevocation(record.RevocationRecord{Session: ref("a"), At: -1}.Bytes())), "record: revocation: invalid: time out of range"},
		{second(record.DecodeRevocation(append(record.RevocationRecord{Session: ref("a"), At: -1}.Bytes(), ' '))), "canon: decode: invalid: not in its exact byte form"},
		{record.ReconciliationRecord{Verdict: "failed"}.Check(), "record: reconciliation: invalid: intent or time out of range"},
		{record.ReconciliationRecord{Intent: "failed"}.Check(), "record: reconciliation: invalid: a verdict is succeeded, failed or abandoned"},
		{request("x:0:0:0:"), "record: request: invalid: not an effect request"},
		{request("0:x:0:0:"), "record: request: invalid: not an effect request"},
		{request("-1:5:"), "record: request: invalid: not an effect request"},
		{request("0:-1:5:"), "record: request: invalid: not an effect request"},
		{request("2:a"), "record: request: invalid: not an effect request"},
		{request("0:0:x:0:"), "record: request: invalid: not an effect request"},
		{request("0:0:0:x:"), "record: request: invalid: not an effect request"},
		{request("0:0:0:0"), "record: request: invalid: not an effect request"},
		{request("0:0:+0:0:"), "record: request: invalid: not in its exact byte form"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}
