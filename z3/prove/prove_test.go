package prove_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"world/fault"
	"world/spec"
	"world/z3"
	"world/z3/prove"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var both = []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")}

// try proves one theorem of a small law: its body, over Num and (double x).
func try(t *testing.T, solvers []z3.Program, limit time.Duration, encodings, body string) []prove.Result {
	t.Helper()
	dir := fstest.MapFS{"model.smt2": {Data: []byte("(define-fun double ((x Num)) Num (add x x))\n")}}
	for _, name := range []string{"num-int", "num-bv64", "text-sort", "text-string"} {
		c, _ := load(t).File(name)
		dir[name+".smt2"] = &fstest.MapFile{Data: []byte(c.Text)}
	}
	header := "; theorem: tried\n; claim: It is tried.\n; rests on: model\n; encodings: " + encodings + "\n"
	if encodings == "int" {
		header += "; carried by: other\n"
		dir["theorems/other.smt2"] = &fstest.MapFile{Data: []byte(strings.NewReplacer("tried\n", "other\n", "encodings: int", "encodings: bv64", "; carried by: other\n", "").Replace(header) + body)}
	}
	dir["theorems/tried.smt2"] = &fstest.MapFile{Data: []byte(header + body)}
	b, err := spec.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	tried, _ := b.Theorem("tried")
	return prove.All(context.Background(), b, []spec.Theorem{tried}, prove.Options{Solvers: solvers, Limit: limit, Jobs: 2})
}

func load(t *testing.T) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const positive = `(declare-const x Num)
(assert (! (lt zero x) :named positive))
(assert (! (lt x sixteen) :named small))
`

func TestAProofIsAProof(t *testing.T) {
	results := try(t, both, time.Minute, "int bv64", positive+"(assert (! (not (and (lt x (double x)) (lt (double x) (double sixteen)))) :named goal))\n")
	if len(results) != 2 {
		t.Fatalf("%d results, want one an encoding", len(results))
	}
	for _, r := range results {
		if !r.Proved() || len(r.Tries) != 2 {
			t.Errorf("%s: %+v", r.Encoding, r.Tries)
		}
		for _, try := range r.Tries {
			if try.Took <= 0 || try.Twin != z3.Sat || try.Goal != z3.Unsat || !try.Tried() {
				t.Errorf("%+v", try)
			}
		}
	}
}

func TestARefutedGoalShowsItsInput(t *testing.T) {
	for _, r := range try(t, both, time.Minute, "int bv64", positive+"(assert (! (not (lt (double x) sixteen)) :named goal))\n") {
		for i, got := range r.Tries {
			if got.Proved() || got.Goal != z3.Sat || !got.Tried() || !strings.HasPrefix(got.Model, "(x ") {
				t.Errorf("%s, %s: %+v", r.Encoding, both[i].Name, got)
			}
		}
	}
}

// In mathematical integers twice a positive number is larger; in 64 bits it is
// not, and only there the theorem must fall.
func TestEncodingsAreTriedApart(t *testing.T) {
	results := try(t, both, time.Minute, "int bv64", "(declare-const x Num)\n(assert (! (lt zero x) :named positive))\n(assert (! (not (lt x (double x))) :named goal))\n")
	if results[0].Encoding != spec.Int || !results[0].Proved() {
		t.Errorf("integers: %+v", results[0].Tries)
	}
	if results[1].Encoding != spec.BV64 || results[1].Proved() {
		t.Errorf("64 bits: %+v", results[1].Tries)
	}
}

func TestHypothesesThatContradictProveNothing(t *testing.T) {
	body := "(declare-const x Num)\n(assert (! (lt zero x) :named positive))\n(assert (! (lt x zero) :named negative))\n(assert (! (not (= one zero)) :named goal))\n"
	for _, r := range try(t, both, time.Minute, "int bv64", body) {
		for _, got := range r.Tries {
			if got.Proved() || got.Twin != z3.Unsat || got.Goal != z3.Unsat {
				t.Errorf("%s: %+v", r.Encoding, got)
			}
		}
	}
}

func TestUnusedHypothesesAreNamed(t *testing.T) {
	body := positive + "(assert (! (not (lt zero (double x))) :named goal))\n"
	results := try(t, both, time.Minute, "int", body)
	if got := results[0].Tries[0]; got.Proved() || !slices.Equal(got.Unused, []string{"small"}) {
		t.Errorf("in integers: %+v", got)
	}
	// In 64 bits the bound is what keeps the double from wrapping.
	results = try(t, both, time.Minute, "int bv64", body)
	if !results[0].Proved() || !results[1].Proved() {
		t.Errorf("a hypothesis that one encoding needs is not unused: %+v %+v", results[0].Tries, results[1].Tries)
	}
}

