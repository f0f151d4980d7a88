package relate_test

import (
	"math"
	"testing"

	"world/broker/law"
	"world/drift/relate"
	"world/fault"
)

var anyRequest = relate.Shape{Cost: all, Now: all}

var all = relate.Range{Low: math.MinInt64, High: math.MaxInt64}

func TestCompare(t *testing.T) {
	g := func(effect law.Effect, scope law.Scope, budget, expires int64) law.Grant {
		return law.Grant{Effect: effect, Scope: scope, ExpiresAt: expires, Budget: budget}
	}
	read := func(budget int64) law.Grant { return g("Read", "docs", budget, 100) }
	one := relate.Shape{Effect: "Read", Scope: "docs", Cost: relate.Range{Low: 1, High: 1}, Now: relate.Range{Low: 0, High: 99}}
	late := one
	late.Now = relate.Range{Low: 0, High: 100}
	for _, row := range []struct {
		name                   string
		a, b                   []law.Grant
		shape                  relate.Shape
		aImplies, bImplies, no bool
		often                  [2]relate.Often
	}{
		{"the same", []law.Grant{read(3)}, []law.Grant{read(3)}, anyRequest, true, true, false, [2]relate.Often{relate.Sometimes, relate.Sometimes}},
		{"in another order, one shadowed", []law.Grant{read(3), g("Write", "docs", 1, 9)}, []law.Grant{g("Write", "docs", 1, 9), read(3), read(2)}, anyRequest, true, true, false, [2]relate.Often{relate.Sometimes, relate.Sometimes}},
		{"a larger budget", []law.Grant{read(3)}, []law.Grant{read(4)}, anyRequest, true, false, false, [2]relate.Often{relate.Sometimes, relate.Sometimes}},
		{"a longer life, a smaller budget", []law.Grant{g("Read", "docs", 4, 100)}, []law.Grant{g("Read", "docs", 3, 200)}, anyRequest, false, false, false, [2]relate.Often{relate.Sometimes, relate.Sometimes}},
		{"another scope", []law.Grant{read(3)}, []law.Grant{g("Read", "src", 3, 100)}, anyRequest, false, false, true, [2]relate.Often{relate.Sometimes, relate.Sometimes}},
		{"nothing at all", nil, []law.Grant{read(0)}, anyRequest, true, false, true, [2]relate.Often{relate.Never, relate.Sometimes}},
		{"an unreachable budget", nil, []law.Grant{read(-1)}, anyRequest, true, true, true, [2]relate.Often{relate.Never, relate.Never}},
		{"one unit always", []law.Grant{read(3)}, []law.Grant{read(1)}, one, true, true, false, [2]relate.Often{relate.Always, relate.Always}},
		{"one unit, too late once", []law.Grant{read(3)}, []law.Grant{read(0)}, late, false, true, true, [2]relate.Often{relate.Sometimes, relate.Never}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, err := relate.Compare(t.Context(), baseLaw(t), row.a, row.b, row.shape, options)
			if err != nil {
				t.Fatal(err)
			}
			if c.AImpliesB() != row.aImplies || c.BImpliesA() != row.bImplies || c.Equivalent() != (row.aImplies && row.bImplies) || c.Disjoint() != row.no {
				t.Errorf("%+v", c)
			}
			if got := [2]relate.Often{c.A(), c.B()}; got != row.often {
				t.Errorf("allow %v, want %v", got, row.often)
			}
			for i, w := range []*law.Request{c.OnlyA, c.OnlyB, c.Both, c.Neither} {
				if w == nil {
					continue
				}
				inA, inB := law.Decide(row.a, *w).Verdict == law.Allowed, law.Decide(row.b, *w).Verdict == law.Allowed
				if want := [][2]bool{{true, false}, {false, true}, {true, true}, {false, false}}[i]; [2]bool{inA, inB} != want {
					t.Errorf("Go decides %+v as %v %v, want %v", *w, inA, inB, want)
				}
			}
		})
	}
}

func TestCompareRefusesAnEmptyShape(t *testing.T) {
	shape := anyRequest
	shape.Cost = relate.Range{Low: 2, High: 1}
	if _, err := relate.Compare(t.Context(), baseLaw(t), nil, nil, shape, options); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
}
