package mutate_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"world/drift/mutate"
	"world/spec"
)

const tinyModel = `(declare-datatypes ((Kind 0)) (((good) (bad))))
(declare-datatypes ((Pair 0)) (((pair (first Num) (second Num)))))
(define-fun grade ((p Pair) (n Num)) Kind
  (ite (and (le zero n) (not (lt (first p) n))) good bad))
(define-fun level ((k Kind)) Int (ite (= k good) 3 0))
`

// tinyBook is a book of one model with the given theorems by name.
func tinyBook(t *testing.T, theorems map[string]string) *spec.Book {
	t.Helper()
	files := fstest.MapFS{"tiny.smt2": {Data: []byte(tinyModel)}}
	for _, name := range []string{"num-int.smt2", "num-bv64.smt2", "text-sort.smt2", "text-string.smt2"} {
		text, err := spec.Embedded().(interface {
			ReadFile(string) ([]byte, error)
		}).ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	for id, goal := range theorems {
		files["theorems/"+id+".smt2"] = &fstest.MapFile{Data: []byte("; theorem: " + id +
			"\n; claim: Tiny.\n; rests on: tiny\n; encodings: int bv64\n(declare-const p Pair)\n(declare-const n Num)\n(assert (! (not " + goal + ") :named goal))\n")}
	}
	book, err := spec.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

const gradeTheorem = "(= (= (grade p n) good) (and (le zero n) (le n (first p))))"

func TestSMTOperators(t *testing.T) {
	mutants, err := mutate.SMT(tinyBook(t, map[string]string{"grade": gradeTheorem}), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.String())
		if !strings.Contains(string(m.Text), "declare-datatypes") {
			t.Errorf("%s: the text is not the whole model", m)
		}
	}
	for _, want := range []string{
		"spec/z3/tiny.smt2:4: grade: and becomes or",
		"spec/z3/tiny.smt2:4: grade: le becomes lt",
		"spec/z3/tiny.smt2:4: grade: zero becomes one",
		"spec/z3/tiny.smt2:4: grade: not is dropped",
		"spec/z3/tiny.smt2:4: grade: first becomes second",
		"spec/z3/tiny.smt2:4: grade: good becomes bad",
		"spec/z3/tiny.smt2:4: grade: (le zero n) is dropped",
		"spec/z3/tiny.smt2:4: grade: the operands of lt change places",
		"spec/z3/tiny.smt2:4: grade: the branches of ite change places",
		"spec/z3/tiny.smt2:5: level: = becomes distinct",
		"spec/z3/tiny.smt2:5: level: 3 becomes 4",
		"spec/z3/tiny.smt2:5: level: 0 becomes 1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no mutant %s", want)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

// A model whose theorems say nothing of a definition has survivors there, and
// one that they pin down has none.
func TestSurvivorsAreReported(t *testing.T) {
	weak := tinyBook(t, map[string]string{"grade": gradeTheorem})
	strong := tinyBook(t, map[string]string{
		"grade": gradeTheorem,
		"level": "(and (= (level good) 3) (= (level bad) 0))",
	})
	for _, c := range []struct {
		name string
		book *spec.Book
		want []string
	}{{"weak", weak, []string{"level"}}, {"strong", strong, nil}} {
		results, err := mutate.TrySMT(t.Context(), c.book, "tiny", options())
		if err != nil {
			t.Fatal(err)
		}
		report := mutate.ReportSMT(results)
		var in []string
		for _, s := range report.Survivors {
			if !slices.Contains(in, s.Name) {
				in = append(in, s.Name)
			}
		}
		if !slices.Equal(in, c.want) {
			t.Errorf("%s: survivors in %v, want %v: %s", c.name, in, c.want, report)
		}
		if report.Breaking == 0 {
			t.Errorf("%s: no mutant breaks a theorem: %s", c.name, report)
		}
	}
}

// A change that makes no difference is told from one that nobody notices.
func TestEquivalentModelMutants(t *testing.T) {
	book := tinyBook(t, map[string]string{
		"grade": "(=> (le zero n) (= (= (grade p n) good) (le n (first p))))",
		"level": "(and (= (level good) 3) (= (level bad) 0))",
	})
	results, err := mutate.TrySMT(t.Context(), book, "tiny", options())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		switch r.What {
		case "(le zero n) is dropped": // makes a difference below zero, which no theorem speaks of
			if !r.Survived() {
				t.Errorf("%s: breaks %q, equivalent %t", r, r.Breaks, r.Equivalent)
			}
		case "good becomes bad":
			if r.Name == "grade" && r.Breaks == "" {
				t.Errorf("%s breaks nothing", r)
			}
		case "= becomes distinct":
			if r.Breaks != "level (int)" {
				t.Errorf("%s breaks %q", r, r.Breaks)
			}
		}
	}
}

func TestModelWithoutTheorems(t *testing.T) {
	book := tinyBook(t, map[string]string{"grade": gradeTheorem})
	if _, err := mutate.TrySMT(t.Context(), book, "num-int", options()); err == nil {
		t.Error("mutants of a file that no theorem rests on were tried")
	}
}
