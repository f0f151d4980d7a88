package relate_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"world/broker/law"
	"world/drift/relate"
	"world/spec"
	"world/z3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var options = relate.Options{Solvers: []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")}, Limit: time.Minute}

func book(t *testing.T) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func baseLaw(t *testing.T) relate.Law {
	t.Helper()
	l, err := relate.Base(book(t))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func lawOf(t *testing.T, text string) relate.Law {
	t.Helper()
	l, err := relate.Read(book(t), spec.Chunk{File: "mine.smt2", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Small edits of the law, each related as a reader relates them, and every
// witness shown by running both laws.
func TestDiffOnSmallEdits(t *testing.T) {
	text, _ := book(t).File("decision")
	base := baseLaw(t)
	count := map[relate.Relation]int{}
	for _, e := range edits {
		count[e.want]++
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			changed, ok := e.apply(text.Text)
			if !ok {
				t.Fatalf("the law does not hold %q once", e.old)
			}
			d, err := relate.Diff(context.Background(), base, lawOf(t, changed), options)
			if err != nil {
				t.Fatal(err)
			}
			if d.Relation != e.want {
				t.Errorf("%s, want %s; more %v, less %v", d.Relation, e.want, d.More, d.Less)
			}
			if wantLess := e.want == relate.Narrower || e.want == relate.Incomparable; wantLess != (d.Less != nil) || d.Less != nil && !d.Less.GivesLess() {
				t.Errorf("less: %v", d.Less)
			}
			if wantMore := e.want == relate.Wider || e.want == relate.Incomparable; wantMore != (d.More != nil) || d.More != nil && !d.More.GivesMore() {
				t.Errorf("more: %v", d.More)
			}
			for _, w := range []*relate.Witness{d.Less, d.More, d.Told} {
				if w != nil && law.Decide(w.Grants, w.Request) != w.Base.Decision {
					t.Errorf("%s: the base answers %+v, Go %+v", w, w.Base.Decision, law.Decide(w.Grants, w.Request))
				}
			}
		})
	}
	for r, n := range map[relate.Relation]int{relate.Equivalent: 10, relate.Narrower: 5, relate.Wider: 5, relate.Incomparable: 5} {
		if count[r] != n {
			t.Errorf("%d edits are %s, want %d", count[r], r, n)
		}
	}
}
