package spec_test

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"world/fault"
	"world/spec"
)

func load(t *testing.T) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheLawIsThere(t *testing.T) {
	b := load(t)
	want := []string{"decision", "journal", "plan", "receipt", "record", "seeding"}
	if got := b.Models(); !slices.Equal(got, want) {
		t.Errorf("models %v, want %v", got, want)
	}
	for _, name := range want {
		rests := slices.ContainsFunc(b.Theorems, func(th spec.Theorem) bool { return slices.Contains(th.RestsOn, name) })
		if !rests {
			t.Errorf("no theorem rests on %s", name)
		}
		c, ok := b.File(name)
		if lines := strings.Count(c.Text, "\n"); !ok || lines > 100 {
			t.Errorf("%s has %d lines: a model is a page at most", name, lines)
		}
	}
	if _, ok := b.File("no-such-file"); ok {
		t.Error("a file that is not there was found")
	}
}

// The theorems that broker/law and the prose name must stay.
func TestTheoremsHaveNotBeenDropped(t *testing.T) {
	b := load(t)
	for _, id := range []string{
		"totality", "disjointness", "precedence", "allowed-range", "denial-keeps", "debit",
		"monotone-budget", "monotone-expiry", "monotone-cost",
		"fold-start", "fold-step", "fold-allows", "fold-first", "fold-unique", "visible",
		"seed-range", "seed-antitone", "seed-composes", "seed-exact", "plus-exact",
		"no-overspend", "replay-step", "transfer-seed", "transfer-plus", "transfer-wrap",
		"plan-size", "plan-id", "plan-once", "plan-declared", "plan-effect", "plan-result", "plan-output",
		"record-arms", "receipt-states", "journal-spend", "journal-tidy", "journal-crash",
		"journal-quiet", "journal-fenced", "journal-reconcile",
	} {
		if _, ok := b.Theorem(id); !ok {
			t.Errorf("theorem %s is gone", id)
		}
	}
	if _, ok := b.Theorem("no-such-theorem"); ok {
		t.Error("a theorem that is not there was found")
	}
}

// A claim is for a reader: one sentence of English.
func TestClaimsAreSentences(t *testing.T) {
	for _, th := range load(t).Theorems {
		if !regexp.MustCompile(`^[A-Z].*[^.]\.$`).MatchString(th.Claim) || strings.Contains(th.Claim, ". ") {
			t.Errorf("%s: the claim %q is not one sentence", th.ID, th.Claim)
		}
	}
}

func TestSixtyFourBitsAreNeverForgotten(t *testing.T) {
	for _, th := range load(t).Theorems {
		if !th.In(spec.BV64) && len(th.CarriedBy) == 0 {
			t.Errorf("%s says nothing of 64 bits", th.ID)
		}
	}
}

