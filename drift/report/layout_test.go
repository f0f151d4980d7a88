package report_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"world/drift/ssasmt"
	"world/drift/validate"
	"world/z3"
)

// What narrow screens need is kept from paper: there SMT-LIB and Go stand side by
// side, tables repeat their heads, and what belongs together stays on one page.
func TestThePageOnPaperAndOnPhones(t *testing.T) {
	page := write(t, input(t))
	style, _, ok := strings.Cut(page, "</style>")
	if !ok {
		t.Fatal("the page has no style")
	}
	for _, m := range regexp.MustCompile(`@media[^{]*`).FindAllString(style, -1) {
		if strings.Contains(m, "max-width") && !strings.Contains(m, "screen") {
			t.Errorf("%q holds on paper too", m)
		}
	}
	_, paper, ok := strings.Cut(style, "@media print")
	if !ok {
		t.Fatal("the page has no style for paper")
	}
	for _, want := range []string{
		"thead { display: table-header-group; }", ".sides, .piece, tr, .facts { break-inside: avoid; }", "h2, h3, h4, .where, .label { break-after: avoid; }",
		"orphans: 4; widows: 4;", ".counts { columns: 3;",
	} {
		if !strings.Contains(paper, want) {
			t.Errorf("no %q for paper", want)
		}
	}
	if strings.Contains(paper, "grid-template-columns") {
		t.Error("the sides are laid out anew on paper")
	}
	if !regexp.MustCompile(`nav \{[^}]*flex-wrap: wrap`).MatchString(style) {
		t.Error("the links do not wrap")
	}
	tables, heads := strings.Count(page, "<table>"), strings.Count(page, "<thead><tr><th>")
	if tables == 0 || heads != tables {
		t.Errorf("%d of %d tables have a head", heads, tables)
	}
	if pieces, labels := strings.Count(page, `<div class="piece"><span class="where">`), strings.Count(page, `<span class="where">`); pieces < 30 || pieces != labels {
		t.Errorf("%d labels, %d of them kept with their text", labels, pieces)
	}
}

// What is proved and what is not is said once, and never both of one function.
func TestThePageSaysWhatIsProved(t *testing.T) {
	in := input(t)
	at := regexp.MustCompile(`broker/law/seed\.go:(\d+)</span><pre>[^<]*func Seed\(`).FindStringSubmatch(write(t, in))
	if at == nil {
		t.Fatal("no function Seed")
	}
	line, err := strconv.Atoi(at[1])
	if err != nil {
		t.Fatal(err)
	}
	fine := validate.Try{Twin: z3.Sat, Goal: z3.Unsat}
	in.Functions = append(in.Functions, validate.Verdict{
		Func:    &ssasmt.Func{Name: "Seed", File: "broker/law/seed.go", Line: line},
		Results: []validate.Result{{Tries: []validate.Try{fine, fine}}},
	})
	page := write(t, in)
	proved := 0
	for _, v := range in.Functions {
		if v.Proved() {
			proved++
		}
	}
	_, end, _ := strings.Cut(page, `<h2 id="trust">`)
	for _, want := range []string{"Not proved by these theorems:", strconv.Itoa(proved) + " functions are proved equal to the model", "<code>record."} {
		if !strings.Contains(end, want) {
			t.Errorf("no %q in what is said of trust", want)
		}
	}
	if !strings.Contains(page, ">"+strconv.Itoa(proved)+" of "+strconv.Itoa(len(in.Functions))+"<") {
		t.Error("the head does not say how many functions are proved")
	}
	_, unproved, _ := strings.Cut(end, "nothing is proved of them:")
	for _, v := range in.Functions {
		name := "<code>law." + v.Func.Name + "</code>"
		if strings.Contains(unproved, name) == v.Proved() {
			t.Errorf("%s, proved %v, is on the wrong list", v.Func.Name, v.Proved())
		}
	}
}
