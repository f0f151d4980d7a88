package main

import (
	"strings"
	"testing"
)

func TestDriftReportsWhatItMet(t *testing.T) {
	code, out, errs := verb("drift", "--inputs", "50000", "--seed", "3", "--jobs", "1")
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for _, want := range []string{"judge: allowed", "decide: denied:scope", "seed: spent = budget", "plan result: result-missing", "record: failed", "no difference, in ", "go on with --seed 5"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func TestDriftFailsOnADifference(t *testing.T) {
	broken := edited(t, "seeding.smt2", "(sub b spent)", "b")
	code, out, errs := verb("drift", "--inputs", "25000", "--jobs", "1", "--spec", broken)
	if code != 1 || !strings.Contains(errs, "seed of {A:") || !strings.Contains(errs, "seed 1") {
		t.Fatalf("exit %d, want 1 and the input: %s%s", code, out, errs)
	}
}

func TestDriftNeedsItsSolver(t *testing.T) {
	code, out, errs := verb("drift", "--inputs", "1000", "--z3", "no-such-z3")
	if code != 2 || !strings.Contains(errs, "solver z3 is not installed") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
}
