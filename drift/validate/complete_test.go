package validate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
)

// No shape of Go hides a law from the list of functions.
func TestALawCannotHide(t *testing.T) {
	const lawFile, planFile = "broker/law/extra.go", "coordinator/plan/extra.go"
	for _, row := range []struct {
		name    string
		subject validate.Subject
		file    string
		text    string
		says    string // "" for what is fine
	}{
		{"a function value", validate.Law, lawFile, "var Extra = func(a int64) int64 { return a }", ":3: variable Extra is outside the subset"},
		{"an alias of a function", validate.Law, lawFile, "var Extra = Seed", ":3: variable Extra is outside the subset"},
		{"a table", validate.Law, lawFile, "var Extra = map[Verdict]int64{Allowed: 1}", ":3: variable Extra is outside the subset"},
		{"a variable without a value", validate.Law, lawFile, "var (\n\tExtra func(int64) int64\n)", ":4: variable Extra is outside the subset"},
		{"a function nobody can call", validate.Law, lawFile, "var _ = func() int64 { return 1 }", ":3: variable _ is not proved"},
		{"a function", validate.Law, lawFile, "func Extra(a int64) int64 { return a }", ":3: function Extra is not proved"},
		{"a method", validate.Law, lawFile, "func (g Grant) Extra() int64 { return g.Budget }", ":3: function Grant.Extra is not proved"},
		{"a generic function", validate.Law, lawFile, "func Extra[T any](a T) T { return a }", ":3: type T is outside the subset"},
		{"an init function", validate.Law, lawFile, "func init() {}", ":3: a function of 0 results is outside the subset"},
		{"a function without a body", validate.Law, lawFile, "func Extra(a int64) int64", ":3: a function without a body is outside the subset"},
		{"a constant", validate.Law, lawFile, "const Extra = 1", ""},
		{"a type", validate.Law, lawFile, "type Extra func(int64) int64", ""},

		{"a function", validate.Plan, planFile, "func Extra(a int64) int64 { return a }", ":3: function Extra is not proved"},
		{"a method", validate.Plan, planFile, "func (v Verdict) Extra() bool { return v == Lawful }", ":3: function Verdict.Extra is not proved"},
		{"a method of a pointer", validate.Plan, planFile, "func (f *Facts) Extra() bool { return f.Finish }", ":3: function Facts.Extra is not proved"},
		{"a method of a generic type", validate.Plan, planFile, "type extra[T any] struct{}\n\nfunc (extra[T]) Judge(f Facts) bool { return f.Finish }", ":5: function ?.Judge is not proved"},
		{"an init function", validate.Plan, planFile, "func init() {}", ":3: function init is not proved"},
		{"a function value", validate.Plan, planFile, "var Extra = func(a int64) int64 { return a }", ":3: variable Extra is not proved: it holds a function"},
		{"an alias of a function", validate.Plan, planFile, "var Extra = JudgeSize", ":3: variable Extra is not proved: it holds a function"},
		{"functions in a table", validate.Plan, planFile, "var Extra = map[string][]struct{ f func(Facts) Verdict }{}", ":3: variable Extra is not proved: it holds a function"},
		{"a function behind an interface", validate.Plan, planFile, "var Extra any = JudgeSize", ":3: variable Extra is not proved: a function is in its value"},
		{"a literal behind an interface", validate.Plan, planFile, "var Extra = []any{1, func() {}}", ":3: variable Extra is not proved: a function is in its value"},
		{"a variable in the file of the laws", validate.Plan, "", "var Extra = 1", ": variable Extra is outside the subset"},
		{"a table", validate.Plan, planFile, "var Extra = map[string]Verdict{\"a\": Lawful}", ""},
		{"a value of a call", validate.Plan, planFile, "var Extra = (JudgeSize)(Facts{})", ""},
	} {
		source := load(t, row.subject)
		name, text := "law", source.Files[row.file]
		if row.subject.Package == validate.Plan.Package {
			name = "plan"
		}
		file := row.file
		if file == "" {
			file = "coordinator/plan/laws.go"
			text = append(append(text, source.Files[file]...), "\n"+row.text+"\n"...)
		} else {
			text = []byte("package " + name + "\n\n" + row.text + "\n")
		}
		_, err := validate.Prepare(row.subject, source.With(file, text), book(t))
		switch {
		case row.says == "" && err != nil:
			t.Errorf("%s, %s: %v", name, row.name, err)
		case row.says != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(fault.Public(err), file) || !strings.Contains(fault.Public(err), row.says)):
			t.Errorf("%s, %s: got %v, want %s%s", name, row.name, err, file, row.says)
		}
	}
}

// The list of functions that read is no longer than the package.
func TestTheListOfReadersIsExact(t *testing.T) {
	source := load(t, validate.Plan)
	if _, err := validate.Prepare(validate.Plan, source, book(t)); err != nil {
		t.Fatal(err)
	}
	more := validate.Plan
	more.Reading = append([]string{"Gone"}, more.Reading...)
	if _, err := validate.Prepare(more, source, book(t)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "function Gone is on the list") {
		t.Errorf("got %v", err)
	}
	fewer := validate.Plan
	fewer.Reading = fewer.Reading[1:]
	if _, err := validate.Prepare(fewer, source, book(t)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "coordinator/plan/parse.go:") {
		t.Errorf("got %v", err)
	}
}

// A file that another machine would compile is not passed over.
func TestAFileLeftOutIsRefused(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example\n\ngo 1.24\n", "law.go": "package law\n", "law_windows_test.go": "package law\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ssasmt.Load(dir, "example"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "law_windows.go"), []byte("package law\n\nfunc Extra() bool { return true }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ssasmt.Load(dir, "example"); !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Public(err), "law_windows.go of example is left out") {
		t.Errorf("got %v", err)
	}
}
