package report_test

import (
	"bytes"
	"encoding/xml"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"world/drift"
	"world/drift/report"
	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
	"world/z3"
	"world/z3/prove"
)

func input(t *testing.T) report.Input {
	t.Helper()
	book, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	debit, _ := book.Theorem("debit")
	labels, _ := book.Theorem("labels")
	proved := prove.Try{Twin: z3.Sat, Goal: z3.Unsat, Took: 7e6}
	return report.Input{
		Book: book, Prose: spec.Prose, Dir: ".", Solvers: []string{"z3 1.2.3", "cvc5 4.5.6"},
		Proofs: []prove.Result{
			{Theorem: debit, Encoding: spec.Int, Tries: []prove.Try{proved, proved}},
			{Theorem: debit, Encoding: spec.BV64, Tries: []prove.Try{proved, proved}},
			{Theorem: labels, Encoding: spec.Int, Tries: []prove.Try{proved, {Twin: z3.Sat, Goal: z3.Sat}}},
		},
		Functions: []validate.Verdict{{Func: &ssasmt.Func{Name: "Judge", File: "broker/law/decide.go", Line: 9},
			Results: []validate.Result{{Obligation: validate.Obligation{Name: "answer"}, Tries: []validate.Try{
				{Twin: z3.Sat, Goal: z3.Unsat}, {Err: fault.New("z3", fault.Timeout, "slow")}}}}}},
		Mutants: "spec/z3/decision.smt2: 9 mutants <of note>\n",
		Sampled: drift.Report{Inputs: map[string]int{"decide": 40, "judge": 2}, Tally: drift.Tally{"decide: allowed": 12, "decide: never met": 0}},
		Seconds: 3.2,
	}
}

func write(t *testing.T, in report.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, in); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestThePageIsComplete(t *testing.T) {
	in := input(t)
	page := write(t, in)
	text := html.UnescapeString(page)
	for _, th := range in.Book.Theorems {
		if !strings.Contains(page, "<code>"+th.ID+"</code>") || !strings.Contains(text, th.Claim) {
			t.Errorf("theorem %s or its claim is missing", th.ID)
		}
	}
	defined := 0
	for _, model := range in.Book.Models() {
		c, _ := in.Book.File(model)
		for _, m := range regexp.MustCompile(`\(define-fun [^ ]+ `).FindAllString(c.Text, -1) {
			defined++
			if !strings.Contains(text, m) {
				t.Errorf("%s of %s is missing", m, model)
			}
		}
	}
	if defined < 35 {
		t.Errorf("%d definitions looked for: too few", defined)
	}
	functions := 0
	for _, subject := range validate.Subjects {
		source, err := ssasmt.Load(".", subject.Package)
		if err != nil {
			t.Fatal(err)
		}
		task, err := validate.Prepare(subject, source, in.Book)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range task.Unit.Funcs {
			functions++
			name := f.Name[strings.LastIndex(f.Name, ".")+1:]
			if !regexp.MustCompile(`func (\([^)]*\) )?` + name + `\(`).MatchString(text) {
				t.Errorf("function %s is missing", f.Name)
			}
		}
	}
	if functions < 10 {
		t.Errorf("%d functions looked for: too few", functions)
	}
	for _, once := range []string{"(define-fun judge (", "func Judge(", "func Plus(", "func LawfulID("} {
		if n := strings.Count(text, once); n != 1 {
			t.Errorf("%s is there %d times, want once and then \"as above\"", once, n)
		}
	}
	for _, want := range []string{
		"as above", "1 of 74", "z3 1.2.3", "cvc5 4.5.6", ">7 ms<", ">sat<", ">slow<", ">not tried<", "42 inputs", "decide: never met",
		"9 mutants &lt;of note&gt;", "broker/law/decide.go:9", "Trusted: z3 and cvc5", "Safety only.", "does what the Go source says",
		"The translation", "the Go compiler", "<h2 id=\"journal\">",
	} {
		if !strings.Contains(page, want) && !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("no %q", want)
		}
	}
}

// The page loads nothing, runs nothing, and its links end on it.
func TestThePageIsSelfContained(t *testing.T) {
	page := write(t, input(t))
	for _, no := range []string{"http://", "https://", "<script", "<img", "<link", "@import", "url(", " src=", "<iframe", "javascript:", " onload"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
	links := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 50 {
		t.Errorf("%d links: too few", len(links))
	}
	for _, m := range links {
		id, ok := strings.CutPrefix(m[1], "#")
		if !ok || !strings.Contains(page, `id="`+id+`"`) {
			t.Errorf("the link to %s does not end on the page", m[1])
		}
	}
}

// Every element is closed, so that no browser has to guess.
func TestThePageIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(write(t, input(t))))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatWasNotTriedSaysSo(t *testing.T) {
	in := input(t)
	in.Functions, in.Mutants, in.Sampled = nil, "", drift.Report{}
	page := write(t, in)
	if n := strings.Count(page, "Not tried."); n != 3 {
		t.Errorf("%d parts are called not tried, want 3", n)
	}
	if strings.Count(write(t, input(t)), "Not tried.") != 0 {
		t.Error("what was tried is called not tried")
	}
}

func TestBadInputIsNamed(t *testing.T) {
	for name, edit := range map[string]func(*report.Input){
		"no table of rules":      func(in *report.Input) { in.Prose = "# The law\n" },
		"has no section":         func(in *report.Input) { in.Prose = strings.Replace(in.Prose, "## What is trusted", "## What", 1) },
		"not within a Go module": func(in *report.Input) { in.Dir = t.TempDir() },
	} {
		in := input(t)
		edit(&in)
		if err := report.Write(io.Discard, in); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
