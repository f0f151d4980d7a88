package relate

import (
	"context"
	"fmt"
	"strings"

	"world/broker/law"
	"world/drift"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// Witness is a list of grants and a request, with what both laws answer.
type Witness struct {
	drift.Case
	Base, Law Answer
}

// Answer is what a law makes of a witness.
type Answer struct {
	Decision law.Decision
	Judged   []law.Verdict // of each grant by itself
	Debit    []law.Grant   // each grant after the request by itself
}

// maxGrants is how long a list of a witness may be.
const maxGrants = 3

// taste is what is tried first, so that a witness is good to read.
type taste int

const (
	smallAndReadable taste = iota
	readableOnly
	anything
)

const (
	readable = `(or (= %[1]s "Workspace.Read") (= %[1]s "Workspace.Write"))`
	places   = `(or (= %[1]s "docs") (= %[1]s "docs/a") (= %[1]s "src"))`
	small    = `(and (le zero %[1]s) (le %[1]s sixteen))`
)

// witness looks for the shortest list of grants that shows what a way says, first
// among readable ones, and runs both laws on it; nil if it finds none.
func (j *joint) witness(ctx context.Context, w way) (*Witness, error) {
	for n := range maxGrants + 1 {
		for _, taste := range []taste{smallAndReadable, readableOnly, anything} {
			text, terms := lists(n, taste)
			shows := w.lists
			if n == 1 {
				shows = "(or " + shows + " (let ((g g0)) " + w.local + "))"
			}
			values, err := j.example(ctx, "witness", text+"(assert "+shows+")\n", terms...)
			if err != nil {
				return nil, err
			}
			if values == nil {
				continue
			}
			c, ok := readCase(values)
			if !ok {
				return nil, fault.New("diff", fault.Failed, "the witness %v is not understood", values)
			}
			return j.confirm(ctx, c, w)
		}
	}
	return nil, nil
}

// lists declares a list of n grants, a request and both decisions da and db.
func lists(n int, taste taste) (text string, terms []string) {
	var out strings.Builder
	like := func(pattern string, terms ...string) {
		for _, t := range terms {
			if taste == smallAndReadable || taste == readableOnly && pattern != small {
				fmt.Fprintf(&out, "(assert "+pattern+")\n", t)
			}
		}
	}
	da, db := "a.nobody", "b.nobody"
	out.WriteString("(declare-const r Request)\n")
	like(readable, "(r-effect r)")
	like(places, "(r-scope r)")
	like(small, "(cost r)", "(now r)")
	for i := range n {
		g := fmt.Sprintf("g%d", i)
		fmt.Fprintf(&out, "(declare-const %s Grant)\n", g)
		like(readable, "(g-effect "+g+")")
		like(places, "(g-scope "+g+")")
		like(small, "(budget "+g+")", "(expires "+g+")")
		da, db = fmt.Sprintf("(a.consider %s %s %s r)", da, drift.Num(int64(i)), g), fmt.Sprintf("(b.consider %s %s %s r)", db, drift.Num(int64(i)), g)
		terms = append(terms, g)
	}
	fmt.Fprintf(&out, "(define-fun da () Decision %s)\n(define-fun db () Decision %s)\n", da, db)
	return out.String(), append(terms, "r")
}

func readCase(values []smtlib.Node) (c drift.Case, ok bool) {
	last := len(values) - 1
	for _, v := range values[:last] {
		g, ok := drift.ReadGrant(v)
		if !ok {
			return c, false
		}
		c.Grants = append(c.Grants, g)
	}
	c.Request, ok = drift.ReadRequest(values[last])
	return c, ok
}

// confirm runs both laws on a witness with every solver.
func (j *joint) confirm(ctx context.Context, c drift.Case, w way) (*Witness, error) {
	out := &Witness{Case: c}
	for i, solver := range j.o.Solvers {
		var got [2]Answer
		for k, book := range []*spec.Book{j.a.Book, j.b.Book} {
			m, err := drift.Open(ctx, book, solver, j.o.Limit)
			if err != nil {
				return nil, err
			}
			got[k], err = answer(m, c)
			m.Close()
			if err != nil {
				return nil, err
			}
		}
		if i > 0 && (!got[0].equal(out.Base) || !got[1].equal(out.Law)) {
			return nil, fault.New("diff", fault.Failed, "the solvers do not answer the witness %s alike", out)
		}
		out.Base, out.Law = got[0], got[1]
	}
	if !w.shown(*out) {
		return nil, fault.New("diff", fault.Failed, "running both laws does not confirm the witness %s", out)
	}
	return out, nil
}

func answer(m *drift.Model, c drift.Case) (a Answer, err error) {
	decisions, err := m.Decide([]drift.Case{c})
	if err != nil {
		return a, err
	}
	a.Decision = decisions[0]
	var pairs []drift.Pair
	for _, g := range c.Grants {
		pairs = append(pairs, drift.Pair{Grant: g, Request: c.Request})
	}
	if a.Judged, err = m.Judge(pairs); err == nil {
		a.Debit, err = m.Debit(pairs)
	}
	return a, err
}

func (a Answer) equal(b Answer) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// GivesMore reports whether the witness shows that the law gives what the base
// does not, or leaves more.
func (w Witness) GivesMore() bool { return exceeds(w.Law, w.Base) }

// GivesLess reports whether the base gives what the law does not, or leaves more.
func (w Witness) GivesLess() bool { return exceeds(w.Base, w.Law) }

func exceeds(a, b Answer) bool {
	x, y := a.Decision, b.Decision
	if x.Verdict == law.Allowed && (y.Verdict != law.Allowed || x.Grant == y.Grant && y.Remaining < x.Remaining) {
		return true
	}
	for i := range a.Debit {
		if a.Judged[i] != law.Allowed || b.Judged[i] != law.Allowed {
			continue
		}
		if p, q := a.Debit[i], b.Debit[i]; p.Budget > q.Budget || p.ExpiresAt > q.ExpiresAt || p.Effect != q.Effect || p.Scope != q.Scope {
			return true
		}
	}
	return false
}

// String renders the grants and the request as the flags of decide.
func (w Witness) String() string {
	var out strings.Builder
	for _, g := range w.Grants {
		fmt.Fprintf(&out, "--grant '%s=%s:%d@%d' ", g.Effect, g.Scope, g.Budget, g.ExpiresAt)
	}
	r := w.Request
	fmt.Fprintf(&out, "--request '%s=%s:%d@%d'", r.Effect, r.Scope, r.Cost, r.Now)
	return out.String()
}
