package main

import (
	"os"
	"path/filepath"
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

func TestDriftResumes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seed")
	sample := func(more ...string) (int, string, string) {
		return verb(append([]string{"drift", "--inputs", "24000", "--jobs", "1", "--resume", file}, more...)...)
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Fatalf("the file holds %q, %v, want %q", got, err, want)
		}
	}
	if code, out, errs := sample("--seed", "5"); code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	holds("6\n")
	if code, out, errs := sample(); code != 0 || !strings.Contains(out, "go on with --seed 7") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	holds("7\n")
	broken := edited(t, "seeding.smt2", "(sub b spent)", "b")
	if code, _, errs := sample("--spec", broken); code != 1 || !strings.Contains(errs, "seed 7") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	holds("7\n")
	if err := os.WriteFile(file, []byte("soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := sample(); code != 2 || !strings.Contains(errs, "does not hold a seed") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	holds("soon\n")
}
