package law

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"world/broker/law"
	"world/drift"
	"world/fault"
	"world/spec"
	"world/z3"
)

// batch is how many inputs a solver is asked about at a time, as drift does.
const batch = 250

// decider answers whole decisions.
type decider func([]drift.Case) ([]law.Decision, error)

// alike asks a decider and compares its whole answers with Go's.
func alike(d decider, cases []drift.Case) error {
	answers, err := d(cases)
	if err != nil {
		return err
	}
	for i, c := range cases {
		if want := law.Decide(c.Grants, c.Request); answers[i] != want {
			return fmt.Errorf("%+v of %+v, want %+v", answers[i], c, want)
		}
	}
	return nil
}

// round samples about n inputs of all laws, as the drift test does, with one
// process of a solver, and returns how many there were.
func round(ctx context.Context, b *spec.Book, solver z3.Program, seed int64, n int) (int, error) {
	report, err := drift.Sample(ctx, b, drift.Run{Seed: seed, Inputs: n, Solvers: []z3.Program{solver}, Limit: time.Minute})
	total := 0
	for _, inputs := range report.Inputs {
		total += inputs
	}
	return total, err
}

// BenchmarkInputs measures whole decisions over 0 to 8 grants, by the Go law alone
// and by each solver that evaluates the model, compared with Go's; and the mixed
// inputs of all laws, drawn, evaluated and compared as by the drift test.
func BenchmarkInputs(b *testing.B) {
	whole, mixed := map[string]float64{}, map[string]float64{}
	cases := drift.Cases(1, 10_000)
	perSecond := func(b *testing.B, inputs int) float64 {
		rate := float64(inputs) / b.Elapsed().Seconds()
		b.ReportMetric(rate, "inputs/s")
		return rate
	}
	b.Run("go/decisions", func(b *testing.B) {
		allowed := 0
		for b.Loop() {
			for i := range cases {
				if law.Decide(cases[i].Grants, cases[i].Request).Verdict == law.Allowed {
					allowed++
				}
			}
		}
		if allowed == 0 {
			b.Fatal("nothing allowed")
		}
		whole["go"] = perSecond(b, b.N*len(cases))
	})
	for _, solver := range solvers {
		b.Run(solver.Name+"/decisions", func(b *testing.B) {
			m, err := drift.Open(b.Context(), book(b), solver, time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			at := 0
			for b.Loop() {
				if err := alike(m.Decide, cases[at:at+batch]); err != nil {
					b.Fatal(err)
				}
				at = (at + batch) % len(cases)
			}
			whole[solver.Name] = perSecond(b, b.N*batch)
		})
		b.Run(solver.Name+"/mixed", func(b *testing.B) {
			inputs := 0
			for seed := int64(1); b.Loop(); seed++ {
				n, err := round(b.Context(), book(b), solver, seed, 1)
				if err != nil {
					b.Fatal(err)
				}
				inputs += n
			}
			mixed[solver.Name] = perSecond(b, inputs)
		})
	}
	fmt.Print("\n", inputTable(whole, mixed))
}

// inputTable writes a line a solver. What was not measured is left open.
func inputTable(whole, mixed map[string]float64) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "inputs/s of\twhole decisions\tmixed laws\t")
	for _, who := range []string{"go", solvers[0].Name, solvers[1].Name} {
		cell := func(rates map[string]float64) string {
			if rates[who] == 0 {
				return "-"
			}
			return fmt.Sprintf("%.0f", rates[who])
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", who, cell(whole), cell(mixed))
	}
	w.Flush()
	return out.String()
}

// What is measured is compared: the solvers agree with Go, and a decider that is
// wrong about one input in a thousand is found.
func TestInputsAreCompared(t *testing.T) {
	cases := drift.Cases(1, 1000)
	for _, solver := range solvers {
		m, err := drift.Open(t.Context(), book(t), solver, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if err := alike(m.Decide, cases); err != nil {
			t.Errorf("%s: %v", solver.Name, err)
		}
		late := func(cases []drift.Case) ([]law.Decision, error) {
			out, err := m.Decide(cases)
			out[len(out)-1].Remaining++
			return out, err
		}
		if err := alike(late, cases); err == nil {
			t.Errorf("%s: a wrong answer is not seen", solver.Name)
		}
	}
}

func TestARoundIsOfAllLaws(t *testing.T) {
	n, err := round(t.Context(), book(t), solvers[0], 1, 1)
	if err != nil || n < 10_000 {
		t.Errorf("%d inputs, %v", n, err)
	}
	if _, err := round(t.Context(), book(t), z3.Z3("no-such-z3"), 1, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want a solver that is not installed", err)
	}
}

func TestInputTable(t *testing.T) {
	got := strings.Fields(inputTable(map[string]float64{"go": 9e6, "cvc5": 1700}, map[string]float64{"z3": 29000}))
	want := strings.Fields("inputs/s of whole decisions mixed laws go 9000000 - z3 - 29000 cvc5 1700 -")
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
