package ssasmt_test

import (
	"errors"
	"strings"
	"testing"

	"world/drift/ssasmt"
	"world/fault"
)

// Each body is outside the subset at the line that carries the mark.
var outside = []struct{ name, text, want string }{
	{"map", "func F(m map[string]int) int { // here\n\treturn m[\"a\"]\n}", "type map[string]int"},
	{"pointer parameter", "func F(p *int) int { // here\n\treturn *p\n}", "type *int"},
	{"pointer argument", "func F(n int) int {\n\treturn g(&n) // here\n}\nfunc g(p *int) int { return *p }", "a pointer that is not read at once"},
	{"closure", "func F(n int) int {\n\tf := func() int { return n } // here\n\treturn f()\n}", "a function literal"},
	{"function value", "func F(n int) int {\n\tf := g // here\n\tif n > 0 {\n\t\tf = h\n\t}\n\treturn f(n)\n}\nfunc g(n int) int { return n }\nfunc h(n int) int { return -n }", "value func(n int) int"},
	{"interface", "func F(n int) bool {\n\tx := any(n) // here\n\treturn x == nil\n}", "an interface"},
	{"division", "func F(a, b int64) int64 {\n\treturn a / b // here\n}", "operator / on int64"},
	{"remainder", "func F(a int64) int64 {\n\treturn a % 7 // here\n}", "operator % on int64"},
	{"shift", "func F(a int64) int64 {\n\treturn a << 3 // here\n}", "type uint"},
	{"bitwise and", "func F(a int64) int64 {\n\treturn a & 3 // here\n}", "operator & on int64"},
	{"other width", "func F(a int32) int32 { // here\n\treturn a\n}", "type int32"},
	{"unsigned", "func F(a uint64) bool { // here\n\treturn a > 0\n}", "type uint64"},
	{"float", "func F(a float64) bool { // here\n\treturn a > 0\n}", "type float64"},
	{"text order", "func F(a, b string) bool {\n\treturn a < b // here\n}", "operator < on string"},
	{"text join", "func F(a, b string) string {\n\treturn a + b // here\n}", "operator + on string"},
	{"text slice", "func F(a string) string {\n\treturn a[1:] // here\n}", "instruction slice"},
	{"text from byte", "func F(b byte) string {\n\treturn string(b) // here\n}", "this conversion"},
	{"range over text", "func F(s string) int {\n\tn := 0\n\tfor range s { // here\n\t\tn++\n\t}\n\treturn n\n}", "a loop whose test is not index < length"},
	{"array", "func F(a [4]int) int { // here\n\treturn a[0]\n}", "type [4]int"},
	{"element elsewhere", "func F(l []int) int {\n\tfor i := range l {\n\t\tif l[i] == l[0] { // here\n\t\t\treturn i\n\t\t}\n\t}\n\treturn 0\n}", "an element other than that of the current turn"},
	{"element without loop", "func F(l []int) int {\n\treturn l[0] // here\n}", "an element other than that of the current turn"},
	{"store into list", "func F(l []int) int {\n\tfor i := range l {\n\t\tl[i] = 0 // here\n\t}\n\treturn 0\n}", "a store into a list"},
	{"two lists", "func F(l, m []int) int {\n\tfor i := range l {\n\t\tif m[i] == 0 { // here\n\t\t\treturn i\n\t\t}\n\t}\n\treturn 0\n}", "an element other than that of the current turn"},
	{"second loop", "func F(l, m []int) int {\n\tn := 0\n\tfor range l {\n\t}\n\tfor range m { // here\n\t\tn++\n\t}\n\treturn n\n}", "a second loop"},
	{"nested loop", "func F(l, m []int) int {\n\tn := 0\n\tfor range l { // here\n\t\tn--\n\t\tfor range m {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", "a second loop"},
	{"loop from one", "func F(s string) int {\n\tn := 0\n\tfor i := 1; i < len(s); i++ { // here\n\t\tn++\n\t}\n\treturn n\n}", "a loop whose index does not go up by one from zero"},
	{"loop by two", "func F(s string) int {\n\tn := 0\n\tfor i := 0; i < len(s); i += 2 { // here\n\t\tn++\n\t}\n\treturn n\n}", "a loop whose index does not go up by one from zero"},
	{"loop moved inside", "func F(s string) int {\n\tn := 0\n\tfor i := 0; i < len(s); i++ { // here\n\t\tif s[i] == 'a' {\n\t\t\ti++\n\t\t}\n\t\tn++\n\t}\n\treturn n\n}", "a loop whose index does not go up by one from zero"},
	{"loop to equal", "func F(s string) int {\n\tn := 0\n\tfor i := 0; i <= len(s); i++ { // here\n\t\tn++\n\t}\n\treturn n\n}", "a loop whose test is not index < length"},
	{"loop without end", "func F(n int) int {\n\tfor { // here\n\t\tn++\n\t}\n}", "a loop that does not test its index first"},
	{"loop over a local", "func F(s string) int {\n\tn := 0\n\tt := s\n\tif s == \"\" {\n\t\tt = \"x\"\n\t}\n\tfor i := 0; i < len(t); i++ { // here\n\t\tn++\n\t}\n\treturn n\n}", "a loop over what is not a parameter"},
	{"range over number", "func F(n int) int {\n\tm := 0\n\tfor range n { // here\n\t\tm++\n\t}\n\treturn m\n}", "a loop whose test is not index < length"},
	{"recursion", "func F(n int) int { // here\n\tif n <= 0 {\n\t\treturn 0\n\t}\n\treturn F(n - 1)\n}", "recursion"},
	{"two results", "func F(n int) (int, bool) { // here\n\treturn n, true\n}", "a function of 2 results"},
	{"no result", "func F(n int) { // here\n}", "a function of 0 results"},
	{"variadic", "func F(n ...int) int { // here\n\treturn 0\n}", "a variadic function"},
	{"generic", "func F[T any](n T) T { // here\n\treturn n\n}", "type T"},
	{"defer", "func F(n int) int { // here\n\tdefer g(n)\n\treturn n\n}\nfunc g(n int) int { return n }", "a deferred call"},
	{"goroutine", "func F(n int) int {\n\tgo g(n) // here\n\treturn n\n}\nfunc g(n int) int { return n }", "instruction go"},
	{"global", "var limit int = 3\nfunc F(n int) bool {\n\treturn n < limit // here\n}", "global variable limit"},
	{"pointer method", "type T struct{ n int }\nfunc (t *T) M() int { // here\n\treturn t.n\n}", "a method of a pointer"},
	{"init", "func init() { // here\n}", "a function of 0 results"},
	{"builtin", "func F(a, b int) int {\n\treturn min(a, b) // here\n}", "builtin min"},
	{"anonymous struct", "func F(s struct{ n int }) int { // here\n\treturn s.n\n}", "type struct{n int}"},
}