func TestNoTimeIsNoProof(t *testing.T) {
	body := "(declare-const x Num)\n(declare-const y Num)\n(assert (! (not (= (bvmul x x x y) (bvmul x (bvmul (bvadd y one) x) x))) :named different))\n" +
		"(assert (! (lt one x) :named x-large))\n(assert (! (lt one y) :named y-large))\n" +
		"(assert (! (not (not (= (bvmul (bvmul x x) (bvadd x y)) (bvsub (bvmul y y y) #x123456789abcdef1)))) :named goal))\n"
	for _, r := range try(t, both, 500*time.Millisecond, "bv64", body) {
		for i, got := range r.Tries {
			if got.Goal == z3.Sat {
				t.Fatalf("%s found a counterexample; the test needs a harder goal", both[i].Name)
			}
			if got.Proved() || !fault.Is(got.Err, fault.Timeout) || !got.Tried() {
				t.Errorf("%s: %+v", both[i].Name, got)
			}
		}
	}
}

// unsure answers every check-sat with unknown.
func unsure(t *testing.T) z3.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "unsure")
	script := "#!/bin/sh\nwhile read line; do case $line in '(check-sat)') echo unknown;; '(echo '*) echo ${line#'(echo '} | tr -d ')';; esac; done\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return z3.CVC5(path)
}

func TestUnknownIsNoProof(t *testing.T) {
	solvers := []z3.Program{z3.Z3("z3"), unsure(t)}
	r := try(t, solvers, time.Minute, "bv64", positive+"(assert (! (not (lt zero (double x))) :named goal))\n")[0]
	if r.Proved() || r.Tries[1].Goal != z3.Unknown || !r.Tries[1].Tried() {
		t.Errorf("%+v", r.Tries)
	}
}

func TestAnAbsentSolverIsNoTry(t *testing.T) {
	solvers := []z3.Program{z3.Z3("z3"), z3.CVC5("no-such-cvc5")}
	for _, r := range try(t, solvers, time.Minute, "int bv64", positive+"(assert (! (not (lt zero (double x))) :named goal))\n") {
		if r.Proved() || r.Tries[1].Tried() || !fault.Is(r.Tries[1].Err, fault.Unavailable) || r.Tries[0].Goal != z3.Unsat {
			t.Errorf("%+v", r.Tries)
		}
	}
}

// All models can be told together, so that one process can evaluate every law.
func TestModelsLiveTogether(t *testing.T) {
	b := load(t)
	for _, p := range both {
		for _, enc := range []spec.Encoding{spec.Int, spec.BV64} {
			for _, text := range []spec.Text{spec.Sort, spec.String} {
				s, err := p.Start(context.Background(), time.Minute, "all models")
				if err != nil {
					t.Fatal(err)
				}
				order := []string{"decision", "seeding", "plan", "record", "receipt", "journal"}
				if len(order) != len(b.Models()) {
					t.Fatalf("models %v, told %v", b.Models(), order)
				}
				a, err := s.CheckSat(b.Script(enc, text, order...)...)
				if err != nil || a != z3.Sat {
					t.Errorf("%s, %s, %s: %s, %v", p.Name, enc, text, a, err)
				}
				s.Close()
			}
		}
	}
}

// Every model has theorems that fall when it is broken. One edit a model is
// tried here; the mutants of world-law try all.
func TestBrokenModelsAreMet(t *testing.T) {
	for _, edit := range []struct{ file, old, new, theorem string }{
		{"decision", "(lt (now r) (expires g))", "(le (now r) (expires g))", "precedence"},
		{"decision", "(le zero (now r)) ", "", "precedence"},
		{"decision", "(ite (not (= (g-scope g) (r-scope r))) denied-scope", "(ite (not (= (g-scope g) (r-scope r))) denied-expired", "precedence"},
		{"decision", "(< (rank (verdict d))", "(<= (rank (verdict d))", "fold-step"},
		{"seeding", "(sub b spent)", "b", "seed-exact"},
		{"plan", "(le (effects f) one)", "(lt (effects f) one)", "plan-size"},
		{"record", "(= (rec-after x) (rec-before x))", "true", "record-arms"},
		{"receipt", "(= c not-started)", "(not (= c corrupt))", "receipt-may-start"},
		{"journal", "(= (i-under e) (epoch s))", "true", "journal-fenced"},
		{"journal", "(open (select (life s) (f-id e)))", "true", "journal-tidy"},
	} {
		b := load(t)
		was, ok := b.File(edit.file)
		if !ok || strings.Count(was.Text, edit.old) != 1 {
			t.Fatalf("%s does not hold %q once", edit.file, edit.old)
		}
		th, ok := b.Theorem(edit.theorem)
		if !ok {
			t.Fatalf("no theorem %s", edit.theorem)
		}
		th.Encodings = []spec.Encoding{spec.Int}
		options := prove.Options{Solvers: both, Limit: time.Minute, Jobs: 2}
		for _, got := range prove.All(context.Background(), b, []spec.Theorem{th}, options)[0].Tries {
			if got.Goal != z3.Unsat {
				t.Errorf("%s as it is: %+v", edit.theorem, got)
			}
		}
		broken := b.With(edit.file, strings.Replace(was.Text, edit.old, edit.new, 1))
		r := prove.All(context.Background(), broken, []spec.Theorem{th}, options)[0]
		for i, got := range r.Tries {
			if got.Goal != z3.Sat {
				t.Errorf("%s for %s: %s does not refute %s: %s", edit.new, edit.old, both[i].Name, edit.theorem, fmt.Sprint(got))
			}
		}
	}
}
