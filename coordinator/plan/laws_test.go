package plan_test

import (
	"regexp"
	"testing"

	"world/broker/law"
	"world/coordinator/plan"
)

// TestLawsByTable checks every combination of the facts that laws read against
// the laws as the reference words them.
func TestLawsByTable(t *testing.T) {
	bools := []bool{false, true}
	for effects := -1; effects <= 3; effects++ {
		for _, finish := range bools {
			for _, null := range bools {
				for _, object := range bools {
					for _, reserved := range bools {
						f := plan.Facts{Effects: effects, Finish: finish, ResultNull: null, ResultObject: object, ResultReserved: reserved}
						lawful := (null || object) && (effects == 0) == object && !(effects == 0 && finish) && !reserved
						if got := plan.JudgeResult(f); (got == plan.Lawful) != lawful {
							t.Errorf("%+v: verdict %d, lawful %v", f, got, lawful)
						}
					}
				}
			}
		}
		for _, reserved := range bools {
			f := plan.Facts{Effects: effects, Reserved: reserved}
			if got := plan.JudgeSize(f); (got == plan.Lawful) != (effects >= 0 && effects <= 1 && !reserved) {
				t.Errorf("%+v: verdict %d", f, got)
			}
		}
	}
	for _, object := range bools {
		for _, reserved := range bools {
			for _, effects := range bools {
				for _, finish := range bools {
					f := plan.OutputFacts{Object: object, Reserved: reserved, Effects: effects, Finish: finish}
					if got := plan.JudgeOutput(f); (got == plan.Lawful) != (object && !reserved && !(finish && effects)) {
						t.Errorf("%+v: verdict %d", f, got)
					}
				}
			}
		}
	}
}

// TestEffectLawPrecedence checks which law is named when several are broken.
func TestEffectLawPrecedence(t *testing.T) {
	good := plan.EffectFacts{ID: "e1", Declared: true, PayloadObject: true, PayloadBytes: plan.MaxPayload}
	for _, test := range []struct {
		edit func(*plan.EffectFacts)
		want plan.Verdict
	}{
		{func(e *plan.EffectFacts) {}, plan.Lawful},
		{func(e *plan.EffectFacts) { e.PayloadBytes++ }, plan.PayloadSize},
		{func(e *plan.EffectFacts) { e.PayloadBytes = -1 }, plan.PayloadSize},
		{func(e *plan.EffectFacts) { e.PayloadBytes++; e.Declared = false }, plan.Undeclared},
		{func(e *plan.EffectFacts) { e.Declared, e.PayloadObject = false, false }, plan.PayloadKind},
		{func(e *plan.EffectFacts) { *e = plan.EffectFacts{ID: "E"} }, plan.BadID},
	} {
		e := good
		test.edit(&e)
		if got := plan.JudgeEffect(e); got != test.want {
			t.Errorf("%+v: verdict %d, want %d", e, got, test.want)
		}
	}
}

// TestLawfulID compares the byte loop with the grammar's own words.
func TestLawfulID(t *testing.T) {
	grammar := regexp.MustCompile(`\A[a-z0-9]{1,16}\z`)
	for c := range 256 {
		for _, id := range []string{string([]byte{byte(c)}), "a" + string([]byte{byte(c)}), string([]byte{byte(c)}) + "abcdefghijklmno", "abcdefghijklmnop" + string([]byte{byte(c)})} {
			if got := plan.LawfulID(id); got != grammar.MatchString(id) {
				t.Errorf("%q: %v", id, got)
			}
		}
	}
	if plan.LawfulID("") {
		t.Error("the empty id is lawful")
	}
}

func TestOnce(t *testing.T) {
	effects := []plan.EffectFacts{{ID: "a"}, {ID: "b"}, {ID: "a"}}
	for id, want := range map[string]bool{"a": false, "b": true, "c": false, "": false} {
		if got := plan.Once(effects, id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestDeclared(t *testing.T) {
	for _, test := range []struct {
		t    law.Triple
		want bool
	}{
		{declared[0], true}, {declared[1], true},
		{law.Triple{Effect: declared[0].Effect, Scope: declared[1].Scope, Cost: 1}, false},
		{law.Triple{Effect: declared[0].Effect, Scope: declared[0].Scope, Cost: 0}, false},
		{law.Triple{}, false},
	} {
		if got := plan.Declared(declared, test.t); got != test.want {
			t.Errorf("%+v: %v", test.t, got)
		}
	}
	if plan.Declared(nil, law.Triple{}) {
		t.Error("the zero triple is declared by nobody")
	}
}

// TestLawNames checks that every broken law has its name and that L5 has none.
func TestLawNames(t *testing.T) {
	names := map[string]int{}
	for v := plan.Lawful + 1; v <= plan.EffectsInOutput; v++ {
		names[v.Law()]++
	}
	if len(names) != 6 || names["L5"] != 0 {
		t.Errorf("laws named: %v", names)
	}
}