// A solver's complaint about line N of what a theorem sends is about line N of
// its file.
func TestChunksKeepLines(t *testing.T) {
	raw, err := fs.ReadFile(spec.Embedded(), "theorems/no-overspend.smt2")
	if err != nil {
		t.Fatal(err)
	}
	th, _ := load(t).Theorem("no-overspend")
	file := strings.Split(string(raw), "\n")
	for name, c := range map[string]spec.Chunk{"twin": th.Twin(), "goal": th.Goal(), "named": th.Named()} {
		if c.File != "spec/z3/theorems/no-overspend.smt2" {
			t.Errorf("%s is of %s", name, c.File)
		}
		met := 0
		for i, line := range strings.Split(c.Text, "\n") {
			words := strings.Fields(strings.NewReplacer("(", " ", ")", " ", "!", " ").Replace(line))
			if len(words) > 1 {
				met++
				if !strings.Contains(file[i], words[1]) {
					t.Errorf("%s, line %d holds %q, the file %q", name, i+1, line, file[i])
				}
			}
		}
		if met == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	if strings.Contains(th.Twin().Text, "goal") || strings.Contains(th.Twin().Text, ":named") {
		t.Error("the twin holds the goal or names")
	}
	if !strings.Contains(th.Named().Text, ":named goal") || !strings.Contains(th.Named().Text, ":named a-budget") {
		t.Error("the named form lacks names")
	}
}

func TestScriptIsInOrder(t *testing.T) {
	var files []string
	for _, c := range load(t).Script(spec.BV64, spec.String, "decision", "seeding") {
		files = append(files, c.File)
	}
	want := []string{"the prelude", "spec/z3/num-bv64.smt2", "spec/z3/text-string.smt2", "spec/z3/decision.smt2", "spec/z3/seeding.smt2"}
	if !slices.Equal(files, want) {
		t.Errorf("script of %q, want %q", files, want)
	}
}

func TestWithLeavesTheBookAsItWas(t *testing.T) {
	b := load(t)
	was, _ := b.File("seeding")
	changed, _ := b.With("seeding", "; nothing\n").File("seeding")
	now, _ := b.File("seeding")
	if changed.Text != "; nothing\n" || changed.File != was.File || now != was {
		t.Errorf("changed %v, now %v", changed, now)
	}
	if _, err := b.WithFile("seeding", spec.Chunk{File: "mine.smt2", Text: "(a"}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "mine.smt2:1") {
		t.Errorf("got %v, want mine.smt2:1", err)
	}
	mine, err := b.WithFile("seeding", spec.Chunk{File: "mine.smt2", Text: "(a)"})
	if c, _ := mine.File("seeding"); err != nil || c.File != "mine.smt2" {
		t.Errorf("got %v, %v", c, err)
	}
}

const goodTheorem = `; theorem: small
; claim: Small is small.
; rests on: model
; encodings: int bv64
(declare-const a Num)
(assert (! (le a zero) :named low))
(assert (! (not (le a one)) :named goal))
`

// folder is the smallest law, with one file changed.
func folder(name, text string) fs.FS {
	dir := fstest.MapFS{}
	for file, content := range map[string]string{
		"num-int.smt2": "", "num-bv64.smt2": "", "text-sort.smt2": "", "text-string.smt2": "",
		"model.smt2": "(define-fun f () Bool true)\n", "theorems/small.smt2": goodTheorem,
	} {
		dir[file] = &fstest.MapFile{Data: []byte(content)}
	}
	if name != "" {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return maps.Clone(dir)
}

func TestASmallLawLoads(t *testing.T) {
	b, err := spec.Load(folder("", ""))
	if err != nil {
		t.Fatal(err)
	}
	th, ok := b.Theorem("small")
	if !ok || th.Claim != "Small is small." || len(th.Hypotheses) != 1 || th.Hypotheses[0].Name != "low" || !slices.Equal(th.Constants, []string{"a"}) {
		t.Errorf("got %+v", th)
	}
}

func TestBadLawsAreNamed(t *testing.T) {
	const file = "theorems/small.smt2"
	edit := func(old, new string) string {
		if !strings.Contains(goodTheorem, old) {
			t.Fatalf("no %q to edit", old)
		}
		return strings.Replace(goodTheorem, old, new, 1)
	}
	for _, row := range []struct{ name, file, text, says string }{
		{"a model that does not close", "model.smt2", "(define-fun\n f", "spec/z3/model.smt2:1: a list that is not closed"},
		{"a theorem that does not close", file, edit(":named goal))", ":named goal)"), "spec/z3/theorems/small.smt2:7: a list"},
		{"another name", file, edit("theorem: small", "theorem: large"), `small.smt2:1: the header names the theorem "large"`},
		{"no claim", file, edit("; claim: Small is small.\n", ""), `small.smt2:1: the header has no line "claim"`},
		{"an empty claim", file, edit("Small is small.", " "), `small.smt2:2: the header says "claim" twice or says nothing`},
		{"a line twice", file, edit("; rests on", "; claim: Again.\n; rests on"), `small.smt2:3: the header says "claim" twice`},
		{"an unknown line", file, edit("; rests on", "; author: me\n; rests on"), `small.smt2:3: the header has an unknown line "author"`},
		{"an unknown encoding", file, edit("int bv64", "int bv32"), `small.smt2:4: unknown or repeated encoding "bv32"`},
		{"an encoding twice", file, edit("int bv64", "int int"), `small.smt2:4: unknown or repeated encoding "int"`},
		{"integers only, carried by nobody", file, edit("int bv64", "int"), "small.smt2:1: carried by: needed"},
		{"carried without need", file, edit("bv64\n", "bv64\n; carried by: small\n"), "small.smt2:1: carried by: needed"},
		{"carried by nothing known", file, edit("int bv64", "int\n; carried by: other"), "small.smt2:1: carried by other, which is not a theorem in 64 bits"},
		{"resting on nothing", file, edit("rests on: model", "rests on: air"), "small.smt2:1: rests on spec/z3/air.smt2, which is missing"},
		{"no goal", file, edit("(assert (! (not (le a one)) :named goal))\n", ""), "small.smt2:6: the last assertion"},
		{"only declarations", file, "; theorem: small\n; claim: C.\n; rests on: model\n; encodings: bv64\n(declare-const a Num)\n", "small.smt2:1: no goal"},
		{"a goal that is not negated", file, edit("(not (le a one))", "(le a one)"), "small.smt2:7: the goal is not negated"},
		{"a goal in the middle", file, edit(":named low", ":named goal"), "small.smt2:6: the last assertion, and no other"},
		{"a nameless hypothesis", file, edit("(! (le a zero) :named low)", "(le a zero)"), "small.smt2:6: an assertion that is not"},
		{"two of one name", file, edit("(assert (! (not", "(assert (! (le zero a) :named low))\n(assert (! (not"), "small.smt2:7: a second hypothesis named low"},
		{"a declaration too late", file, edit("(assert (! (not", "(declare-const b Num)\n(assert (! (not"), "small.smt2:7: declare-const after a hypothesis"},
		{"a command", file, edit("(declare-const", "(exit)\n(declare-const"), `small.smt2:5: a theorem declares, defines and asserts; it does not "exit"`},
	} {
		_, err := spec.Load(folder(row.file, row.text))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.says)
		}
	}
}

func TestIncompleteFoldersAreRefused(t *testing.T) {
	if _, err := spec.Load(fstest.MapFS{}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "no theorem") {
		t.Errorf("an empty folder: %v", err)
	}
	for _, name := range []string{"num-int", "num-bv64", "text-sort", "text-string"} {
		dir := folder("", "").(fstest.MapFS)
		delete(dir, name+".smt2")
		if _, err := spec.Load(dir); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	big := strings.Repeat("; a long comment\n", 1<<17)
	if _, err := spec.Load(folder("model.smt2", big)); !fault.Is(err, fault.Limit) {
		t.Errorf("a file of %d bytes: %v", len(big), err)
	}
}
