// Package report writes the law on one page for a reviewer: each rule in prose, in
// SMT-LIB and in Go side by side, what was proved of it and by whom, what changes
// were caught, what was sampled, what is trusted and what is not proved.
//
// It promises that every definition of the models, every function of the Go laws
// and every theorem of the book is on the page, that what was not tried is called
// so, and that the page refers to nothing outside itself. It tries nothing: what it
// is given is what it shows.
package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"world/drift"
	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
	"world/z3"
	"world/z3/prove"
)

// Input is what a report is made of.
type Input struct {
	Book      *spec.Book
	Prose     string   // spec/README.md
	Dir       string   // a directory of the module that holds the Go laws
	Solvers   []string // name and version, in the order of the tries
	Proofs    []prove.Result
	Functions []validate.Verdict
	Mutants   string // as the verb prints them
	Sampled   drift.Report
	Seconds   float64 // that all of it took
}

// Write renders the page.
func Write(out io.Writer, in Input) error {
	p, err := gather(in)
	if err != nil {
		return err
	}
	if err := page.Execute(out, p); err != nil {
		return fault.Wrap("report", fault.Unavailable, err, "the page cannot be written")
	}
	return nil
}

// content is what the template shows.
type content struct {
	Input
	Laws       []lawSection
	Rest       []piece // Go functions that no rule names
	Theorems   []theorem
	Proved     int
	Checked    []checked
	Equal      int     // of them, proved
	Unproved   []piece // Go functions on the page that are not
	Counts     []count
	Total      int
	How, Trust template.HTML
}

type lawSection struct {
	Model, Title, File string
	Rules              []shown
	Others             []piece // definitions of the model that no rule names
}

type shown struct {
	Sentence, Go template.HTML
	SMT, Code    []piece
	Theorems     []spec.Theorem
}

type theorem struct {
	spec.Theorem
	Rows []row
}

// row is one encoding of a theorem, or one obligation of a function.
type row struct {
	Name  string
	Cells []string
	Fine  bool
}

type checked struct {
	Name, Where string
	Rows        []row
}

type count struct {
	Name string
	N    int
}

func gather(in Input) (content, error) {
	c := content{Input: in}
	all, err := rules(in.Prose)
	if err != nil {
		return c, err
	}
	root, err := moduleRoot(in.Dir)
	if err != nil {
		return c, err
	}
	code, err := goPieces(root)
	if err != nil {
		return c, err
	}
	used := map[string]bool{}
	for _, model := range in.Book.Models() {
		s, err := lawOf(in.Book, model, all, code, used)
		if err != nil {
			return c, err
		}
		c.Laws = append(c.Laws, s)
	}
	for _, p := range code {
		if !used[p.File] {
			c.Rest = append(c.Rest, p)
		}
	}
	for _, t := range in.Book.Theorems {
		th := theorem{t, proofRows(t, in.Proofs, len(in.Solvers))}
		if len(th.Rows) > 0 && !slices.ContainsFunc(th.Rows, func(r row) bool { return !r.Fine }) {
			c.Proved++
		}
		c.Theorems = append(c.Theorems, th)
	}
	c.Checked = functionRows(in.Functions)
	c.Equal, c.Unproved = equal(in.Functions, code)
	for name, n := range in.Sampled.Tally {
		c.Counts = append(c.Counts, count{name, n})
	}
	slices.SortFunc(c.Counts, func(a, b count) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range in.Sampled.Inputs {
		c.Total += n
	}
	if c.How, err = section(in.Prose, "How a theorem is proved"); err != nil {
		return c, err
	}
	c.Trust, err = section(in.Prose, "What is trusted, and what is not proved")
	return c, err
}

// lawOf is one law: its rules, each with its definitions, and what is left of
// its model.
func lawOf(book *spec.Book, model string, all []rule, code []piece, used map[string]bool) (lawSection, error) {
	chunk, _ := book.File(model)
	definitions, err := smtPieces(chunk)
	s := lawSection{Model: model, Title: model, File: chunk.File}
	if err != nil {
		return s, err
	}
	told := map[string]bool{}
	once := func(p piece) piece {
		p.Again, used[p.File] = used[p.File], true
		return p
	}
	for _, r := range all {
		if r.Law != model {
			continue
		}
		s.Title = r.Title
		x := shown{Sentence: r.Sentence, Go: r.Go}
		for _, name := range r.SMT {
			for _, d := range definitions {
				if d.Name == name {
					x.SMT, told[name] = append(x.SMT, once(d)), true
				}
			}
		}
		for _, name := range r.GoNames {
			for _, p := range code {
				if p.Name == name {
					x.Code, used[name] = append(x.Code, once(p)), true
				}
			}
		}
		for _, id := range r.Theorems {
			if t, ok := book.Theorem(id); ok {
				x.Theorems = append(x.Theorems, t)
			}
		}
		s.Rules = append(s.Rules, x)
	}
	for _, d := range definitions {
		if !told[d.Name] {
			s.Others = append(s.Others, d)
		}
	}
	return s, nil
}

func proofRows(t spec.Theorem, proofs []prove.Result, solvers int) []row {
	var out []row
	for _, r := range proofs {
		if r.Theorem.ID != t.ID {
			continue
		}
		x := row{Name: string(r.Encoding), Fine: r.Proved()}
		for _, try := range r.Tries {
			x.Cells = append(x.Cells, cell(try.Err, try.Goal, try.Took.Milliseconds()))
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return []row{{Name: "not tried", Cells: make([]string, solvers)}}
	}
	return out
}

// equal counts the functions that are proved and returns the Go that is not.
func equal(functions []validate.Verdict, code []piece) (n int, unproved []piece) {
	proved := map[string]bool{}
	for _, v := range functions {
		if v.Proved() {
			proved[where(v.Func)] = true
			n++
		}
	}
	for _, p := range code {
		if !proved[p.File] {
			unproved = append(unproved, p)
		}
	}
	return n, unproved
}

func where(f *ssasmt.Func) string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

func functionRows(verdicts []validate.Verdict) []checked {
	var out []checked
	for _, v := range verdicts {
		x := checked{Name: v.Func.Name, Where: where(v.Func)}
		for _, r := range v.Results {
			y := row{Name: r.Name, Fine: v.Proved()}
			for _, t := range r.Tries {
				y.Cells = append(y.Cells, cell(t.Err, t.Goal, t.Took.Milliseconds()))
			}
			x.Rows = append(x.Rows, y)
		}
		out = append(out, x)
	}
	return out
}

// cell is the time of a proof, or what came instead of one.
func cell(err error, goal z3.Answer, ms int64) string {
	switch {
	case fault.Is(err, fault.Timeout):
		return "slow"
	case err != nil:
		return "error"
	case goal != z3.Unsat:
		return string(goal)
	}
	return itoa(int(ms)) + " ms"
}

func itoa(n int) string { return strconv.Itoa(n) }
