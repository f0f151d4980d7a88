package z3_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/fault"
	"world/spec"
	"world/z3"
)

// A complaint is one line with the file and line it is about, in whatever chunk
// and round it was sent.
func TestComplaintsNameFileAndLine(t *testing.T) {
	good := spec.Chunk{File: "good.smt2", Text: "(define-fun one () Int 1)\n\n(define-fun two () Int 2)\n"}
	logic := spec.Chunk{File: "logic.smt2", Text: "(set-logic ALL)\n"}
	for _, row := range []struct{ name, text, says string }{
		{"an unknown function", "; first\n\n(define-fun f ((x Int)) Int\n  (g x))\n", "bad.smt2:4: "},
		{"an unknown sort", "(declare-const x Thing)\n", "bad.smt2:1: "},
		{"a wrong number of arguments", "(define-fun f ((x Int)) Int x)\n(define-fun h () Int (f 1 2))\n", "bad.smt2:2: "},
		{"a name taken", "\n\n(define-fun two () Int 3)\n", "bad.smt2:3: "},
	} {
		for _, p := range both {
			s := start(t, p, time.Minute)
			if _, err := s.CheckSat(logic, good); err != nil {
				t.Fatal(err)
			}
			again := spec.Chunk{File: "the reset", Text: "(reset)\n"}
			err := s.Tell(again, logic, good, spec.Chunk{File: "bad.smt2", Text: row.text}, spec.Chunk{File: "after.smt2", Text: "(define-fun more () Int 1)\n"})
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%s, %s: %v", p.Name, row.name, err)
				continue
			}
			detail := fault.Public(err)
			if !strings.Contains(detail, row.says) || !strings.Contains(detail, "says "+p.Name) || strings.Contains(detail, "\n") {
				t.Errorf("%s, %s: %q, want %q", p.Name, row.name, detail, row.says)
			}
		}
	}
}

// More text and more answers than a pipe holds, in one question.
func TestManyAnswersDoNotJam(t *testing.T) {
	const n = 20000
	for _, p := range both {
		s := start(t, p, time.Minute)
		var text strings.Builder
		text.WriteString("(set-logic ALL)\n")
		for i := range n {
			fmt.Fprintf(&text, "(echo \"answer-%d-of-many-and-longer-than-it-needs-to-be\")\n", i)
		}
		answers, err := s.Ask(chunk(text.String()))
		if err != nil || len(answers) != n {
			t.Fatalf("%s: %d answers, %v", p.Name, len(answers), err)
		}
	}
}

func TestValuesKeepTheirOrder(t *testing.T) {
	for _, p := range both {
		s := start(t, p, time.Minute)
		if err := s.Tell(chunk("(set-logic ALL)\n(define-fun twice ((x Int)) Int (* 2 x))\n")); err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			var terms []string
			for i := range 300 {
				terms = append(terms, fmt.Sprintf("(twice %d)", i+round))
			}
			values, err := s.Values(terms)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if v.Atom != fmt.Sprint(2*(i+round)) {
					t.Fatalf("%s: value %d is %s", p.Name, i, v)
				}
			}
		}
		if _, err := s.Values([]string{"(thrice 1)"}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "a term:") {
			t.Errorf("%s: an unknown function: %v", p.Name, err)
		}
	}
}

func TestContradictionsHaveNoValues(t *testing.T) {
	for _, p := range both {
		s := start(t, p, time.Minute)
		if err := s.Tell(chunk("(set-logic ALL)\n(assert false)\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Values([]string{"1"}); !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "finds definitions unsat") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestTellHasNoAnswer(t *testing.T) {
	s := start(t, z3.Z3("z3"), time.Minute)
	if err := s.Tell(chunk("(check-sat)\n")); !fault.Is(err, fault.Failed) {
		t.Errorf("an answer to Tell: %v", err)
	}
}

// fake is a program that speaks as a broken solver would.
func fake(t *testing.T, script string) z3.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fake")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return z3.Z3(path)
}

func TestStrangeSolversAreErrors(t *testing.T) {
	for _, row := range []struct {
		name, script string
		kind         fault.Kind
		says         string
	}{
		{"ends at once", "exit 0\n", fault.Failed, "died"},
		{"fails at once", "exit 1\n", fault.Failed, "died"},
		{"talks nonsense", "read line; echo ')))'; cat >/dev/null\n", fault.Invalid, "the answer of z3:1: a closing parenthesis too many"},
		{"answers two things", "while read line; do case $line in '(echo '*) echo sat; echo sat; echo ${line#'(echo '} | tr -d ')';; esac; done\n", fault.Failed, "answered check-sat with 2 expressions"},
		{"answers something else", "while read line; do case $line in '(echo '*) echo perhaps; echo ${line#'(echo '} | tr -d ')';; esac; done\n", fault.Failed, "answered check-sat with 1 expressions"},
		{"never answers", "exec sleep 1000\n", fault.Timeout, "gave no answer within"},
		{"answers without end", "exec yes\n", fault.Limit, "gives more than 1048576 answers"},
	} {
		limit := time.Minute
		if row.kind == fault.Timeout {
			limit = 200 * time.Millisecond
		}
		s := start(t, fake(t, row.script), limit)
		_, err := s.CheckSat(chunk("(set-logic ALL)\n"))
		if !fault.Is(err, row.kind) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("a solver that %s: %v, want %q", row.name, err, row.says)
		}
		s.Close()
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestAVersionMustBeSaid(t *testing.T) {
	if _, err := fake(t, "echo no number here\n").Version(t.Context(), time.Minute); !fault.Is(err, fault.Failed) {
		t.Errorf("got %v", err)
	}
	if v, err := fake(t, "echo Z3 version 9.9.9 - test\n").Version(t.Context(), time.Minute); err != nil || v != "9.9.9" {
		t.Errorf("got %q, %v", v, err)
	}
}
