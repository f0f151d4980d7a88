package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"world/broker/law"
	"world/drift/relate"
	"world/fault"
)

func newDiff(s *setup) *cobra.Command {
	var base, want string
	verb := &cobra.Command{
		Use:   "diff LAW",
		Short: "Relate a law to the base law: equivalent, narrower, wider or incomparable",
		Long: `Relates the law in a file to spec/z3/decision.smt2, over lists of grants of any
length. A law is narrower if it never gives more authority than the base and
sometimes less, wider the other way round, incomparable if both happen. Authority is
what is allowed and what is left of the grant that pays; how a denial is worded, and
which of several grants pays, is told apart.

Each direction that fails comes with grants and a request on which both laws were
run, as flags for decide. What does not fail is proved by both solvers.

Exit 1: not decided, or not as --want says. Exit 2: could not be tried.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return diffVerb(cmd, s, args[0], base, want)
		},
	}
	verb.Flags().StringVar(&base, "base", "", "relate to the law in this file instead of spec/z3/decision.smt2")
	verb.Flags().StringVar(&want, "want", "", "fail unless the answer is this word")
	return verb
}

func diffVerb(cmd *cobra.Command, s *setup, file, baseFile, want string) error {
	words := []relate.Relation{relate.Equivalent, relate.Narrower, relate.Wider, relate.Incomparable}
	if want != "" && !slices.Contains(words, relate.Relation(want)) {
		return fault.New("diff", fault.Invalid, "--want %q is not one of %q", want, words)
	}
	base, err := s.law(baseFile)
	if err != nil {
		return err
	}
	other, err := s.law(file)
	if err != nil {
		return err
	}
	d, err := relate.Diff(cmd.Context(), base, other, s.relating())
	if err != nil {
		return undecided(err)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, d.Relation)
	show(out, "it gives more", d.More)
	show(out, "it gives less", d.Less)
	switch {
	case d.Same:
		fmt.Fprintln(out, "every answer is the same")
	case d.Told != nil:
		show(out, "it answers in other words", d.Told)
	}
	if len(d.Words) > 0 {
		fmt.Fprintf(out, "different beside the decision: %s\n", strings.Join(d.Words, ", "))
	}
	if want != "" && want != string(d.Relation) {
		return errNot(fmt.Sprintf("%s is %s, not %s", file, d.Relation, want))
	}
	return nil
}

// show prints a witness with what both laws made of it.
func show(out io.Writer, what string, w *relate.Witness) {
	if w == nil {
		return
	}
	fmt.Fprintf(out, "%s: %s\n  the base: %s\n  this law: %s\n", what, w, inWords(w.Base.Decision), inWords(w.Law.Decision))
}

func inWords(d law.Decision) string {
	if d.Grant < 0 {
		return d.Verdict.Label()
	}
	return fmt.Sprintf("%s by grant %d, %d before, %d after", d.Verdict.Label(), d.Grant, d.BudgetBefore, d.Remaining)
}
