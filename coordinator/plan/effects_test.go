package plan

import (
	"strings"
	"testing"

	"world/broker/law"
	"world/canon"
)

// TestSeveralEffects checks, below the law that lets one effect pass, how several
// are read: what a plan of a later version rests on.
func TestSeveralEffects(t *testing.T) {
	declared := []law.Triple{{Effect: "E", Scope: "s", Cost: 1}}
	read := func(ids ...string) ([]Effect, error) {
		var items []canon.Value
		for _, id := range ids {
			item, err := canon.Parse([]byte(`{"id":"`+id+`","effect":"E","scope":"s","cost":1,"payload":{"of":"`+id+`"}}`), canon.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, item)
		}
		return parseEffects(items, declared)
	}
	effects, err := read("a", "b", "c")
	if err != nil || len(effects) != 3 {
		t.Fatalf("%+v, %v", effects, err)
	}
	for i, id := range []string{"a", "b", "c"} {
		if e := effects[i]; e.ID != id || e.Triple != declared[0] || string(e.Payload) != `{"of":"`+id+`"}` {
			t.Errorf("effect %d: %+v", i, e)
		}
	}
	const repeated = `coordinator: plan: plan law: effect plan violates L2: effect id "a" is not unique`
	for _, ids := range [][]string{{"a", "a"}, {"b", "a", "a"}, {"a", "b", "a"}} {
		if effects, err := read(ids...); err == nil || err.Error() != repeated || effects != nil {
			t.Errorf("%v: %+v, %v", ids, effects, err)
		}
	}
	if _, err := read("a", "B"); err == nil || !strings.Contains(err.Error(), "L2: effects[1] id") {
		t.Errorf("the second is unlawful: %v", err)
	}
}

// TestOnlyEffectsHaveEffectTexts checks the invariant that verdicts about a whole
// plan or an output never explain an effect.
func TestOnlyEffectsHaveEffectTexts(t *testing.T) {
	for v, want := range map[Verdict]string{
		RepeatedID: "plan: verdict L2 is not about an effect", ResultMissing: "plan: verdict L7 is not about an effect",
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("verdict %d: %v", v, got)
				}
			}()
			t.Errorf("verdict %d has the text %q", v, effectText(v, Effect{}))
		}()
	}
}
