package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/z3"
)

func newValidate(s *setup) *cobra.Command {
	var dir string
	verb := &cobra.Command{
		Use:   "validate",
		Short: "Prove that the Go law is the model, for all inputs",
		Long: `Translates every function of the Go law to SMT-LIB and proves it equal to the model
in 64 bits with both solvers, lists by induction.

Exit 0: all proved. Exit 1: refuted, with an input on which Go and model differ, or
not decided. Exit 2: could not be tried: a solver is missing, the Go is outside the
subset that can be translated (file and line), or a function has no proof asked of it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return validateVerb(cmd.Context(), cmd.OutOrStdout(), s, dir)
		},
	}
	verb.Flags().StringVar(&dir, "dir", ".", "a directory of the module that holds the Go law")
	return verb
}

func validateVerb(ctx context.Context, out io.Writer, s *setup, dir string) error {
	begin := time.Now()
	book, err := s.book()
	if err != nil {
		return err
	}
	var names []string
	for _, p := range s.solvers() {
		version, err := p.Version(ctx, s.limit)
		if err != nil {
			return err
		}
		names = append(names, p.Name+" "+version)
	}
	functions, proved := 0, 0
	var untried error
	for _, subject := range validate.Subjects {
		source, err := ssasmt.Load(dir, subject.Package)
		if err != nil {
			return err
		}
		task, err := validate.Prepare(subject, source, book)
		if err != nil {
			return err
		}
		if functions == 0 {
			validateRow(out, "function", "obligation", "z3 ms", "cvc5 ms")
		}
		for _, v := range task.Prove(ctx, validate.Options{Solvers: s.solvers(), Limit: s.limit, Jobs: s.jobs}) {
			functions++
			if v.Proved() {
				proved++
			}
			if err := v.Err(); err != nil && untried == nil {
				untried = err
			}
			validateRows(out, v)
		}
	}
	if err := ctx.Err(); err != nil {
		return fault.New("validate", fault.Unavailable, "stopped before the end")
	}
	fmt.Fprintf(out, "%d of %d functions proved by each of %s in %.1f s\n",
		proved, functions, strings.Join(names, " and "), time.Since(begin).Seconds())
	if untried != nil {
		return untried
	}
	if proved < functions {
		return errNot(fmt.Sprintf("%d of %d functions not proved", functions-proved, functions))
	}
	return nil
}

func validateRow(out io.Writer, function, obligation, z3ms, cvc5ms string) {
	fmt.Fprintf(out, "%-16s %-10s %8s %8s\n", function, obligation, z3ms, cvc5ms)
}

// validateRows prints one row an obligation, and under them why the function is
// not proved.
func validateRows(out io.Writer, v validate.Verdict) {
	for _, r := range v.Results {
		validateRow(out, v.Func.Name, r.Name, validateCell(r.Tries[0]), validateCell(r.Tries[1]))
		for _, t := range r.Tries {
			switch {
			case t.Err != nil:
				fmt.Fprintf(out, "  ! %s\n", oneLine(t.Err))
			case t.Twin == z3.Unsat:
				fmt.Fprintf(out, "  ! %s:%d: the hypotheses of %s contradict each other\n", v.Func.File, v.Func.Line, r.Name)
			}
		}
	}
	switch {
	case v.Proved() || v.Err() != nil:
	case v.Refuted():
		fmt.Fprintf(out, "  ! %s:%d: %s\n", v.Func.File, v.Func.Line, v.Against)
	default:
		fmt.Fprintf(out, "  ! %s:%d: not proved, and no counterexample found\n", v.Func.File, v.Func.Line)
	}
}

func validateCell(t validate.Try) string {
	switch {
	case fault.Is(t.Err, fault.Timeout):
		return "slow"
	case t.Err != nil:
		return "error"
	case t.Goal != z3.Unsat:
		return string(t.Goal)
	}
	return fmt.Sprint(t.Took.Milliseconds())
}
