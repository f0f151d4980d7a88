package decide

import (
	"testing"

	"world/broker/law"
	"world/drift"
)

// Cedar as a third oracle beside Go and the model, on the inputs of the drift
// test: boundary numbers, look-alike names, up to eight grants. It knows allow
// and deny only.
func TestCedarAgreesOnDriftInputs(t *testing.T) {
	allowed, denied := 0, 0
	for _, c := range drift.Cases(1, 10_000) {
		cedar, err := NewCedar(c.Grants)
		if err != nil {
			t.Fatal(err)
		}
		want := law.Decide(c.Grants, c.Request).Verdict == law.Allowed
		if got := cedar.Allows(Ask(c.Request)); got != want {
			t.Fatalf("cedar says %v, the law %v, on %+v", got, want, c)
		}
		if want {
			allowed++
		} else {
			denied++
		}
	}
	if allowed < 1000 || denied < 1000 {
		t.Fatalf("%d allowed, %d denied: the comparison is one-sided", allowed, denied)
	}
}
