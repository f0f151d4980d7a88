package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"world/drift/mutate"
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

func TestMutantsOfExtractionReport(t *testing.T) {
	code, out, errs := verb("mutants", "extraction", "--sample", "24", "--all")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	for _, want := range []string{
		`(?m)^world/coordinator/plan: 24 mutants of extraction: \d+ killed by the package's own tests, \d+ equivalent by the reviewed list \(\d+ more do not compile\); score 100\.0 %; survivors: 0 \(`,
		`(?m)^world/store/record: 24 mutants of extraction: .*; score 100\.0 %; survivors: 0 \(`,
		`(?m)^    coordinator/plan/\w+\.go:\d+: .*: killed by Test`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in:\n%s", want, out)
		}
	}
}

// Tests that leave something out let its mutants through, by name, and a claim is told.
func TestMutantsOfExtractionNamesSurvivors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example/reader\n\ngo 1.24\n",
		"read.go":      "package reader\n\nfunc Read(text string) bool { return text == \"one\" }\n\nfunc Empty(text string) bool { return text == \"\" }\n",
		"read_test.go": "package reader\n\nimport \"testing\"\n\nfunc TestRead(t *testing.T) {\n\tif Read(\"two\") {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := mutate.Extraction{Package: "example/reader", Files: []string{"read.go"}}
	claim := mutate.Claim{File: "read.go", Func: "Empty", Line: `func Empty(text string) bool { return text == "" }`, What: []string{"== becomes !="}, Why: "nobody asks"}
	var out strings.Builder
	n, err := extractionMutants(t.Context(), &out, x, []mutate.Claim{claim}, mutate.Options{Jobs: 1, Limit: 10 * time.Second}, mutantsFlags{dir: dir, all: true})
	if err != nil || n != 1 {
		t.Fatalf("%d survivors, %v\n%s", n, err, out.String())
	}
	for _, want := range []string{
		`    read.go:3: Read: == becomes !=: killed by TestRead`,
		`  ! read.go:3: Read: "one" becomes "" survives: no test of the package fails`,
		`    read.go:5: Empty: == becomes !=: equivalent: nobody asks`,
		`score 50.0 %; survivors: 1`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in:\n%s", want, out.String())
		}
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
		{"no module for extraction", "", []string{"extraction", "--dir", t.TempDir()}},
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