func translate(text string) (*ssasmt.Unit, error) {
	checked, err := ssasmt.FromText("law", map[string][]byte{"broker/law/law.go": []byte("package law\n" + text)}).Check()
	if err != nil {
		return nil, err
	}
	return checked.Translate()
}

func TestOutsideTheSubsetIsRefused(t *testing.T) {
	for _, c := range outside {
		t.Run(c.name, func(t *testing.T) {
			_, err := translate(c.text)
			var refusal *ssasmt.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal", err)
			}
			line := 2 + strings.Count(c.text[:strings.Index(c.text, "// here")], "\n")
			if refusal.File != "broker/law/law.go" || refusal.Line != line || !strings.HasPrefix(refusal.What, c.want) {
				t.Errorf("got %v, want broker/law/law.go:%d: %s", refusal, line, c.want)
			}
		})
	}
}

// The neighbours of what is refused are in the subset.
func TestInsideTheSubset(t *testing.T) {
	for name, text := range map[string]string{
		"loop by one":      "func F(s string) int {\n\tn := 0\n\tfor i := 0; i < len(s); i++ {\n\t\tn++\n\t}\n\treturn n\n}",
		"range with break": "func F(l []int) int {\n\tn := 0\n\tfor i, e := range l {\n\t\tif e == 3 {\n\t\t\tbreak\n\t\t}\n\t\tn += i\n\t}\n\treturn n\n}",
		"loop and length":  "func F(l, m []int) int {\n\tfor range l {\n\t}\n\treturn len(m)\n}",
		"element pointer":  "func F(l []int) int {\n\tfor i := range l {\n\t\tp := &l[i]\n\t\tif *p == 3 {\n\t\t\treturn i\n\t\t}\n\t}\n\treturn 0\n}",
		"any text index":   "func F(s string, n int) byte {\n\treturn s[n]\n}",
		"bytes":            "func F(a byte) int {\n\treturn int(a-'a') + int(byte(300-int(a)))\n}",
		"call":             "func F(n int) int { return g(n) }\nfunc g(n int) int { return -n }",
		"embedded":         "type A struct{ N int }\ntype B struct{ A }\nfunc F(b B) int {\n\tb.N++\n\treturn b.N\n}",
		"panic":            "func F(n int) int {\n\tif n < 0 {\n\t\tpanic(\"law: negative\")\n\t}\n\treturn n\n}",
		"unnamed":          "func F(int, _ bool) int { return 0 }",
	} {
		if _, err := translate(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextThatIsNotGo(t *testing.T) {
	for name, text := range map[string]string{
		"syntax": "func F( int {", "types": "func F(n int) bool { return n }",
		"import": "import \"os\"\nfunc F() int { return os.Getpid() }",
	} {
		if _, err := translate(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
}

func TestOnlyTheFilesAskedFor(t *testing.T) {
	files := map[string][]byte{
		"plan/law.go":     []byte("package plan\nfunc Law(n int) bool { return n == 1 }\n"),
		"plan/extract.go": []byte("package plan\nfunc extract(m map[string]int) int { return m[\"n\"] }\nfunc Uses(n int) bool { return Law(n) }\n"),
		"plan/outside.go": []byte("package plan\nfunc Calls(n int) bool { return Uses(n) }\n"),
	}
	checked, err := ssasmt.FromText("plan", files).Check()
	if err != nil {
		t.Fatal(err)
	}
	unit, err := checked.Translate("plan/law.go")
	if err != nil || len(unit.Funcs) != 1 || unit.Function("Law") == nil {
		t.Fatalf("got %v, %v", unit, err)
	}
	if _, err := checked.Translate(); err == nil {
		t.Error("the whole package was translated, extraction and all")
	}
	if _, err := checked.Translate("plan/outside.go"); err == nil || !strings.Contains(err.Error(), "plan/outside.go:2: a call of") {
		t.Errorf("a call that leaves the files: got %v", err)
	}
}

// A replaced file is judged by the shorter way as by the whole one.
func TestCompilesAnswersAsCheck(t *testing.T) {
	source := ssasmt.FromText("law", map[string][]byte{
		"a.go": []byte("package law\n\nconst Most = 3\n\nfunc Less(n int) bool { return n < Most }\n"),
		"b.go": []byte("package law\n\nfunc Twice(n int) bool { return Less(n + n) && n != [2]int{}[Most-2] }\n"),
	})
	checked, err := source.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, text string
		want             bool
	}{
		{"the same", "a.go", string(source.Files["a.go"]), true},
		{"another body", "a.go", "package law\n\nconst Most = 2\n\nfunc Less(n int) bool { return n > Most }\n", true},
		{"no Go", "a.go", "package law\n\nfunc Less(", false},
		{"an import without use", "a.go", "package law\n\nimport \"unsafe\"\n\nconst Most = 3\n\nfunc Less(n int) bool { return n < Most }\n", false},
		{"the other file's call does not fit", "a.go", "package law\n\nconst Most = 3\n\nfunc Less(n string) bool { return n < \"\" }\n", false},
		{"the other file's index is outside", "a.go", "package law\n\nconst Most = 4\n\nfunc Less(n int) bool { return n < Most }\n", false},
		{"a variable without use", "b.go", "package law\n\nfunc Twice(n int) bool {\n\tm := n\n\treturn Less(n)\n}\n", false},
		{"a file more", "c.go", "package law\n\nfunc More(n int) bool { return !Less(n) }\n", true},
		{"a file that says it again", "c.go", "package law\n\nconst Most = 3\n", false},
	} {
		_, err := source.With(c.file, []byte(c.text)).Check()
		if got := checked.Compiles(c.file, []byte(c.text)); got != c.want || got != (err == nil) {
			t.Errorf("%s: compiles %t, want %t; check says %v", c.name, got, c.want, err)
		}
	}
}
