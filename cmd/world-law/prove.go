package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/fault"
	"world/spec"
	"world/z3"
	"world/z3/prove"
)

func newProve(s *setup) *cobra.Command {
	var law string
	verb := &cobra.Command{
		Use:   "prove [THEOREM...]",
		Short: "Prove the theorems of the law with z3 and with cvc5",
		Long: `Proves every theorem in each of its encodings with both solvers: the negated goal
must be unsat, the hypotheses alone sat (twin), and no hypothesis unused. A name that
ends in .smt2 is a theorem's own file. With --law FILE the theorems are asked of that
law, with text as strings.

Exit 0: all proved. Exit 1: tried and not proved, unknown and time-out included.
Exit 2: could not be tried.`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return proveVerb(cmd.Context(), cmd.OutOrStdout(), s, law, ids)
		},
	}
	verb.Flags().StringVar(&law, "law", "", "a law file in the place of spec/z3/decision.smt2")
	return verb
}

func proveVerb(ctx context.Context, out io.Writer, s *setup, law string, ids []string) error {
	start := time.Now()
	l, err := s.law(law)
	if err != nil {
		return err
	}
	book, theorems, err := choose(l.Book, ids)
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
	options := prove.Options{Solvers: s.solvers(), Limit: s.limit, Jobs: s.jobs}
	if law != "" {
		options.Text = spec.String
	}
	results := prove.All(ctx, book, theorems, options)
	table(out, results)
	if err := ctx.Err(); err != nil {
		return fault.New("prove", fault.Unavailable, "stopped before the end")
	}
	proved, untried := 0, error(nil)
	for _, r := range results {
		if r.Proved() {
			proved++
		}
		for _, t := range r.Tries {
			if !t.Tried() && untried == nil {
				untried = t.Err
			}
		}
	}
	fmt.Fprintf(out, "%d theorems, %d of %d proofs by each of %s in %.1f s\n",
		len(theorems), proved, len(results), strings.Join(names, " and "), time.Since(start).Seconds())
	if untried != nil {
		return untried
	}
	if proved < len(results) {
		return errNot(fmt.Sprintf("%d of %d not proved", len(results)-proved, len(results)))
	}
	return nil
}

// choose returns the named theorems, or all of them, and the book that they are in.
func choose(book *spec.Book, ids []string) (*spec.Book, []spec.Theorem, error) {
	if len(ids) == 0 {
		return book, book.Theorems, nil
	}
	var out []spec.Theorem
	for _, id := range ids {
		if strings.HasSuffix(id, ".smt2") {
			text, err := readFile(id)
			if err != nil {
				return nil, nil, err
			}
			if book, err = book.WithTheorem(text); err != nil {
				return nil, nil, err
			}
			id = strings.TrimSuffix(path.Base(id), ".smt2")
		}
		t, ok := book.Theorem(id)
		if !ok {
			return nil, nil, fault.New("prove", fault.NotFound, "no theorem %q in spec/z3/theorems", id)
		}
		out = append(out, t)
	}
	return book, out, nil
}

const claimWidth = 64

// table prints one row an encoding: theorem, claim, encoding, milliseconds of
// each solver, twin. Under a row that is not proved it says why.
func table(out io.Writer, results []prove.Result) {
	row := func(id, claim, enc, z3ms, cvc5ms, twin string) {
		fmt.Fprintf(out, "%-18s %-*s %-5s %8s %8s  %s\n", id, claimWidth, claim, enc, z3ms, cvc5ms, twin)
	}
	row("theorem", "claim", "in", "z3 ms", "cvc5 ms", "twin")
	for i := 0; i < len(results); {
		t := results[i].Theorem
		claim := wrap(t.Claim, claimWidth)
		var below []string
		line := 0
		next := func() (string, string) {
			line++
			id := ""
			if line == 1 {
				id = t.ID
			}
			if line <= len(claim) {
				return id, claim[line-1]
			}
			return id, ""
		}
		for ; i < len(results) && results[i].Theorem.ID == t.ID; i++ {
			r := results[i]
			id, words := next()
			row(id, words, string(r.Encoding), cell(r.Tries[0]), cell(r.Tries[1]), twin(r))
			below = append(below, reasons(r)...)
		}
		if len(t.CarriedBy) > 0 {
			id, words := next()
			row(id, words, "bv64", "carried", "carried", "by "+strings.Join(t.CarriedBy, ", "))
		}
		for line < len(claim) {
			_, words := next()
			fmt.Fprintf(out, "%-18s %s\n", "", words)
		}
		for _, b := range below {
			fmt.Fprintf(out, "%-18s ! %s\n", "", b)
		}
	}
}

// cell is a time, or what the solver answered instead of unsat.
func cell(t prove.Try) string {
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

func twin(r prove.Result) string {
	for _, t := range r.Tries {
		if t.Twin != z3.Sat {
			return string(t.Twin) + "!"
		}
	}
	return string(z3.Sat)
}

// reasons says in words why a result is not a proof.
func reasons(r prove.Result) []string {
	var out []string
	say := func(format string, args ...any) {
		if line := fmt.Sprintf("%s: %s", r.Encoding, fmt.Sprintf(format, args...)); !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, t := range r.Tries {
		switch {
		case t.Err != nil:
			say("%s", oneLine(t.Err))
		case t.Twin == z3.Unsat:
			say("the hypotheses contradict each other: the theorem says nothing")
		case t.Twin != z3.Sat:
			say("it is not known whether the hypotheses can hold")
		case t.Goal == z3.Sat && t.Model != "":
			say("refuted by %s", t.Model)
		case t.Goal == z3.Sat:
			say("refuted")
		case t.Goal != z3.Unsat:
			say("not decided")
		case len(t.Unused) > 0:
			say("unused hypotheses: %s", strings.Join(t.Unused, ", "))
		}
	}
	return out
}

// wrap breaks a sentence into lines of at most width bytes, where words allow.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
