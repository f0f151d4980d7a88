package mutate_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"world/drift/mutate"
	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
	"world/z3"
)

// sampled is how many mutants of each package and model a test run tries; the
// whole is for make mutants.
const sampled = 24

func options() mutate.Options {
	return mutate.Options{
		Z3: z3.Z3("z3"), CVC5: z3.CVC5("cvc5"), Limit: 20 * time.Second,
		Jobs: runtime.NumCPU(), Seed: 1, Inputs: 4000,
	}
}

func load(t *testing.T, subject validate.Subject) (*ssasmt.Source, *spec.Book) {
	t.Helper()
	source, err := ssasmt.Load(".", subject.Package)
	if err != nil {
		t.Fatal(err)
	}
	book, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return source, book
}

func TestGoMutantsAreCaughtTwice(t *testing.T) {
	for _, subject := range validate.Subjects {
		source, book := load(t, subject)
		o := options()
		o.Sample = sampled
		results, err := mutate.TryGo(t.Context(), subject, source, book, o)
		if err != nil {
			t.Fatal(err)
		}
		report := mutate.ReportGo(results)
		t.Logf("%s: %s", subject.Package, report)
		for _, s := range report.Survivors {
			t.Errorf("%s survives: %d, killed at %d", s, s.Fate, s.KilledAt)
		}
		if report.Mutants != sampled || report.Refuted == 0 || report.Killed == 0 || report.Confirmed == 0 {
			t.Errorf("%s: the sample shows little: %s", subject.Package, report)
		}
		for _, r := range results {
			if r.Fate == mutate.Equivalent && r.KilledAt > 0 {
				t.Errorf("%s is proved equal to the model, and input %d says otherwise", r, r.KilledAt)
			}
		}
	}
}

func TestModelMutantsBreakTheorems(t *testing.T) {
	_, book := load(t, validate.Law)
	for _, model := range book.Models() {
		o := options()
		o.Sample = sampled / 3
		results, err := mutate.TrySMT(t.Context(), book, model, o)
		if err != nil {
			t.Fatal(err)
		}
		report := mutate.ReportSMT(results)
		t.Logf("%s: %s", model, report)
		for _, s := range report.Survivors {
			t.Errorf("%s survives", s)
		}
		if report.Breaking == 0 {
			t.Errorf("%s: no mutant breaks a theorem: %s", model, report)
		}
	}
}

// Without the questions that would tell, sampling has survivors, and says so.
func TestSamplingWithoutInputsHasSurvivors(t *testing.T) {
	source, book := load(t, validate.Law)
	o := options()
	o.Inputs, o.Sample = 1, 12
	results, err := mutate.TryGo(t.Context(), validate.Law, source, book, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(mutate.ReportGo(results).Survivors) == 0 {
		t.Error("one input kills every mutant")
	}
}

// A sample that the law itself does not survive shows nothing.
func TestTheLawSurvivesItsOwnSample(t *testing.T) {
	source, book := load(t, validate.Law)
	const file = "broker/law/seed.go"
	text := strings.Replace(string(source.Files[file]), "return budget - spent", "return budget", 1)
	_, err := mutate.TryGo(t.Context(), validate.Law, source.With(file, []byte(text)), book, options())
	if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "kills the law itself") {
		t.Errorf("a broken law was mutated: %v", err)
	}
}

func TestAMutantThatDoesNotEndIsKilled(t *testing.T) {
	source, book := load(t, validate.Plan)
	mutants, err := mutate.Go(source, validate.Plan.Files...)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(mutants, func(m mutate.Mutant) bool { return m.Name == "LawfulID" && m.What == "i++ is dropped" })
	if i < 0 {
		t.Fatal("no mutant stays where it is")
	}
	_, err = mutate.TryGo(t.Context(), validate.Plan, source.With(mutants[i].File, mutants[i].Text), book, options())
	if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "kills the law itself") {
		t.Errorf("%s: %v", mutants[i], err)
	}
}

func TestSolverTroubleIsAnError(t *testing.T) {
	source, book := load(t, validate.Law)
	o := options()
	o.Sample, o.CVC5 = 2, z3.CVC5("/nonexistent/cvc5")
	if _, err := mutate.TryGo(t.Context(), validate.Law, source, book, o); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Go without cvc5: %v", err)
	}
	if _, err := mutate.TrySMT(t.Context(), book, "decision", o); !fault.Is(err, fault.Unavailable) {
		t.Errorf("models without cvc5: %v", err)
	}
	o = options()
	o.Z3 = z3.Z3("/nonexistent/z3")
	if _, err := mutate.TryGo(t.Context(), validate.Law, source, book, o); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Go without z3: %v", err)
	}
}
