package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"world/spec"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// verb runs one verb in this process.
func verb(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// edited is a copy of spec/z3 with one file changed.
func edited(t *testing.T, file, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, spec.Embedded()); err != nil {
		t.Fatal(err)
	}
	if file == "" {
		return dir
	}
	text, err := fs.ReadFile(spec.Embedded(), file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s does not hold %q once", file, old)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProvePrintsATable(t *testing.T) {
	code, out, errs := verb("prove", "precedence", "seed-composes")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{
		"theorem            claim", "z3 ms", "cvc5 ms", "twin",
		"precedence         Each verdict is given exactly when the checks before it pass and int",
		"bv64   carried  carried  by transfer-seed, transfer-plus, transfer-wrap",
		"2 theorems, 3 of 3 proofs by each of z3 ", " and cvc5 ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// The edits that a reviewer would try first, each in the law and each fatal.
func TestProveFailsOnABrokenLaw(t *testing.T) {
	for _, row := range []struct{ name, file, old, new, theorem, says string }{
		{"the law as it is", "", "", "", "precedence", ""},
		{"live at the expiry", "decision.smt2", "(lt (now r) (expires g))", "(le (now r) (expires g))", "precedence", "! int: refuted by (g (grant "},
		{"live before time", "decision.smt2", "(le zero (now r)) ", "", "precedence", "refuted by"},
		{"scope before effect", "decision.smt2", "(ite (not (= (g-effect g) (r-effect r))) denied-effect-name\n  (ite (not (= (g-scope g) (r-scope r))) denied-scope",
			"(ite (not (= (g-scope g) (r-scope r))) denied-scope\n  (ite (not (= (g-effect g) (r-effect r))) denied-effect-name", "precedence", "refuted by"},
		{"last among ties", "decision.smt2", "(ite (< (rank", "(ite (<= (rank", "fold-step", "refuted by"},
		{"a label", "decision.smt2", `"denied:expired"`, `"denied:expiry"`, "labels", "refuted"},
		{"a theorem that is false", "theorems/debit.smt2", "(sub (budget g) (cost r))", "(budget g)", "debit", "refuted by"},
		{"a theorem that says nothing", "theorems/denial-keeps.smt2", "(assert (! (not (= (judge", "(assert (! false :named never))\n(assert (! (not (= (judge", "denial-keeps", "the hypotheses contradict each other"},
		{"a hypothesis too many", "theorems/denial-keeps.smt2", "(assert (! (not (= (judge", "(assert (! (le zero (cost r)) :named extra))\n(assert (! (not (= (judge", "denial-keeps", "unused hypotheses: extra"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, out, errs := verb("prove", row.theorem, "--spec", edited(t, row.file, row.old, row.new))
			if row.file == "" {
				if code != 0 {
					t.Fatalf("exit %d: %s%s", code, out, errs)
				}
				return
			}
			if code != 1 || !strings.Contains(out, row.says) || !strings.Contains(errs, "not proved") {
				t.Fatalf("exit %d, want 1 and %q:\n%s%s", code, row.says, out, errs)
			}
		})
	}
}

func TestProveSaysWhatItCouldNotTry(t *testing.T) {
	missing := t.TempDir()
	for _, row := range []struct {
		name, says string
		args       []string
	}{
		{"no z3", "solver z3 is not installed", []string{"prove", "debit", "--z3", "/no/such/z3"}},
		{"no cvc5", "solver cvc5 is not installed", []string{"prove", "debit", "--cvc5", "no-such-cvc5"}},
		{"a syntax error", "spec/z3/decision.smt2:3: a list that is not closed", []string{"prove", "debit", "--spec", edited(t, "decision.smt2", "(denied-budget) (allowed))))", "(denied-budget) (allowed)))")}},
		{"a missing function", "spec/z3/decision.smt2:", []string{"prove", "debit", "--spec", edited(t, "decision.smt2", "(define-fun judge (", "(define-fun judges (")}},
		{"a missing function in a theorem", "spec/z3/theorems/debit.smt2:7: ", []string{"prove", "debit", "--spec", edited(t, "theorems/debit.smt2", "(= (g-scope (debit g r))", "(= (g-scope (credit g r))")}},
		{"an unreadable folder", "is not a folder that can be read", []string{"prove", "--spec", filepath.Join(missing, "none")}},
		{"an empty folder", "no theorem", []string{"prove", "--spec", missing}},
		{"an unknown theorem", `no theorem "debits"`, []string{"prove", "debits"}},
		{"an unknown flag", "unknown flag", []string{"prove", "--fast"}},
		{"an unknown verb", "unknown command", []string{"disprove"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, out, errs := verb(row.args...)
			if code != 2 || !strings.Contains(errs, row.says) {
				t.Fatalf("exit %d, want 2 and %q: %s%s", code, row.says, out, errs)
			}
			if strings.Count(errs, "\n") != 1 {
				t.Errorf("more than one line: %q", errs)
			}
		})
	}
}

// solver writes a program that stands in for cvc5.
func solver(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cvc5")
	script = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 0.0.0; exit; fi\n" + script
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnknownAndSlowAreNotProofs(t *testing.T) {
	const answers = "while read line; do case $line in '(check-sat)') echo unknown;; '(echo '*) echo ${line#'(echo '} | tr -d ')';; esac; done\n"
	for _, row := range []struct{ name, script, says string }{
		{"unknown", answers, "it is not known whether the hypotheses can hold"},
		{"slow", "exec sleep 1000\n", "gave no answer within 1s"},
	} {
		code, out, errs := verb("prove", "debit", "--limit", "1s", "--cvc5", solver(t, row.script))
		if code != 1 || !strings.Contains(out, row.says) || !strings.Contains(errs, "not proved") {
			t.Errorf("%s: exit %d, want 1 and %q: %s%s", row.name, code, row.says, out, errs)
		}
	}
	code, out, errs := verb("prove", "debit", "--limit", "1s", "--cvc5", solver(t, "exit 3\n"))
	if code != 2 || !strings.Contains(errs, "solver cvc5 at debit (int) died") {
		t.Errorf("died: exit %d, want 2: %s%s", code, out, errs)
	}
}

func TestAnInterruptedProveIsNotAProof(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"prove", "debit"}, &out, &errs); code == 0 {
		t.Fatalf("exit 0 after an interrupt: %s%s", &out, &errs)
	}
}

func TestClaimsWrapAtWords(t *testing.T) {
	for _, row := range []struct {
		text string
		want []string
	}{
		{"one two three", []string{"one two", "three"}},
		{"short", []string{"short"}},
		{"averylongword and", []string{"averylongword", "and"}},
		{"", []string{""}},
	} {
		if got := wrap(row.text, 8); strings.Join(got, "|") != strings.Join(row.want, "|") {
			t.Errorf("%q wraps to %q, want %q", row.text, got, row.want)
		}
	}
}
