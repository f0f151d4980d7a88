package decide

import (
	"slices"
	"strings"
	"testing"

	"world/broker/law"
)

// wrongLaw is a law that an engine could have by mistake.
type wrongLaw struct {
	name   string
	from   int // grants from which on it is another law
	allows func([]law.Grant, law.Request) bool
}

// anyOf is a law over grants that asks for one that fits.
func anyOf(fits func(law.Grant, law.Request) bool) func([]law.Grant, law.Request) bool {
	return func(grants []law.Grant, r law.Request) bool {
		return slices.ContainsFunc(grants, func(g law.Grant) bool { return fits(g, r) })
	}
}

func named(g law.Grant, r law.Request) bool  { return g.Effect == r.Effect && g.Scope == r.Scope }
func live(g law.Grant, r law.Request) bool   { return r.Now >= 0 && r.Now < g.ExpiresAt }
func within(g law.Grant, r law.Request) bool { return r.Cost >= 0 && r.Cost <= g.Budget }

var wrongLaws = []wrongLaw{
	{"any effect", 1, anyOf(func(g law.Grant, r law.Request) bool { return g.Scope == r.Scope && live(g, r) && within(g, r) })},
	{"any scope", 1, anyOf(func(g law.Grant, r law.Request) bool { return g.Effect == r.Effect && live(g, r) && within(g, r) })},
	{"effects without case", 6, anyOf(func(g law.Grant, r law.Request) bool {
		return strings.EqualFold(string(g.Effect), string(r.Effect)) && g.Scope == r.Scope && live(g, r) && within(g, r)
	})},
	{"live at the expiry", 1, anyOf(func(g law.Grant, r law.Request) bool {
		return named(g, r) && r.Now >= 0 && r.Now <= g.ExpiresAt && within(g, r)
	})},
	{"live before time", 1, anyOf(func(g law.Grant, r law.Request) bool {
		return named(g, r) && r.Now < g.ExpiresAt && within(g, r)
	})},
	{"the last call refused", 1, anyOf(func(g law.Grant, r law.Request) bool {
		return named(g, r) && live(g, r) && r.Cost >= 0 && r.Cost < g.Budget
	})},
	{"a negative cost", 1, anyOf(func(g law.Grant, r law.Request) bool {
		return named(g, r) && live(g, r) && g.Budget >= 0 && r.Cost <= g.Budget
	})},
	{"numbers as floats", 1, anyOf(func(g law.Grant, r law.Request) bool {
		return named(g, r) && r.Now >= 0 && float64(r.Now) < float64(g.ExpiresAt) && r.Cost >= 0 && float64(r.Cost) <= float64(g.Budget)
	})},
	{"the first grant only", 6, func(grants []law.Grant, r law.Request) bool {
		return law.Judge(grants[0], r) == law.Allowed
	}},
	{"the first of a name only", 6, func(grants []law.Grant, r law.Request) bool {
		i := slices.IndexFunc(grants, func(g law.Grant) bool { return named(g, r) })
		return i >= 0 && law.Judge(grants[i], r) == law.Allowed
	}},
	{"every grant of a name", 6, func(grants []law.Grant, r law.Request) bool {
		found := false
		for _, g := range grants {
			if named(g, r) {
				found = true
				if law.Judge(g, r) != law.Allowed {
					return false
				}
			}
		}
		return found
	}},
}

// differs fails for each engine whose answers the wrong law could have given.
func (w wrongLaw) differs(t *testing.T, all []asked) {
	t.Helper()
	for k, e := range Engines {
		differences := 0
		for _, q := range all {
			if w.allows(q.grants, q.request) != q.answers[k] {
				differences++
			}
		}
		if differences == 0 {
			t.Errorf("%d questions do not tell %s from a law of %s", len(all), e.Name, w.name)
		}
	}
}

// The parts that the wrong laws are made of make the right one.
func TestTheRightLawIsNotWrong(t *testing.T) {
	right := anyOf(func(g law.Grant, r law.Request) bool { return named(g, r) && live(g, r) && within(g, r) })
	for _, b := range []bool{true, false} {
		grants, allowed, denied := session(6)
		r := denied
		if b {
			r = allowed
		}
		if right(grants, r) != b {
			t.Errorf("%+v: %v", r, !b)
		}
	}
}
