package validate_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
	"world/z3"
)

func options() validate.Options {
	return validate.Options{
		Solvers: []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")},
		Limit:   30 * time.Second, Jobs: runtime.NumCPU(),
	}
}

func load(t *testing.T, subject validate.Subject) *ssasmt.Source {
	t.Helper()
	source, err := ssasmt.Load(".", subject.Package)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func book(t *testing.T) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func prove(t *testing.T, subject validate.Subject, source *ssasmt.Source, o validate.Options, names ...string) []validate.Verdict {
	t.Helper()
	task, err := validate.Prepare(subject, source, book(t))
	if err != nil {
		t.Fatal(err)
	}
	verdicts := task.Prove(t.Context(), o, names...)
	if len(verdicts) == 0 {
		t.Fatalf("no function named %v", names)
	}
	return verdicts
}

func TestEveryFunctionIsProved(t *testing.T) {
	for _, subject := range validate.Subjects {
		source := load(t, subject)
		want := declared(t, source, subject.Files)
		var got []string
		for _, v := range prove(t, subject, source, options()) {
			got = append(got, v.Func.Name)
			if !v.Proved() {
				t.Errorf("%s: %s is not proved: %v, %v", subject.Package, v.Func.Name, v.Against, v.Err())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: proved %v, declared %v", subject.Package, got, want)
		}
	}
}

// declared lists the functions of files, found by their text alone.
func declared(t *testing.T, source *ssasmt.Source, files []string) []string {
	t.Helper()
	var out []string
	for name, text := range source.Files {
		if len(files) > 0 && !slices.Contains(files, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				name := f.Name.Name
				if f.Recv != nil {
					name = f.Recv.List[0].Type.(*ast.Ident).Name + "." + name
				}
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestANewFunctionCannotBeForgotten(t *testing.T) {
	source := load(t, validate.Law)
	const file = "broker/law/decide.go"
	more := source.With(file, append(slices.Clone(source.Files[file]), "\n// Half is new.\nfunc Half(n int64) bool { return n+n == 0 }\n"...))
	_, err := validate.Prepare(validate.Law, more, book(t))
	line := strings.Count(string(source.Files[file]), "\n") + 3
	want := "broker/law/decide.go:" + itoa(line) + ": function Half is not proved"
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func itoa(n int) string {
	digits := ""
	for ; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits
}

func TestOutsideTheSubsetSaysWhere(t *testing.T) {
	source := load(t, validate.Law)
	variant := change(t, source, "seed.go", "\treturn budget - spent\n", "\treturn (budget - spent) / 1\n")
	_, err := validate.Prepare(validate.Law, variant, book(t))
	var refusal *ssasmt.Refusal
	if !errors.As(err, &refusal) || refusal.File != "broker/law/seed.go" || refusal.What != "operator / on int64" {
		t.Fatalf("got %v", err)
	}
	if line := strings.Split(string(variant.Files[refusal.File]), "\n")[refusal.Line-1]; !strings.Contains(line, "/ 1") {
		t.Errorf("line %d is %q", refusal.Line, line)
	}
}

// withBridge returns the law's subject with a bridge that says otherwise.
func withBridge(t *testing.T, old, new string) validate.Subject {
	t.Helper()
	subject := validate.Law
	if strings.Count(subject.Bridge.Text, old) != 1 {
		t.Fatalf("%q occurs %d times in the bridge", old, strings.Count(subject.Bridge.Text, old))
	}
	subject.Bridge.Text = strings.Replace(subject.Bridge.Text, old, new, 1)
	return subject
}

func TestBridgeMustFit(t *testing.T) {
	source := load(t, validate.Law)
	for _, c := range []struct{ name, old, new, want string }{
		{"syntax", "(define-fun want.Judge", "(define-fun want.Judge (", "drift/validate/law.smt2:"},
		{"no answer", "(define-fun want.Seed", "(define-fun was.Seed", "function Seed is not proved"},
		{"no such function", "(define-fun want.Seed", "(define-fun want.Seeds () Bool true)\n(define-fun want.Seed", "want.Seeds is about no function"},
		{"an assertion", "(define-fun want.Seed", "(assert false)\n(define-fun want.Seed", "a bridge holds define-fun and nothing else"},
	} {
		_, err := validate.Prepare(withBridge(t, c.old, c.new), source, book(t))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestBridgeThatIsWrongProvesNothing(t *testing.T) {
	source := load(t, validate.Law)
	for _, c := range []struct{ name, old, new, in string }{
		{"another answer", "(seed budget spent))", "(seed spent budget))", "Seed"},
		{"another numbering", "(ite (= v denied-scope) #x0000000000000001", "(ite (= v denied-scope) #x0000000000000007", "Judge"},
		{"fields exchanged", "(go.Grant.ExpiresAt g) (go.Grant.Budget g)))", "(go.Grant.Budget g) (go.Grant.ExpiresAt g)))", "Judge"},
		{"another start", "Decision nobody)", "Decision (decision denied-scope zero zero zero))", "Decide"},
		{"final too soon", "(= (verdict d) allowed))", "(= (verdict d) denied-budget))", "Decide"},
		{"always final", "(= (verdict d) allowed))", "true)", "Decide"},
		{"must always panic", "(not (= v (verdict.go (verdict.model v)))))", "true)", "Verdict.Label"},
	} {
		v := prove(t, withBridge(t, c.old, c.new), source, options(), c.in)[0]
		if v.Proved() || v.Err() != nil {
			t.Errorf("%s: proved %t, error %v", c.name, v.Proved(), v.Err())
		}
	}
}

// Hypotheses that contradict each other prove anything, and must not count.
func TestContradictionIsNoProof(t *testing.T) {
	subject := withBridge(t, "(define-fun want.Decide", "(define-fun same.Decide ((grants go.list.go.Grant) (r go.Request) (i (_ BitVec 64)) (state go.Decide.state) (d Decision)) Bool\n  (and (= i #x0000000000000000) (= d nobody) (not (= d nobody))))\n(define-fun want.Decide")
	v := prove(t, subject, load(t, validate.Law), options(), "Decide")[0]
	if v.Proved() {
		t.Fatal("proved from a relation that never holds")
	}
	for _, r := range v.Results {
		if r.Name == "turn" && r.Tries[0].Goal == z3.Unsat && r.Tries[0].Twin != z3.Unsat {
			t.Errorf("the turn is proved and its twin is %s", r.Tries[0].Twin)
		}
	}
}

func TestSolverTroubleIsNoProof(t *testing.T) {
	source := load(t, validate.Law)
	o := options()
	o.Solvers = []z3.Program{z3.Z3("z3"), z3.CVC5("/nonexistent/cvc5")}
	if v := prove(t, validate.Law, source, o, "Seed")[0]; v.Proved() || !fault.Is(v.Err(), fault.Unavailable) {
		t.Errorf("without cvc5: proved %t, error %v", v.Proved(), v.Err())
	}
	o = options()
	o.Limit = time.Nanosecond
	if v := prove(t, validate.Law, source, o, "Seed")[0]; v.Proved() || v.Refuted() || v.Err() != nil {
		t.Errorf("without time: proved %t, refuted %t, error %v", v.Proved(), v.Refuted(), v.Err())
	}
}
