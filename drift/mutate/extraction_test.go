package mutate_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"world/drift/mutate"
	"world/drift/ssasmt"
	"world/fault"
)

const readerText = `package reader

type Kind int

const (
	None Kind = iota
	One
	Many
)

var names = map[Kind]string{None: "none", One: "one"}

func Name(k Kind) string { return names[k] }

func Read(text string) (k Kind, wait int) {
	if text == "one" {
		k = One
	}
	if k != None {
		_ = "unused"
	}
	for i := 0; i < len(text); i++ {
		wait++
	}
	return k, wait
}
`

func TestReadingOperators(t *testing.T) {
	source := ssasmt.FromText("reader", map[string][]byte{"reader.go": []byte(readerText)})
	mutants, refused, err := mutate.Reading(source)
	if err != nil || refused == 0 {
		t.Fatalf("%d do not compile, %v", refused, err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.String())
	}
	for _, want := range []string{
		`reader.go:11: names: None and One change places`,
		`reader.go:11: names: None: "none" is dropped`,
		`reader.go:11: names: "none" becomes "one"`,
		`reader.go:11: names: "one" becomes "none"`,
		`reader.go:16: Read: == becomes !=`,
		`reader.go:16: Read: "one" becomes ""`,
		`reader.go:16: Read: "one" becomes "unused"`,
		`reader.go:19: Read: None becomes Many`,
		`reader.go:22: Read: < becomes <=`,
		`reader.go:22: Read: i++ is dropped`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no mutant %s", want)
		}
	}
	for _, never := range []string{`reader.go:19: Read: != becomes <`, `reader.go:16: Read: == becomes <`} {
		if slices.Contains(got, never) {
			t.Errorf("an order where there is none: %s", never)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

const (
	tinyReader = `package reader

func Read(text string) string {
	if text == "one" {
		return "1"
	}
	for text == "" {
	}
	return text
}
`
	tinyTest = `package reader

import "testing"

func TestOne(t *testing.T) {
	if got := Read("one"); got != "1" {
		t.Error(got)
	}
}

func TestOther(t *testing.T) {
	if got := Read("two"); got != "two" {
		t.Error(got)
	}
}
`
)

var (
	reader = mutate.Extraction{Package: "example/reader", Files: []string{"reader.go"}}
	never  = mutate.Claim{File: "reader.go", Func: "Read", Line: `for text == "" {`, What: []string{`for text == "" { … is dropped`}, Why: "no text is empty"}
)

// module writes a module of one package with its test.
func module(t *testing.T, code, test string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example/reader\n\ngo 1.24\n", "reader.go": code, "reader_test.go": test} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func try(t *testing.T, ctx context.Context, test string, sample int, list ...mutate.Claim) (mutate.TestReport, error) {
	t.Helper()
	return mutate.TryTests(ctx, module(t, tinyReader, test), reader, list, mutate.Options{Jobs: 2, Limit: 5 * time.Second, Sample: sample})
}

// TestTestsAreHeldToMutants checks what is said of mutants that a test kills, that
// end no test, that none notices, and that a claim explains.
func TestTestsAreHeldToMutants(t *testing.T) {
	report, err := try(t, t.Context(), tinyTest, 0, never)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range report.Results {
		got[r.String()] = r.KilledBy + r.Equivalent
	}
	want := map[string]string{
		`reader.go:4: Read: if text == "one" { … is dropped`: "TestOne",
		`reader.go:7: Read: for text == "" { … is dropped`:   never.Why,
		`reader.go:4: Read: == becomes !=`:                   "TestOne",
		`reader.go:4: Read: "one" becomes "1"`:               "TestOne",
		`reader.go:4: Read: "one" becomes ""`:                "TestOne",
		`reader.go:5: Read: return "1" is dropped`:           "TestOne",
		`reader.go:5: Read: "1" becomes ""`:                  "TestOne",
		`reader.go:7: Read: == becomes !=`:                   "its time limit",
		`reader.go:7: Read: "" becomes "one"`:                "",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	const line = "9 mutants of extraction: 7 killed by the package's own tests, 1 equivalent by the reviewed list (1 more do not compile); score 87.5 %; survivors: 1"
	if report.String() != line || report.Survivors[0].Line != 7 {
		t.Errorf("got %s", report)
	}
}

// TestEveryShapeOfCodeIsMutated checks that mutants of methods, of functions with
// and without answers or names for what they are given, and of constants and
// variables are each run, and none of another's.
func TestEveryShapeOfCodeIsMutated(t *testing.T) {
	const shapes = `package reader

type set map[string]bool

const most = 1

var known = set{"a": true}

func (s *set) add(name string) {
	if len(*s) <= most {
		(*s)[name] = true
	}
}

func (set) size(_ int) int { return 7 }

func sum(to *int, all ...int) {
	for _, n := range all {
		*to += n
	}
}
`
	const test = `package reader

import "testing"

func TestConst(t *testing.T) {
	if most != 1 {
		t.Error(most)
	}
}

func TestVar(t *testing.T) {
	if !known["a"] {
		t.Error(known)
	}
}

func TestAdd(t *testing.T) {
	s := set{}
	s.add("a")
	s.add("b")
	s.add("c")
	if len(s) != 2 || !s["b"] {
		t.Error(s)
	}
}

func TestSize(t *testing.T) {
	if n := known.size(1); n != 7 {
		t.Error(n)
	}
}

func TestSum(t *testing.T) {
	n := 0
	sum(&n, 1, 2)
	if n != 3 {
		t.Error(n)
	}
}
`
	report, err := mutate.TryTests(t.Context(), module(t, shapes, test), reader, nil, mutate.Options{Jobs: 2, Limit: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	killers := map[string]string{"most": "TestConst", "known": "TestVar", "*set.add": "TestAdd", "set.size": "TestSize", "sum": "TestSum"}
	count := map[string]int{}
	for _, r := range report.Results {
		count[r.Name]++
		if r.KilledBy != killers[r.Name] {
			t.Errorf("%s: killed by %q", r, r.KilledBy)
		}
	}
	if len(count) != len(killers) {
		t.Errorf("mutants of %v", count)
	}
}

func TestClaimsAreHeldToTheCode(t *testing.T) {
	killed := never
	killed.Line, killed.What = `if text == "one" {`, []string{`if text == "one" { … is dropped`}
	if _, err := try(t, t.Context(), tinyTest, 1, killed); !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "called equivalent, and killed by TestOne") {
		t.Errorf("a claim that a test refutes: %v", err)
	}
	gone := never
	gone.Line = `for text == "x" {`
	if _, err := try(t, t.Context(), tinyTest, 1, gone); !fault.Is(err, fault.NotFound) {
		t.Errorf("a claim about a line that is gone: %v", err)
	}
	second := never
	second.Nth = 2
	if _, err := try(t, t.Context(), tinyTest, 1, second); !fault.Is(err, fault.NotFound) {
		t.Errorf("a claim about the second of one: %v", err)
	}
	for name, text := range map[string]string{
		"no TOML":          "[[equivalent",
		"an unknown word":  "[[equivalent]]\nwhy = \"x\"\nreason = \"y\"",
		"an unknown table": "[[same]]\nwhy = \"x\"",
		"no reason":        "[[equivalent]]\nfile = \"a.go\"\nwhy = \" \"",
	} {
		if _, err := mutate.ReadClaims(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := mutate.ReadClaims("[[equivalent]]\nfile = \"a.go\"\nwhy = \"x\""); err != nil || len(list) != 1 || list[0].File != "a.go" {
		t.Errorf("a claim: %v, %v", list, err)
	}
}

// TestClaimsOfTheTree checks that every claim is about a line that is still there;
// a run of the mutants checks the rest.
func TestClaimsOfTheTree(t *testing.T) {
	list, err := mutate.Claims()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, x := range mutate.Extractions {
		files = append(files, x.Files...)
	}
	for _, c := range list {
		if !slices.Contains(files, c.File) {
			t.Errorf("a claim about %s, which has no mutants", c.File)
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.File)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.TrimSpace(line) == c.Line }) {
			t.Errorf("%s has no line %s any more", c.File, c.Line)
		}
	}
}

func TestTestsThatFailAnywayKillNothing(t *testing.T) {
	failing := strings.Replace(tinyTest, `got != "two"`, `got != "2"`, 1)
	if _, err := try(t, t.Context(), failing, 1); !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "TestOther of example/reader fails without any change") {
		t.Errorf("a test that fails: %v", err)
	}
	if _, err := try(t, t.Context(), "package reader\n\nfunc broken( {}\n", 1); !fault.Is(err, fault.Failed) {
		t.Errorf("tests that do not compile: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := try(t, stopped, tinyTest, 1); err == nil {
		t.Error("a run that was stopped has a report")
	}
	if _, err := mutate.TryTests(t.Context(), t.TempDir(), reader, nil, mutate.Options{}); err == nil {
		t.Error("a directory without a module has a report")
	}
}
