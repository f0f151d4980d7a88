package validate

import (
	"strings"
	"testing"

	"world/fault"
	"world/spec"
)

const manyDefinitions = `; what all share
(declare-datatypes ((Pair 0)) (((pair (first Int) (second Int)))))
(declare-fun size (Pair) Int)
(define-fun zero () Int 0)
(define-fun sum ((p Pair)) Int
  ; over two lines
  (+ (first p) (second p)))
(assert (forall ((p Pair)) (<= zero (size p))))
(define-fun one () Int 1) (define-fun two () Int 2)
(define-fun three () Int (+ one
  two)) (declare-const x Int)
(define-fun twice ((p Pair)) Int (* two (sum p)))
`

// What a question does not come to is left out, and everything else is where it was.
func TestNeededLeavesOutWhatNothingAsksFor(t *testing.T) {
	pieces, err := cut(spec.Chunk{File: "many.smt2", Text: manyDefinitions})
	if err != nil {
		t.Fatal(err)
	}
	// Those that an assertion or a declaration stands beside, or that it asks for, stay.
	always := []string{"Pair", "size", "zero", "assert", "one", "two", "three", "declare-const x"}
	for _, c := range []struct {
		asked  string
		beside []string
	}{
		{"(assert (= x 3))", nil},
		{"(assert (= x (sum p)))", []string{"sum"}},
		{"(assert (= x (twice p)))", []string{"sum", "twice"}},
		{"; twice\n(assert (= \"twice\" |sum|))", nil},
	} {
		chunks, err := needed([]text{pieces}, c.asked)
		if err != nil || len(chunks) != 1 || chunks[0].File != "many.smt2" {
			t.Fatalf("%s: %v, %v", c.asked, chunks, err)
		}
		want := map[string]bool{}
		for _, name := range append(c.beside, always...) {
			want[name] = true
		}
		got, whole := strings.Split(chunks[0].Text, "\n"), strings.Split(manyDefinitions, "\n")
		if len(got) != len(whole) {
			t.Fatalf("%s: %d lines of %d", c.asked, len(got), len(whole))
		}
		for i := range got {
			if got[i] != "" && got[i] != whole[i] {
				t.Errorf("%s: line %d is %q", c.asked, i+1, got[i])
			}
		}
		for _, name := range []string{"Pair", "size", "zero", "assert", "one", "two", "three", "declare-const x", "sum", "twice"} {
			defined := "(define-fun " + name + " "
			if !strings.Contains(manyDefinitions, defined) {
				defined = name
			}
			if there := strings.Contains(chunks[0].Text, defined); there != want[name] {
				t.Errorf("%s: %s is there: %t", c.asked, name, there)
			}
		}
	}
}

func TestNeededRefusesWhatDoesNotClose(t *testing.T) {
	if _, err := cut(spec.Chunk{File: "open.smt2", Text: "(define-fun zero () Int 0"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a text: %v", err)
	}
	if _, err := needed(nil, "(assert (= x"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a question: %v", err)
	}
}
