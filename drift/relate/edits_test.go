package relate_test

import (
	"strings"

	"world/drift/relate"
)

// edit is a small change of the base law and how the changed law must stand to it.
type edit struct {
	name, old, new string
	want           relate.Relation
}

const (
	checks   = "(and (le zero (cost r)) (le zero (budget g)) (le (cost r) (budget g)))"
	live     = "(and (le zero (now r)) (lt (now r) (expires g)))"
	scope    = "(not (= (g-scope g) (r-scope r)))"
	remains  = "(ite (= (judge g r) allowed) (sub (budget g) (cost r)) (budget g)))"
	replaces = "(ite (< (rank (verdict d)) (rank (verdict c))) c d)"
)

var edits = []edit{
	{"nothing changed", "", "", relate.Equivalent},
	{"an equation turned round", "(= (g-effect g) (r-effect r))", "(= (r-effect r) (g-effect g))", relate.Equivalent},
	{"a check that follows from the others", "(le zero (budget g)) ", "", relate.Equivalent},
	{"checks in another order", checks, "(and (le (cost r) (budget g)) (le zero (cost r)) (le zero (budget g)))", relate.Equivalent},
	{"less or equal as not greater", "(le zero (now r))", "(not (lt (now r) zero))", relate.Equivalent},
	{"a difference as a sum", "(sub (budget g) (cost r))", "(add (budget g) (sub zero (cost r)))", relate.Equivalent},
	{"another number for the last rank", "       4)))))", "       9)))))", relate.Equivalent},
	{"a denial by another name", `"denied:expired"`, `"denied:late"`, relate.Equivalent},
	{"scope before effect", "(ite (not (= (g-effect g) (r-effect r))) denied-effect-name\n  (ite (not (= (g-scope g) (r-scope r))) denied-scope",
		"(ite (not (= (g-scope g) (r-scope r))) denied-scope\n  (ite (not (= (g-effect g) (r-effect r))) denied-effect-name", relate.Equivalent},
	{"the last of several grants pays", replaces, "(ite (<= (rank (verdict d)) (rank (verdict c))) c d)", relate.Equivalent},

	{"a cost below the budget", "(le (cost r) (budget g))", "(lt (cost r) (budget g))", relate.Narrower},
	{"nothing for nothing", "(le zero (cost r))", "(lt zero (cost r))", relate.Narrower},
	{"not at second zero", "(le zero (now r))", "(lt zero (now r))", relate.Narrower},
	{"sixteen at most", "(le zero (cost r))", "(le zero (cost r)) (le (cost r) sixteen)", relate.Narrower},
	{"one more than the cost is paid", "(sub (budget g) (cost r))", "(sub (sub (budget g) (cost r)) one)", relate.Narrower},

	{"live at the expiry", "(lt (now r) (expires g))", "(le (now r) (expires g))", relate.Wider},
	{"live before time", "(le zero (now r)) ", "", relate.Wider},
	{"any scope", scope, "false", relate.Wider},
	{"a cost of any size", " (le (cost r) (budget g))", "", relate.Wider},
	{"nothing is paid", remains, "(budget g))", relate.Wider},

	{"every scope but its own", scope, "(= (g-scope g) (r-scope r))", relate.Incomparable},
	{"life a second later", live, "(and (lt zero (now r)) (le (now r) (expires g)))", relate.Incomparable},
	{"one unit on credit, and no other cost", checks, "(= (cost r) one)", relate.Incomparable},
	{"budget within the cost", "(le (cost r) (budget g))", "(le (budget g) (cost r))", relate.Incomparable},
	{"at the expiry, below the budget", live + ") denied-expired\n  (ite (not " + checks,
		"(and (le zero (now r)) (le (now r) (expires g)))) denied-expired\n  (ite (not (and (le zero (cost r)) (le zero (budget g)) (lt (cost r) (budget g)))", relate.Incomparable},
}

// apply changes a law in one place.
func (e edit) apply(text string) (string, bool) {
	return strings.Replace(text, e.old, e.new, 1), e.old == "" || strings.Count(text, e.old) == 1
}
