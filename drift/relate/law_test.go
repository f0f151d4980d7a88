package relate_test

import (
	"strings"
	"testing"

	"world/drift/relate"
	"world/fault"
	"world/spec"
)

func TestReadNamesWhatIsWrong(t *testing.T) {
	b := book(t)
	base, _ := b.File("decision")
	change := func(old, new string) string {
		if strings.Count(base.Text, old) != 1 {
			t.Fatalf("the law does not hold %q once", old)
		}
		return strings.Replace(base.Text, old, new, 1)
	}
	for _, row := range []struct{ name, text, says string }{
		{"nothing wrong", base.Text, ""},
		{"nothing at all", "", "mine.smt2:1: the datatypes"},
		{"a list that is not closed", change("       allowed)))))", "       allowed))))"), "mine.smt2:15: a list that is not closed"},
		{"an assertion", base.Text + "(assert false)\n", "mine.smt2:57: a law holds declare-datatypes and define-fun"},
		{"a free function", change("(define-fun rank ((v Verdict)) Int", "(declare-fun other (Verdict) Int)\n(define-fun rank ((v Verdict)) Int"), "mine.smt2:30: a law holds"},
		{"a command", base.Text + "(exit)\n", "mine.smt2:57: a law holds"},
		{"another field", change("(budget Num)", "(budget Num) (spent Num)"), "mine.smt2:5: a datatype that is not one of"},
		{"a datatype less", change("(declare-datatypes ((Triple 0))\n  (((triple (t-effect Text) (t-scope Text) (t-cost Num)))))\n", ""), "mine.smt2:1: the datatypes ((Triple 0)) of spec/z3/decision.smt2 are missing"},
		{"a missing judge", change("(define-fun judge (", "(define-fun judges ("), "mine.smt2:24: the law defines no judge"},
		{"a missing label", change("(define-fun label (", "(define-fun labels ("), "mine.smt2:1: the law defines no label"},
		{"another sort", change("(define-fun visible ((d Decision)) Bool", "(define-fun visible ((d Verdict)) Bool"), "mine.smt2:48: visible is from (Verdict) to Bool, and must be from (Decision) to Bool"},
	} {
		_, err := relate.Read(b, spec.Chunk{File: "mine.smt2", Text: row.text})
		switch {
		case row.says == "" && err != nil:
			t.Errorf("%s: %v", row.name, err)
		case row.says != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.says)):
			t.Errorf("%s: got %v, want %q", row.name, err, row.says)
		}
	}
}

// A law that keeps a decision of its own making is beyond the induction: it is
// undecided, not equivalent.
func TestWhatCannotBeDecidedIsNotAnswered(t *testing.T) {
	b := book(t)
	base, _ := b.File("decision")
	text := strings.Replace(base.Text, "(further d (single i g r)))", `(let ((e (further d (single i g r))))
    (ite (= (index e) (add (index d) one)) (decision (verdict e) (index e) (before e) (after e))
         (decision (verdict e) (index e) (add (before e) one) (after e)))))`, 1)
	_, err := relate.Diff(t.Context(), baseLaw(t), lawOf(t, text), options)
	if u, ok := err.(relate.Undecided); !ok || !strings.Contains(string(u), "mine.smt2: not proved") {
		t.Errorf("got %v", err)
	}
}
