package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReportWritesAPage(t *testing.T) {
	dir := t.TempDir()
	mutants, page := filepath.Join(dir, "mutants.txt"), filepath.Join(dir, "law.html")
	if err := os.WriteFile(mutants, []byte("spec/z3/decision.smt2: 7 mutants\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := verb("report", "--html", page, "--mutants", mutants, "--inputs", "1000", "debit")
	if code != 0 || !strings.Contains(out, "2 theorems, ") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<dd>1 of ", "7 mutants", ">Judge<", "and no\ndifference", "not tried", " ms</td>"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

func TestReportSaysWhatItCouldNotTry(t *testing.T) {
	page := filepath.Join(t.TempDir(), "law.html")
	for name, args := range map[string][]string{
		`"html" not set`:               {"report"},
		"solver cvc5 is not installed": {"report", "--html", page, "--cvc5", "no-such-cvc5"},
		`no theorem "debits"`:          {"report", "--html", page, "debits"},
	} {
		code, _, errs := verb(args...)
		if code != 2 || !strings.Contains(errs, name) || strings.Count(errs, "\n") != 1 {
			t.Errorf("exit %d, want 2 and %q: %s", code, name, errs)
		}
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a page was written")
	}
}
