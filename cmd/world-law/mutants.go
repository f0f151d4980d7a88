package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"world/drift/mutate"
	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
)

// extraction names the code that reads text into facts, as an argument.
const extraction = "extraction"

// mutantsFlags are what the verb is asked.
type mutantsFlags struct {
	dir    string
	sample int
	inputs int
	seed   int64
	all    bool
}

func newMutants(s *setup) *cobra.Command {
	var f mutantsFlags
	verb := &cobra.Command{
		Use:   "mutants [MODEL|PACKAGE|extraction...]",
		Short: "Break the law in every small way and see each one caught",
		Long: `Makes every small change to the models and to the Go law. A changed model must
break a theorem; changed Go must be refuted by validation and, on its own, killed by
sampling; or both solvers must prove that the change makes no difference. Of the code
that reads text into facts nothing is proved: the tests of its package must kill every
change, or a reviewed list must say why none can.

Names are those below spec/z3, such as seeding, of packages, such as world/broker/law,
or extraction; without names it tries them all. Exit 1: there are survivors.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			return mutantsVerb(cmd.Context(), cmd.OutOrStdout(), s, f, names)
		},
	}
	flags := verb.Flags()
	flags.StringVar(&f.dir, "dir", ".", "a directory of the module that holds the Go law")
	flags.IntVar(&f.sample, "sample", 0, "try this many of each model's and package's mutants, spread evenly; 0 tries all")
	flags.IntVar(&f.inputs, "inputs", 20_000, "sampled inputs a package")
	flags.Int64Var(&f.seed, "seed", 1, "seed of the sampled inputs")
	flags.BoolVar(&f.all, "all", false, "print every mutant with what caught it")
	return verb
}

func mutantsVerb(ctx context.Context, out io.Writer, s *setup, f mutantsFlags, names []string) error {
	book, err := s.book()
	if err != nil {
		return err
	}
	o := mutate.Options{
		Z3: s.solvers()[0], CVC5: s.solvers()[1], Limit: s.limit, Jobs: s.jobs,
		Seed: f.seed, Inputs: f.inputs, Sample: f.sample,
	}
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	survivors, tried := 0, 0
	for _, model := range book.Models() {
		if wanted(model) {
			n, err := modelMutants(ctx, out, book, model, o, f.all)
			if err != nil {
				return err
			}
			survivors += n
			tried++
		}
	}
	for _, subject := range validate.Subjects {
		if wanted(subject.Package) {
			n, err := goMutants(ctx, out, book, subject, o, f)
			if err != nil {
				return err
			}
			survivors += n
			tried++
		}
	}
	if wanted(extraction) {
		claims, err := mutate.Claims()
		if err != nil {
			return err
		}
		for _, x := range mutate.Extractions {
			n, err := extractionMutants(ctx, out, x, claims, o, f)
			if err != nil {
				return err
			}
			survivors += n
		}
		tried++
	}
	switch {
	case tried == 0 || tried < len(names):
		return fault.New("mutants", fault.NotFound, "%q names something that is neither a model nor a package of the law nor extraction", names)
	case survivors > 0:
		return errNot(fmt.Sprintf("%d mutants survive", survivors))
	}
	return nil
}

func modelMutants(ctx context.Context, out io.Writer, book *spec.Book, model string, o mutate.Options, all bool) (int, error) {
	begin := time.Now()
	results, err := mutate.TrySMT(ctx, book, model, o)
	if err != nil {
		return 0, err
	}
	report := mutate.ReportSMT(results)
	fmt.Fprintf(out, "spec/z3/%s.smt2: %s (%.1f s)\n", model, report, time.Since(begin).Seconds())
	for _, r := range results {
		switch {
		case r.Survived():
			fmt.Fprintf(out, "  ! %s survives\n", r)
		case all && r.Equivalent:
			fmt.Fprintf(out, "    %s: equivalent\n", r)
		case all && r.Accepted:
			fmt.Fprintf(out, "    %s: breaks %s\n", r, r.Breaks)
		}
	}
	return len(report.Survivors), nil
}

func goMutants(ctx context.Context, out io.Writer, book *spec.Book, subject validate.Subject, o mutate.Options, f mutantsFlags) (int, error) {
	begin := time.Now()
	source, err := ssasmt.Load(f.dir, subject.Package)
	if err != nil {
		return 0, err
	}
	results, err := mutate.TryGo(ctx, subject, source, book, o)
	if err != nil {
		return 0, err
	}
	report := mutate.ReportGo(results)
	fmt.Fprintf(out, "%s: %s (%.1f s)\n", subject.Package, report, time.Since(begin).Seconds())
	for _, r := range results {
		switch {
		case r.Survived():
			fmt.Fprintf(out, "  ! %s survives: %s\n", r, fate(r))
		case f.all:
			fmt.Fprintf(out, "    %s: %s\n", r, fate(r))
		}
	}
	return len(report.Survivors), nil
}

func extractionMutants(ctx context.Context, out io.Writer, x mutate.Extraction, claims []mutate.Claim, o mutate.Options, f mutantsFlags) (int, error) {
	begin := time.Now()
	report, err := mutate.TryTests(ctx, f.dir, x, claims, o)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "%s: %s (%.1f s)\n", x.Package, report, time.Since(begin).Seconds())
	for _, r := range report.Results {
		switch {
		case r.Survived():
			fmt.Fprintf(out, "  ! %s survives: no test of the package fails\n", r)
		case f.all && r.Equivalent != "":
			fmt.Fprintf(out, "    %s: equivalent: %s\n", r, r.Equivalent)
		case f.all:
			fmt.Fprintf(out, "    %s: killed by %s\n", r, r.KilledBy)
		}
	}
	return len(report.Survivors), nil
}

// fate says in words what became of a mutant.
func fate(r mutate.GoResult) string {
	sampled := "sampling does not kill it"
	if r.KilledAt > 0 {
		sampled = fmt.Sprintf("killed by input %d", r.KilledAt)
	}
	switch r.Fate {
	case mutate.Refuted:
		return fmt.Sprintf("refuted, %s; %s", r.Against, sampled)
	case mutate.Refused:
		return "cannot be translated or held to the model; " + sampled
	case mutate.Equivalent:
		return "equivalent"
	}
	return "not decided by validation; " + sampled
}
