package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestMutantsReport(t *testing.T) {
	code, out, errs := verb("mutants", "receipt", "world/broker/law", "--sample", "6", "--inputs", "3000", "--all")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	for _, want := range []string{
		`(?m)^spec/z3/receipt\.smt2: \d mutants: \d break a theorem, \d proved equivalent; survivors: 0 \(`,
		`(?m)^    spec/z3/receipt\.smt2:\d+: .*: breaks receipt-`,
		`(?m)^world/broker/law: 6 mutants: \d refuted by validation \(\d with an input confirmed by running it\)`,
		`(?m)^  sampling alone killed \d; inputs to kill: median \d+, 95th percentile \d+, most \d+; survivors: 0 \(`,
		`(?m)^    broker/law/\w+\.go:\d+: .*: refuted, .* answers .*, the model .*; killed by input \d+$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in:\n%s", want, out)
		}
	}
}

// A theorem that has stopped saying anything lets mutants through, by name.
func TestMutantsNamesSurvivors(t *testing.T) {
	weak := edited(t, "theorems/receipt-may-start.smt2", "(not (or (has-intent x)", "(and (may-start (receipt x)) (or true (has-intent x)")
	code, out, errs := verb("mutants", "receipt", "--spec", weak)
	if code != 1 || !strings.Contains(errs, "mutants survive") {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	if !regexp.MustCompile(`(?m)^  ! spec/z3/receipt\.smt2:\d+: may-start: not-started becomes \S+ survives$`).MatchString(out) {
		t.Errorf("no survivor in may-start:\n%s", out)
	}
}

func TestMutantsSaysWhatItCouldNotTry(t *testing.T) {
	for _, row := range []struct {
		name, says string
		args       []string
	}{
		{"an unknown name", "names something that is neither a model nor a package", []string{"receipts"}},
		{"no cvc5", "solver cvc5 is not installed", []string{"receipt", "--cvc5", "no-such-cvc5"}},
		{"no z3", "solver z3 is not installed", []string{"world/broker/law", "--z3", "/no/such/z3"}},
		{"no module", "", []string{"world/broker/law", "--dir", t.TempDir()}},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, out, errs := verb(append([]string{"mutants"}, row.args...)...)
			if code != 2 || !strings.Contains(errs, row.says) || strings.Count(errs, "\n") != 1 {
				t.Fatalf("exit %d, want 2 and one line with %q: %s\n%s", code, row.says, errs, out)
			}
		})
	}
}
