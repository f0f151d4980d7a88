package main

import (
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"world/fault"
	"world/infile"
	"world/spec"
	"world/z3"
)

const program = "world-law"

// setup is what every verb shares: where the law is and who is asked about it.
type setup struct {
	specDir string
	z3      string
	cvc5    string
	limit   time.Duration
	jobs    int
}

// newRoot builds the command tree. Every verb is made by a function of its own
// file and listed here.
func newRoot() *cobra.Command {
	var s setup
	root := &cobra.Command{
		Use:   program,
		Short: "The decision law: prove it, run it, hold the code to it",
		Args:  cobra.NoArgs,
		// Errors are printed once, by run.
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&s.specDir, "spec", "", "read the law from this folder, laid out like spec/z3, instead of the binary's own")
	flags.StringVar(&s.z3, "z3", "z3", "the z3 executable")
	flags.StringVar(&s.cvc5, "cvc5", "cvc5", "the cvc5 executable")
	flags.DurationVar(&s.limit, "limit", 30*time.Second, "time for one question to a solver, or for the tests of one mutant")
	flags.IntVar(&s.jobs, "jobs", runtime.NumCPU(), "questions asked at a time")
	root.AddCommand(newProve(&s), newDecide(&s), newDrift(&s), newValidate(&s), newMutants(&s),
		newDiff(&s), newCompare(&s), newTrace(), newReport(&s))
	return root
}

// book loads the law that the flags name.
func (s *setup) book() (*spec.Book, error) {
	if s.specDir == "" {
		return spec.Load(spec.Embedded())
	}
	if info, err := os.Stat(s.specDir); err != nil || !info.IsDir() {
		return nil, fault.Wrap("law", fault.Unavailable, err, "--spec %q is not a folder that can be read", s.specDir)
	}
	return spec.Load(infile.Dir{Path: s.specDir, Limit: maxText})
}

// solvers returns the programs that the flags name, z3 first.
func (s *setup) solvers() []z3.Program {
	return []z3.Program{z3.Z3(s.z3), z3.CVC5(s.cvc5)}
}
