package mutate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"world/drift/ssasmt"
	"world/fault"
)

// Extraction is the code of a package that reads text into the facts that laws
// judge. Nothing is proved of it: its tests and the seeds of its fuzzing must
// notice every change (D5).
type Extraction struct {
	Package string   // import path
	Files   []string // relative to the module root
}

// Extractions lists all such code.
var Extractions = []Extraction{{
	Package: "world/coordinator/plan",
	Files:   []string{"coordinator/plan/parse.go", "coordinator/plan/compose.go", "coordinator/plan/texts.go"},
}, {
	Package: "world/store/record",
	Files:   []string{"store/record/effect.go", "store/record/request.go", "store/record/session.go"},
}}

// TestResult is one mutant held to the tests of its package.
type TestResult struct {
	Mutant
	KilledBy   string // the first test that failed, "" if none did
	Equivalent string // the reason that the list gives, "" for none
}

// Survived reports whether no test notices the mutant and no reason is known.
func (r TestResult) Survived() bool { return r.KilledBy == "" && r.Equivalent == "" }

// TestReport sums up the mutants of extraction code.
type TestReport struct {
	Results    []TestResult
	Refused    int // do not compile
	Killed     int
	Equivalent int
	Survivors  []TestResult
}

// TryTests compiles the mutants with the package's own tests, as seen from
// directory dir, and runs the tests of each. A test that fails without any change, and a claim
// of equivalence that a test refutes, are errors. Of the options it takes Limit, of one run of the tests, Jobs and Sample.
func TryTests(ctx context.Context, dir string, x Extraction, list []Claim, o Options) (TestReport, error) {
	source, err := ssasmt.Load(dir, x.Package)
	if err != nil {
		return TestReport{}, err
	}
	mutants, refused, err := Reading(source, x.Files...)
	if err != nil {
		return TestReport{}, err
	}
	why, err := claims(list, source, mutants)
	if err != nil {
		return TestReport{}, err
	}
	bench, err := newTestBench(ctx, dir, x.Package, o.Limit)
	if err != nil {
		return TestReport{}, err
	}
	defer bench.close()
	results := make([]TestResult, len(mutants))
	for i, m := range mutants {
		results[i] = TestResult{Mutant: m, Equivalent: why[i]}
	}
	results = Sample(results, o.Sample)
	if err := bench.try(ctx, source, results, o.Jobs); err != nil {
		return TestReport{}, err
	}
	return sumUp(results, refused)
}

// try fills in what kills each mutant.
func (b *testBench) try(ctx context.Context, source *ssasmt.Source, results []TestResult, jobs int) error {
	mutants := make([]Mutant, len(results))
	for i, r := range results {
		mutants[i] = r.Mutant
	}
	files, inside, err := weave(source, mutants)
	if err != nil {
		return err
	}
	woven, err := b.build(ctx, "woven", files)
	if err != nil {
		return err
	}
	if err := b.passes(ctx, woven); err != nil {
		return err
	}
	errs := make([]error, len(results))
	slots := make(chan struct{}, max(1, jobs))
	var all sync.WaitGroup
	for i := range results {
		slots <- struct{}{}
		all.Go(func() {
			if inside[i] {
				results[i].KilledBy, errs[i] = b.run(ctx, woven, i+1)
			} else {
				results[i].KilledBy, errs[i] = b.killedBy(ctx, fmt.Sprint(i), mutants[i])
			}
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func sumUp(results []TestResult, refused int) (TestReport, error) {
	r := TestReport{Results: results, Refused: refused}
	for _, m := range results {
		switch {
		case m.KilledBy != "" && m.Equivalent != "":
			return r, fault.New("mutate: equivalents", fault.Failed, "%s: called equivalent, and killed by %s", m, m.KilledBy)
		case m.KilledBy != "":
			r.Killed++
		case m.Equivalent != "":
			r.Equivalent++
		default:
			r.Survivors = append(r.Survivors, m)
		}
	}
	return r, nil
}

// Score is the part of the mutants that make a difference which tests kill, in percent.
func (r TestReport) Score() float64 {
	if r.Killed == 0 {
		return 0
	}
	return 100 * float64(r.Killed) / float64(r.Killed+len(r.Survivors))
}

// String renders the report on one line.
func (r TestReport) String() string {
	return fmt.Sprintf("%d mutants of extraction: %d killed by the package's own tests, %d equivalent by the reviewed list (%d more do not compile); score %.1f %%; survivors: %d",
		len(r.Results), r.Killed, r.Equivalent, r.Refused, r.Score(), len(r.Survivors))
}
