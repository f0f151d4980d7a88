package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestValidateProvesEveryFunction(t *testing.T) {
	code, out, errs := verb("validate")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	for _, want := range []string{
		`(?m)^function +obligation +z3 ms +cvc5 ms$`,
		`(?m)^Judge +equal +\d+ +\d+$`,
		`(?m)^Verdict.Label +equal +\d+ +\d+$`,
		`(?m)^Decide +turn +\d+ +\d+$`,
		`(?m)^Decide +settled +\d+ +\d+$`,
		`(?m)^LawfulID +turn +\d+ +\d+$`,
		`(?m)^(\d+) of (\d+) functions proved by each of z3 .* and cvc5 .* in \d+\.\d s$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in:\n%s", want, out)
		}
	}
	t.Log(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:])
}

// When the model is another one, the Go law is refuted, with an input.
func TestValidateRefutesWhatTheModelDoesNotSay(t *testing.T) {
	code, out, errs := verb("validate", "--spec", edited(t, "decision.smt2", "(lt (now r) (expires g))", "(le (now r) (expires g))"))
	if code != 1 || !strings.Contains(errs, "functions not proved") {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	row := regexp.MustCompile(`(?m)^  ! broker/law/decide\.go:\d+: Judge\(g=Grant\{Effect: .*, ExpiresAt: (-?\d+), .*Now: (-?\d+)\}\) answers \d, the model answers \d$`).FindStringSubmatch(out)
	if row == nil || row[1] != row[2] {
		t.Errorf("no input in which now is the moment of expiry:\n%s", out)
	}
	if !regexp.MustCompile(`(?m)^Seed +equal +\d+ +\d+$`).MatchString(out) {
		t.Errorf("what does not depend on it is not proved any more:\n%s", out)
	}
}

// lawWith is a module that holds the Go law with one text replaced.
func lawWith(t *testing.T, file, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "broker", "law"), os.DirFS("../../broker/law")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module world\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "broker", "law", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s does not hold %q once", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestValidateSaysWhatItCouldNotTry(t *testing.T) {
	for _, row := range []struct {
		name, says string
		args       []string
	}{
		{"no z3", "solver z3 is not installed", []string{"--z3", "/no/such/z3"}},
		{"no cvc5", "solver cvc5 is not installed", []string{"--cvc5", "no-such-cvc5"}},
		{"outside the subset", "broker/law/seed.go:19: operator / on int64 is outside the subset",
			[]string{"--dir", lawWith(t, "seed.go", "\treturn budget - spent\n", "\treturn (budget - spent) / 1\n")}},
		{"a function that nobody proves", "broker/law/seed.go:21: function Twice is not proved",
			[]string{"--dir", lawWith(t, "seed.go", "\treturn budget - spent\n}", "\treturn budget - spent\n}\nfunc Twice(n int64) int64 { return n + n }\n")}},
		{"Go that does not compile", "world/broker/law does not compile",
			[]string{"--dir", lawWith(t, "seed.go", "budget - spent", "budget - spend")}},
		{"no module", "", []string{"--dir", t.TempDir()}},
		{"an unknown flag", "unknown flag", []string{"--fast"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, out, errs := verb(append([]string{"validate"}, row.args...)...)
			if code != 2 || !strings.Contains(errs, row.says) {
				t.Fatalf("exit %d, want 2 and %q: %s\n%s", code, row.says, errs, out)
			}
			if strings.Count(errs, "\n") != 1 {
				t.Errorf("more than one line: %q", errs)
			}
		})
	}
}
