package ssasmt_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/drift/ssasmt"
	"world/spec"
	"world/z3"
)

// sample is a set of random functions with what they answered when run.
type sample struct {
	unit  *ssasmt.Unit
	text  string
	cases []sampleCase
}

type sampleCase struct {
	f      *ssasmt.Func
	args   []string // SMT terms; a list as [elem;elem]
	answer string   // SMT term, or "panic"
}

// runSample writes random functions, compiles and runs them, and translates them.
func runSample(t *testing.T, seed int64, calls bool, plain, loops, inputs int) sample {
	t.Helper()
	g := &programs{Rand: rand.New(rand.NewSource(seed)), calls: calls}
	g.out.WriteString(strings.Replace(programHead, "package sample", "package main", 1))
	table := "package main\n\nvar table = map[string]any{\n"
	for i := range plain {
		g.plainFunc()
		table += fmt.Sprintf("\"F%d\": F%d,\n", i, i)
	}
	for i := range loops {
		g.loopFunc(i, i%2 == 0)
		table += fmt.Sprintf("\"L%d\": L%d,\n", i, i)
	}
	dir := t.TempDir()
	driver, err := os.ReadFile("testdata/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n", "sample.go": g.out.String(),
		"table.go": table + "}\n", "main.go": string(driver),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", ".", fmt.Sprint(seed), fmt.Sprint(inputs))
	run.Dir = dir
	var complaint bytes.Buffer
	run.Stderr = &complaint
	out, err := run.Output()
	if err != nil {
		t.Fatalf("seed %d: the sample does not run: %v\n%s", seed, err, complaint.String())
	}
	s := sample{text: g.out.String()}
	checked, err := ssasmt.FromText("sample", map[string][]byte{"sample.go": []byte(s.text)}).Check()
	if err != nil {
		t.Fatal(err)
	}
	if s.unit, err = checked.Translate(); err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, s.text)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Split(line, "\t")
		c := sampleCase{f: s.unit.Function(fields[0]), args: fields[1 : len(fields)-1], answer: fields[len(fields)-1]}
		if c.f == nil {
			t.Fatalf("seed %d: %s was not translated", seed, fields[0])
		}
		s.cases = append(s.cases, c)
	}
	return s
}

// script asks, for every case, whether the translation answers as the run did.
func (s sample) script() (text string, terms []string) {
	var out strings.Builder
	out.WriteString("(set-logic ALL)\n(define-sort Text () String)\n")
	out.WriteString(s.unit.Evaluation())
	for n, c := range s.cases {
		args := append([]string{}, c.args...)
		turns, elems := 0, []string(nil)
		if l := c.f.Loop; l != nil && l.Elem != "" {
			if inner := strings.Trim(args[0], "[]"); inner != "" {
				elems = strings.Split(inner, ";")
			}
			turns, args[0] = len(elems), fmt.Sprintf("list%d", n)
			fmt.Fprintf(&out, "(declare-const %s %s)\n(assert (= (go.len.go.Pair %s) #x%016x))\n", args[0], l.Over.Sort, args[0], turns)
		} else if l != nil {
			turns = strings.Count(args[0], "\\u")
		}
		value, panics := c.f.Call(args, turns, elems)
		same := fmt.Sprintf("(and (not %s) (= %s %s))", panics, value, c.answer)
		if c.answer == "panic" {
			same = panics
		}
		fmt.Fprintf(&out, "(define-fun case%d () Bool %s)\n", n, same)
		terms = append(terms, fmt.Sprintf("case%d", n))
	}
	return out.String(), terms
}

// Functions that call each other are evaluated by cvc5 alone: z3 walks a
// definition inside a definition as a tree, which random ones make too large.
func TestTranslationAnswersAsExecution(t *testing.T) {
	for _, c := range []struct {
		program z3.Program
		seed    int64
		calls   bool
	}{
		{z3.Z3("z3"), 1, false},
		{z3.CVC5("cvc5"), 2, false},
		{z3.CVC5("cvc5"), 3, true},
	} {
		t.Run(fmt.Sprintf("%s calls=%t", c.program.Name, c.calls), func(t *testing.T) {
			s := runSample(t, c.seed, c.calls, 30, 30, 15)
			panics := 0
			for _, sc := range s.cases {
				if sc.answer == "panic" {
					panics++
				}
			}
			if panics < len(s.cases)/100 || panics > len(s.cases)/2 {
				t.Fatalf("%d of %d cases panic: the sample shows little", panics, len(s.cases))
			}
			for _, n := range s.disagree(t, c.program) {
				sc := s.cases[n]
				t.Errorf("%s(%s): running gives %s, the translation does not", sc.f.Name, strings.Join(sc.args, ", "), sc.answer)
			}
			t.Logf("%d cases, %d of them panics", len(s.cases), panics)
		})
	}
}

// A translation with one wrong answer among many must be noticed.
func TestDisagreementIsNoticed(t *testing.T) {
	s := runSample(t, 4, false, 5, 5, 10)
	wrong := len(s.cases) / 2
	for s.cases[wrong].answer == "panic" {
		wrong++
	}
	s.cases[wrong].answer = "panic"
	got := s.disagree(t, z3.CVC5("cvc5"))
	if len(got) != 1 || got[0] != wrong {
		t.Fatalf("case %d was made wrong, found %v", wrong, got)
	}
}

// disagree returns the cases in which the translation answers otherwise.
func (s sample) disagree(t *testing.T, program z3.Program) []int {
	t.Helper()
	process, err := program.Start(t.Context(), 60*time.Second, "the random sample")
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	text, terms := s.script()
	if err := process.Tell(spec.Chunk{File: "the random sample", Text: text}); err != nil {
		t.Fatal(err)
	}
	values, err := process.Values(terms)
	if err != nil {
		t.Fatal(err)
	}
	var other []int
	for n, v := range values {
		if v.Text() != "true" {
			other = append(other, n)
		}
	}
	return other
}
