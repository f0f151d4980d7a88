package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/drift"
	"world/fault"
	"world/infile"
)

func newDrift(s *setup) *cobra.Command {
	run, resume := drift.Run{}, ""
	verb := &cobra.Command{
		Use:   "drift",
		Short: "Compare the Go law with the model on generated inputs",
		Long: `Sends generated inputs through broker/law and through the model, evaluated by z3,
and compares whole answers. With --inputs 0 it goes on until it is interrupted. It
prints the seed to go on with, and keeps it in the --resume file, where the next
run begins.

Exit 1: an answer differs, or a whole run never met a verdict or boundary.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if resume == "" {
				_, err := driftVerb(cmd, s, run)
				return err
			}
			return resumed(cmd, s, run, resume)
		},
	}
	verb.Flags().Int64Var(&run.Seed, "seed", 1, "seed of the first inputs")
	verb.Flags().IntVar(&run.Inputs, "inputs", 1_000_000, "how many inputs to compare, 0 until interrupted")
	verb.Flags().StringVar(&resume, "resume", "", "begin with the seed in this file, if there is one, and leave the next one there")
	return verb
}

// resumed runs from the seed in a file and leaves the next one there. After a
// difference the file stays as it was, so that the next run meets it again.
func resumed(cmd *cobra.Command, s *setup, run drift.Run, file string) error {
	raw, err := infile.Read(file, maxText)
	if err == nil {
		if run.Seed, err = strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err != nil {
			return fault.New("drift", fault.Invalid, "%s does not hold a seed", file)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := driftVerb(cmd, s, run)
	if err != nil {
		return err
	}
	return writeFile(file, []byte(strconv.FormatInt(next, 10)+"\n"))
}

// driftVerb samples once and returns the seed to go on with.
func driftVerb(cmd *cobra.Command, s *setup, run drift.Run) (int64, error) {
	book, err := s.book()
	if err != nil {
		return 0, err
	}
	run.Limit = s.limit
	for range max(s.jobs, 1) {
		run.Solvers = append(run.Solvers, s.solvers()[0])
	}
	start := time.Now()
	report, err := drift.Sample(cmd.Context(), book, run)
	if err != nil {
		if d := (*drift.Difference)(nil); errors.As(err, &d) {
			return 0, errNot(d.Error())
		}
		return 0, err
	}
	out := cmd.OutOrStdout()
	report.Tally.Print(out)
	printInputs(out, report, time.Since(start))
	if missed := report.Tally.Missed(); len(missed) > 0 && run.Inputs > 0 {
		return 0, errNot(fmt.Sprintf("no input met %q", missed))
	}
	return report.Next, nil
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
