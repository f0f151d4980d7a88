package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"world/drift"
	"world/drift/report"
	"world/drift/ssasmt"
	"world/drift/validate"
	"world/spec"
	"world/z3/prove"
)

// reportFlags are what the verb is asked.
type reportFlags struct {
	html    string
	dir     string
	mutants string
	sample  int
	inputs  int
}

func newReport(s *setup) *cobra.Command {
	var f reportFlags
	verb := &cobra.Command{
		Use:   "report --html FILE [THEOREM...]",
		Short: "Write the law on one page: prose, SMT and Go, proofs, mutants, drift, what is trusted",
		Long: `Proves, validates, tries mutants and samples, and writes what came of it to one
self-contained page for a reviewer. Named theorems are proved and the others shown as
not tried; without names all are. --mutants FILE takes the output of a finished run of
world-law mutants in the place of a sample.

Exit 1: something is not proved; the page shows what.`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return reportVerb(cmd, s, f, ids)
		},
	}
	flags := verb.Flags()
	flags.StringVar(&f.html, "html", "", "the file to write")
	flags.StringVar(&f.dir, "dir", ".", "a directory of the module that holds the Go law")
	flags.StringVar(&f.mutants, "mutants", "", "the output of world-law mutants, instead of a sample")
	flags.IntVar(&f.sample, "sample", 3, "mutants tried of each model and package, 0 for all of them")
	flags.IntVar(&f.inputs, "inputs", 100_000, "inputs sampled")
	verb.MarkFlagRequired("html")
	return verb
}

func reportVerb(cmd *cobra.Command, s *setup, f reportFlags, ids []string) error {
	begin := time.Now()
	book, err := s.book()
	if err != nil {
		return err
	}
	in := report.Input{Book: book, Prose: spec.Prose, Dir: f.dir}
	for _, p := range s.solvers() {
		version, err := p.Version(cmd.Context(), s.limit)
		if err != nil {
			return err
		}
		in.Solvers = append(in.Solvers, p.Name+" "+version)
	}
	if err := fill(cmd.Context(), s, f, ids, &in); err != nil {
		return err
	}
	in.Seconds = time.Since(begin).Seconds()
	var page bytes.Buffer
	if err := report.Write(&page, in); err != nil {
		return err
	}
	if err := writeFile(f.html, page.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d theorems, %d functions, in %.1f s\n", f.html, len(in.Proofs), len(in.Functions), in.Seconds)
	return unproved(in)
}

// fill tries everything that the page tells of.
func fill(ctx context.Context, s *setup, f reportFlags, ids []string, in *report.Input) error {
	_, theorems, err := choose(in.Book, ids)
	if err != nil {
		return err
	}
	if f.mutants != "" {
		text, err := readFile(f.mutants)
		if err != nil {
			return err
		}
		in.Mutants = text.Text
	} else if in.Mutants, err = mutantsText(ctx, s, f, in.Book); err != nil {
		return err
	}
	in.Proofs = prove.All(ctx, in.Book, theorems, prove.Options{Solvers: s.solvers(), Limit: s.limit, Jobs: s.jobs})
	for _, subject := range validate.Subjects {
		source, err := ssasmt.Load(f.dir, subject.Package)
		if err != nil {
			return err
		}
		task, err := validate.Prepare(subject, source, in.Book)
		if err != nil {
			return err
		}
		in.Functions = append(in.Functions, task.Prove(ctx, validate.Options{Solvers: s.solvers(), Limit: s.limit, Jobs: s.jobs})...)
	}
	in.Sampled, err = drift.Sample(ctx, in.Book, drift.Run{Seed: 1, Inputs: f.inputs, Solvers: s.solvers()[:1], Limit: s.limit})
	return err
}

// mutantsText is what the verb mutants prints of a sample of the models and
// packages. Survivors are in it.
func mutantsText(ctx context.Context, s *setup, f reportFlags, book *spec.Book) (string, error) {
	names := book.Models()
	for _, subject := range validate.Subjects {
		names = append(names, subject.Package)
	}
	var out bytes.Buffer
	err := mutantsVerb(ctx, &out, s, mutantsFlags{dir: f.dir, sample: f.sample, inputs: 20_000, seed: 1}, names)
	if not := errNot(""); errors.As(err, &not) {
		return out.String() + "! " + string(not) + "\n", nil
	}
	return out.String(), err
}

// unproved says how much of what was tried is not proved.
func unproved(in report.Input) error {
	missing := 0
	for _, r := range in.Proofs {
		if !r.Proved() {
			missing++
		}
	}
	for _, v := range in.Functions {
		if !v.Proved() {
			missing++
		}
	}
	if missing > 0 {
		return errNot(fmt.Sprintf("%d proofs are missing", missing))
	}
	return nil
}
