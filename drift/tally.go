package drift

import (
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"world/broker/law"
)

// Tally counts what a run met: verdicts and boundaries by name. Every name that
// can be met is there from the start, so that one never met is seen.
type Tally map[string]int

// boundary is a corner of inputs that a run must meet.
type boundary[In any] struct {
	name string
	met  func(In) bool
}

func count[In any](t Tally, law string, boundaries []boundary[In], in In) {
	for _, b := range boundaries {
		if b.met(in) {
			t[law+": "+b.name]++
		}
	}
}

func expect[In any](t Tally, law string, boundaries []boundary[In]) {
	for _, b := range boundaries {
		t[law+": "+b.name] += 0
	}
}

func expectVerdicts(t Tally, law string) {
	for v := range verdicts {
		t[verdictName(law, v)] += 0
	}
}

func verdictName(of string, v int) string { return of + ": " + law.Verdict(v).Label() }

// Missed returns the names that were never met.
func (t Tally) Missed() []string {
	var out []string
	for name, n := range t {
		if n == 0 {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// Print writes one line a name.
func (t Tally) Print(out io.Writer) {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(out, "%9d  %s\n", t[name], name)
	}
}

func (t Tally) add(more Tally) {
	for name, n := range more {
		t[name] += n
	}
}

// String is Print on one line, for logs.
func (t Tally) String() string {
	var out strings.Builder
	t.Print(&out)
	return out.String()
}

// Boundaries of one grant and one request. Those of budget count only where the
// checks before it pass.
var pairBoundaries = []boundary[Pair]{
	{"now = -1, before the expiry", func(p Pair) bool { return named(p) && p.Request.Now == -1 && p.Grant.ExpiresAt > -1 }},
	{"now = 0, before the expiry", func(p Pair) bool { return named(p) && p.Request.Now == 0 && p.Grant.ExpiresAt > 0 }},
	{"now = min int64", func(p Pair) bool { return named(p) && p.Request.Now == math.MinInt64 }},
	{"now = expires - 1", func(p Pair) bool { return live(p) && p.Request.Now == p.Grant.ExpiresAt-1 }},
	{"now = expires", func(p Pair) bool { return named(p) && p.Request.Now >= 0 && p.Request.Now == p.Grant.ExpiresAt }},
	{"expires = max int64", func(p Pair) bool { return live(p) && p.Grant.ExpiresAt == math.MaxInt64 }},
	{"expires = min int64", func(p Pair) bool { return named(p) && p.Grant.ExpiresAt == math.MinInt64 }},
	{"cost = budget, not zero", func(p Pair) bool { return live(p) && p.Request.Cost > 0 && p.Request.Cost == p.Grant.Budget }},
	{"cost = budget + 1", func(p Pair) bool { return live(p) && p.Grant.Budget >= 0 && p.Request.Cost-1 == p.Grant.Budget }},
	{"cost = budget = 0", func(p Pair) bool { return live(p) && p.Request.Cost == 0 && p.Grant.Budget == 0 }},
	{"cost = budget = max int64", func(p Pair) bool {
		return live(p) && p.Request.Cost == math.MaxInt64 && p.Grant.Budget == math.MaxInt64
	}},
	{"cost = -1, a budget", func(p Pair) bool { return live(p) && p.Request.Cost == -1 && p.Grant.Budget >= 0 }},
	{"cost = min int64, a budget", func(p Pair) bool { return live(p) && p.Request.Cost == math.MinInt64 && p.Grant.Budget >= 0 }},
	{"budget = -1, cost = -1", func(p Pair) bool { return live(p) && p.Request.Cost == -1 && p.Grant.Budget == -1 }},
	{"budget = -1, cost = 0", func(p Pair) bool { return live(p) && p.Request.Cost == 0 && p.Grant.Budget == -1 }},
	{"names differ in case only", func(p Pair) bool {
		return p.Grant.Effect != p.Request.Effect && strings.EqualFold(string(p.Grant.Effect), string(p.Request.Effect))
	}},
	{"scopes differ in normalisation only", func(p Pair) bool {
		return p.Grant.Effect == p.Request.Effect && p.Grant.Scope == scopes[1] && p.Request.Scope == scopes[2]
	}},
}

// Boundaries of the fold.
var caseBoundaries = []boundary[Case]{
	{"no grants", func(c Case) bool { return len(c.Grants) == 0 }},
	{"eight grants", func(c Case) bool { return len(c.Grants) == 8 }},
	{"allowed, not by the first grant", func(c Case) bool { d := decide(c); return d.Verdict == law.Allowed && d.Grant > 0 }},
	{"allowed by two grants", func(c Case) bool { return reaching(c, law.Allowed) > 1 }},
	{"a denial tied", func(c Case) bool {
		d := decide(c)
		return d.Verdict < law.Allowed && d.Grant >= 0 && reaching(c, d.Verdict) > 1
	}},
	{"a denial named by the last grant", func(c Case) bool {
		d := decide(c)
		return d.Verdict < law.Allowed && len(c.Grants) > 1 && d.Grant == len(c.Grants)-1
	}},
	{"a less progressed grant after the named one", func(c Case) bool {
		d := decide(c)
		return d.Grant >= 0 && d.Grant+1 < len(c.Grants) && law.Judge(c.Grants[d.Grant+1], c.Request) < d.Verdict
	}},
	{"the same grant twice", func(c Case) bool { return len(c.Grants) > 1 && c.Grants[0] == c.Grants[1] }},
}

// Boundaries of seeding: A is the budget, B the spend.
var seedBoundaries = []boundary[Two]{
	{"spent = budget", func(t Two) bool { return t.A > 0 && t.B == t.A }},
	{"spent = budget - 1", func(t Two) bool { return t.A > 1 && t.B == t.A-1 }},
	{"spent = budget + 1", func(t Two) bool { return t.A > 0 && t.B-1 == t.A }},
	{"nothing spent", func(t Two) bool { return t.A > 0 && t.B == 0 }},
	{"spent = -1", func(t Two) bool { return t.A > 0 && t.B == -1 }},
	{"spent = min int64", func(t Two) bool { return t.A > 0 && t.B == math.MinInt64 }},
	{"budget = 0", func(t Two) bool { return t.A == 0 && t.B < 0 }},
	{"budget = -1", func(t Two) bool { return t.A == -1 }},
	{"budget = min int64", func(t Two) bool { return t.A == math.MinInt64 && t.B > 0 }},
}

// Boundaries of sums of spend.
var plusBoundaries = []boundary[Two]{
	{"sum = max int64", func(t Two) bool { return t.A > 0 && t.B > 0 && t.A == math.MaxInt64-t.B }},
	{"sum = max int64 - 1", func(t Two) bool { return t.A > 0 && t.B > 0 && t.A == math.MaxInt64-1-t.B }},
	{"sum = max int64 + 1", func(t Two) bool { return t.A > 1 && t.B > 1 && t.A-1 == math.MaxInt64-t.B }},
	{"both max int64", func(t Two) bool { return t.A == math.MaxInt64 && t.B == math.MaxInt64 }},
	{"first amount negative", func(t Two) bool { return t.A < 0 && t.B > 0 }},
	{"second amount negative", func(t Two) bool { return t.A > 0 && t.B < 0 }},
	{"both min int64", func(t Two) bool { return t.A == math.MinInt64 && t.B == math.MinInt64 }},
	{"both zero", func(t Two) bool { return t.A == 0 && t.B == 0 }},
}

func named(p Pair) bool {
	return p.Grant.Effect == p.Request.Effect && p.Grant.Scope == p.Request.Scope
}

func live(p Pair) bool {
	return named(p) && 0 <= p.Request.Now && p.Request.Now < p.Grant.ExpiresAt
}

func decide(c Case) law.Decision { return law.Decide(c.Grants, c.Request) }

// reaching counts the grants that get exactly this verdict.
func reaching(c Case, v law.Verdict) int {
	n := 0
	for _, g := range c.Grants {
		if law.Judge(g, c.Request) == v {
			n++
		}
	}
	return n
}
