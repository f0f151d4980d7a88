// Package law measures the tools that hold the law: how many proofs a second each
// solver makes of the theorems in spec/z3, and how many inputs a second each of
// them evaluates the model on, beside the Go law itself. Everything that is
// measured is checked as it is in the tests: a proof that fails, or an answer that
// differs, ends the measurement.
package law

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"world/spec"
	"world/z3"
	"world/z3/prove"
)

var solvers = []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")}

func book(t testing.TB) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rate is how fast one solver proves in one encoding. Took is what its goals took,
// each in a solver that was just reset: the models are read anew for every one.
type rate struct {
	solver   string
	encoding spec.Encoding
	proofs   int
	took     time.Duration
	slowest  time.Duration
	theorem  string // the slowest
}

func (r rate) perSecond() float64 { return float64(r.proofs) / r.took.Seconds() }

// rates sums results up by solver and encoding, or names what is not proved.
func rates(results []prove.Result) ([]rate, error) {
	var out []rate
	for k, solver := range solvers {
		for _, encoding := range []spec.Encoding{spec.Int, spec.BV64} {
			r := rate{solver: solver.Name, encoding: encoding}
			for _, result := range results {
				if result.Encoding != encoding {
					continue
				}
				try := result.Tries[k]
				if !try.Proved() {
					return nil, fmt.Errorf("%s does not prove %s (%s): %+v", solver.Name, result.Theorem.ID, encoding, try)
				}
				r.proofs++
				r.took += try.Took
				if try.Took > r.slowest {
					r.slowest, r.theorem = try.Took, result.Theorem.ID
				}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func proofTable(all []rate) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "solver\tin\tproofs\tproofs/s\tms a proof\tslowest\t")
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\t%.1f\t%s, %d ms\t\n", r.solver, r.encoding, r.proofs, r.perSecond(),
			1000/r.perSecond(), r.theorem, r.slowest.Milliseconds())
	}
	w.Flush()
	return out.String()
}

// proofs tries theorems with both solvers, one question at a time.
func proofs(ctx context.Context, b *spec.Book, theorems []spec.Theorem) []prove.Result {
	return prove.All(ctx, b, theorems, prove.Options{Solvers: solvers, Limit: time.Minute, Jobs: 1})
}

// BenchmarkProofs proves every theorem in each of its encodings by both solvers,
// on one core. proofs/s counts all of it: twins, cores and starting, too.
func BenchmarkProofs(b *testing.B) {
	law := book(b)
	var last []rate
	made := 0
	for b.Loop() {
		results := proofs(b.Context(), law, law.Theorems)
		all, err := rates(results)
		if err != nil {
			b.Fatal(err)
		}
		last = all
		made += len(results) * len(solvers)
	}
	b.ReportMetric(float64(made)/b.Elapsed().Seconds(), "proofs/s")
	fmt.Print("\n", proofTable(last))
}

// A few theorems are enough to hold what the benchmark says of all.
func TestRates(t *testing.T) {
	law := book(t)
	few := slices.DeleteFunc(slices.Clone(law.Theorems), func(th spec.Theorem) bool {
		return !slices.Contains([]string{"precedence", "debit", "seed-composes"}, th.ID)
	})
	results := proofs(t.Context(), law, few)
	all, err := rates(results)
	if err != nil {
		t.Fatal(err)
	}
	// The last of the three is proved in integers only.
	for i, want := range []rate{
		{solver: "z3", encoding: spec.Int, proofs: 3}, {solver: "z3", encoding: spec.BV64, proofs: 2},
		{solver: "cvc5", encoding: spec.Int, proofs: 3}, {solver: "cvc5", encoding: spec.BV64, proofs: 2},
	} {
		got := all[i]
		if got.solver != want.solver || got.encoding != want.encoding || got.proofs != want.proofs {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got.slowest <= 0 || got.took < got.slowest || got.perSecond() <= 0 || !slices.ContainsFunc(few, func(th spec.Theorem) bool { return th.ID == got.theorem }) {
			t.Errorf("%+v", got)
		}
	}
	if lines := strings.Count(proofTable(all), "\n"); lines != 5 {
		t.Errorf("%d lines", lines)
	}
	results[0].Tries[1].Goal = z3.Sat
	if _, err := rates(results); err == nil || !strings.Contains(err.Error(), "cvc5 does not prove "+results[0].Theorem.ID) {
		t.Errorf("a refuted theorem counts as a proof: %v", err)
	}
}
