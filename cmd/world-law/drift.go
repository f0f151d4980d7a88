package main

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/spf13/cobra"

	"world/drift"
)

func newDrift(s *setup) *cobra.Command {
	run := drift.Run{}
	verb := &cobra.Command{
		Use:   "drift",
		Short: "Compare the Go law with the model on generated inputs",
		Long: `Sends generated inputs through broker/law and through the model, evaluated by z3,
and compares whole answers. With --inputs 0 it goes on until it is interrupted and
then prints the seed to go on with.

Exit 1: an answer differs, or a verdict or boundary was never met.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return driftVerb(cmd, s, run)
		},
	}
	verb.Flags().Int64Var(&run.Seed, "seed", 1, "seed of the first inputs")
	verb.Flags().IntVar(&run.Inputs, "inputs", 1_000_000, "how many inputs to compare, 0 until interrupted")
	return verb
}

func driftVerb(cmd *cobra.Command, s *setup, run drift.Run) error {
	book, err := s.book()
	if err != nil {
		return err
	}
	run.Limit = s.limit
	for range max(s.jobs, 1) {
		run.Solvers = append(run.Solvers, s.solvers()[0])
	}
	start := time.Now()
	report, err := drift.Sample(cmd.Context(), book, run)
	if err != nil {
		if d := (*drift.Difference)(nil); errors.As(err, &d) {
			return errNot(d.Error())
		}
		return err
	}
	out := cmd.OutOrStdout()
	report.Tally.Print(out)
	printInputs(out, report, time.Since(start))
	if missed := report.Tally.Missed(); len(missed) > 0 {
		return errNot(fmt.Sprintf("no input met %q", missed))
	}
	return nil
}

func printInputs(out io.Writer, report drift.Report, took time.Duration) {
	total := 0
	var laws []string
	for name, n := range report.Inputs {
		total += n
		laws = append(laws, fmt.Sprintf("%s %d", name, n))
	}
	sort.Strings(laws)
	fmt.Fprintf(out, "%d inputs %v, no difference, in %.1f s; go on with --seed %d\n", total, laws, took.Seconds(), report.Next)
}
