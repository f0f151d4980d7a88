package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lawFile writes the base law with one place changed.
func lawFile(t *testing.T, old, new string) string {
	t.Helper()
	base, _ := mustBook(t).File("decision")
	if strings.Count(base.Text, old) != 1 {
		t.Fatalf("the law does not hold %q once", old)
	}
	path := filepath.Join(t.TempDir(), "mine.smt2")
	if err := os.WriteFile(path, []byte(strings.Replace(base.Text, old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDiffShowsItsWitness(t *testing.T) {
	wide := lawFile(t, "(lt (now r) (expires g))", "(le (now r) (expires g))")
	code, out, errs := verb("diff", wide)
	if code != 0 || !strings.HasPrefix(out, "wider\nit gives more: --grant '") || strings.Contains(out, "less") ||
		!strings.Contains(out, "the base: denied:expired by grant 0") || !strings.Contains(out, "this law: allowed by grant 0") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	// The other way round, the same two laws.
	base, _ := mustBook(t).File("decision")
	file := filepath.Join(t.TempDir(), "base.smt2")
	if err := os.WriteFile(file, []byte(base.Text), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := verb("diff", file, "--base", wide, "--want", "narrower"); code != 0 || !strings.Contains(out, "it gives less") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = verb("diff", file)
	if code != 0 || out != "equivalent\nevery answer is the same\n" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = verb("diff", lawFile(t, `"denied:expired"`, `"denied:late"`))
	if code != 0 || out != "equivalent\ndifferent beside the decision: label\n" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// What cannot be tried says which file or solver and where, on one line, and
// comes to an end.
func TestDiffSaysWhatItCouldNotTry(t *testing.T) {
	good := lawFile(t, "(lt (now r) (expires g))", "(le (now r) (expires g))")
	slow := solver(t, "exec sleep 1000\n")
	dies := solver(t, "kill -9 $$\n")
	dies2 := solver(t, "read line; kill -9 $$\n")
	for _, row := range []struct {
		name string
		code int
		says string
		args []string
	}{
		{"nothing wrong", 0, "", []string{"diff", good}},
		{"a syntax error", 2, "mine.smt2:15: a list that is not closed", []string{"diff", lawFile(t, "       allowed)))))", "       allowed))))")}},
		{"a missing function", 2, "mine.smt2:24: the law defines no judge", []string{"diff", lawFile(t, "(define-fun judge (", "(define-fun judges (")}},
		{"a function that is nowhere", 2, "mine.smt2:24: ", []string{"diff", lawFile(t, "(ite (= (judge g r) allowed)", "(ite (= (judges g r) allowed)")}},
		{"a sort error", 2, "mine.smt2:17: ", []string{"diff", lawFile(t, "(= (g-scope g) (r-scope r))", "(= (g-scope g) (cost r))")}},
		{"no file", 2, `"none.smt2" cannot be read`, []string{"diff", "none.smt2"}},
		{"no z3", 2, "solver z3 is not installed", []string{"diff", good, "--z3", "/no/such/z3"}},
		{"no cvc5", 2, "solver cvc5 is not installed", []string{"diff", good, "--cvc5", "no-such-cvc5"}},
		{"a solver that is killed", 2, "solver cvc5 at ", []string{"diff", good, "--cvc5", dies}},
		{"a solver that is killed later", 2, "solver cvc5 at ", []string{"diff", good, "--cvc5", dies2}},
		{"a solver that is too slow", 1, "gave no answer within 1s", []string{"diff", good, "--cvc5", slow, "--limit", "1s"}},
		{"the same of compare", 1, "gave no answer within 1s", []string{"compare", "--a", "A=b:1", "--b", "A=b:2", "--cvc5", slow, "--limit", "1s"}},
		{"the same of decide", 1, "gave no answer within 1s", []string{"decide", "--law", good, "--request", "A=b:1", "--cvc5", slow, "--limit", "1s"}},
		{"another word wanted", 1, "is wider, not narrower", []string{"diff", good, "--want", "narrower"}},
		{"a bad grant", 2, `"A" is not EFFECT=SCOPE`, []string{"compare", "--a", "A", "--b", "A=b:1"}},
		{"a bad shape", 2, `"A=b:1-2" is not`, []string{"compare", "--a", "A=b:1", "--b", "A=b:1", "--request", "A=b:1-2"}},
		{"a shape without a scope", 2, `"A=:1" is not`, []string{"compare", "--a", "A=b:1", "--b", "A=b:1", "--request", "A=:1"}},
		{"a shape that holds nothing", 2, "a range ends before it begins", []string{"compare", "--a", "A=b:1", "--b", "A=b:1", "--request", "A=b:2..1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			begin := time.Now()
			code, out, errs := verb(row.args...)
			if code != row.code || !strings.Contains(errs, row.says) {
				t.Fatalf("exit %d, want %d and %q: %s%s", code, row.code, row.says, out, errs)
			}
			if code != 0 && strings.Count(errs, "\n") != 1 {
				t.Errorf("not one line: %q", errs)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestDiffStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"diff", lawFile(t, "(le zero (now r)) ", "")}, &out, &errs); code == 0 {
		t.Errorf("exit 0 after an interrupt: %s", &out)
	}
}

func TestCompare(t *testing.T) {
	code, out, errs := verb("compare", "--a", "Read=docs:3", "--b", "Read=docs:5", "--request", "Read=*:4@*")
	want := "a implies b: b allows all that a allows, and more\ndisjoint: no request is allowed by both\n" +
		"of the requests Read=*:4@*, a allows: never; b allows: sometimes\nonly b allows, for example: 'Read=docs:4@"
	if code != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = verb("compare", "--a", "Read=docs:3", "--b", "Read=docs/a:3", "--law", "../../spec/z3/extensions/prefix-scopes.smt2")
	if code != 0 || !strings.HasPrefix(out, "b implies a: ") || !strings.Contains(out, "only a allows") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
