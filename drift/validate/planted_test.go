package validate_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"world/drift/ssasmt"
	"world/drift/validate"
)

// planted are bugs that people make, and the function in which each must be found.
var planted = []struct{ name, file, old, new, in string }{
	{"live at the moment of expiry", "decide.go", "r.Now >= g.ExpiresAt", "r.Now > g.ExpiresAt", "Judge"},
	{"time before zero", "decide.go", "r.Now < 0 || r.Now", "r.Now", "Judge"},
	{"no expiry", "decide.go", "r.Now < 0 || r.Now >= g.ExpiresAt", "r.Now < 0", "Judge"},
	{"negative cost", "decide.go", "r.Cost < 0 || g.Budget", "g.Budget", "Judge"},
	{"last unit refused", "decide.go", "r.Cost > g.Budget", "r.Cost >= g.Budget", "Judge"},
	{"difference that wraps", "decide.go", "r.Cost < 0 || g.Budget < 0 || r.Cost > g.Budget", "r.Cost < 0 || g.Budget-r.Cost < 0", "Judge"},
	{"scope before effect", "decide.go", "if g.Effect != r.Effect {\n\t\treturn DeniedEffectName\n\t}\n\tif g.Scope != r.Scope {\n\t\treturn DeniedScope\n\t}",
		"if g.Scope != r.Scope {\n\t\treturn DeniedScope\n\t}\n\tif g.Effect != r.Effect {\n\t\treturn DeniedEffectName\n\t}", "Judge"},
	{"effect compared with scope", "decide.go", "g.Effect != r.Effect", "string(g.Effect) != string(r.Scope)", "Judge"},
	{"empty scope means any", "decide.go", "g.Scope != r.Scope", "g.Scope != \"\" && g.Scope != r.Scope", "Judge"},
	{"one effect is special", "decide.go", "if g.Effect != r.Effect {", "if g.Effect != r.Effect && r.Effect != \"Human.Approve\" {", "Judge"},
	{"a leading byte opens it", "decide.go", "if g.Scope != r.Scope {", "if g.Scope != r.Scope && !(len(r.Scope) > 0 && r.Scope[0] == '*') {", "Judge"},
	{"one number is special", "decide.go", "return Allowed\n}", "if r.Cost == 123456789 {\n\t\treturn DeniedBudget\n\t}\n\treturn Allowed\n}", "Judge"},
	{"ties to the latest", "decide.go", "v > best.Verdict", "v >= best.Verdict", "Decide"},
	{"only the first grant counts", "decide.go", "if v > best.Verdict {", "if i == 0 && v > best.Verdict {", "Decide"},
	{"the third grant is skipped", "decide.go", "v := Judge(*g, r)", "if i == 2 {\n\t\t\tcontinue\n\t\t}\n\t\tv := Judge(*g, r)", "Decide"},
	{"debit of an allowed decision lost", "decide.go", "Remaining: g.Budget - r.Cost}", "Remaining: g.Budget}", "Decide"},
	{"budget before is after", "decide.go", "BudgetBefore: g.Budget, Remaining: g.Budget - r.Cost", "BudgetBefore: g.Budget - r.Cost, Remaining: g.Budget", "Decide"},
	{"nobody is the first grant", "decide.go", "Grant: -1", "Grant: 0", "Decide"},
	{"denied all the same", "decide.go", "if Judge(g, r) == Allowed {\n\t\tg.Budget", "if Judge(g, r) >= DeniedBudget {\n\t\tg.Budget", "Debit"},
	{"debit of one", "decide.go", "g.Budget -= r.Cost", "g.Budget--", "Debit"},
	{"a label misspelt", "law.go", `"denied:scope"`, `"denied:scopes"`, "Verdict.Label"},
	{"a label of its neighbour", "law.go", `return "denied:expired"`, `return "denied:budget"`, "Verdict.Label"},
	{"no panic", "law.go", `panic("law: verdict outside its enumeration")`, `return "allowed"`, "Verdict.Label"},
	{"a verdict renumbered", "law.go", "DeniedScope                     // a grant exists, but for a different scope\n\tDeniedExpired", "DeniedExpired\n\tDeniedScope", "Judge"},
	{"spent budget revived", "seed.go", "if spent >= budget {\n\t\treturn 0\n\t}\n", "", "Seed"},
	{"negative spend refunds", "seed.go", "if spent <= 0 {\n\t\treturn budget\n\t}\n", "", "Seed"},
	{"sum that wraps", "seed.go", "if a > maxSpend-b {\n\t\treturn maxSpend\n\t}\n", "", "Plus"},
	{"saturates too soon", "seed.go", "1<<63 - 1", "1<<62 - 1", "Plus"},
}

// rewrites say the same in other words.
var rewrites = []struct{ name, file, old, new, in string }{
	{"checks nested", "decide.go", "if r.Now < 0 || r.Now >= g.ExpiresAt {", "if !(0 <= r.Now && g.ExpiresAt > r.Now) {", "Judge"},
	{"redundant check dropped", "decide.go", "r.Cost < 0 || g.Budget < 0 || r.Cost > g.Budget", "r.Cost < 0 || r.Cost > g.Budget", "Judge"},
	{"difference behind its guard", "decide.go", "r.Cost < 0 || g.Budget < 0 || r.Cost > g.Budget", "r.Cost < 0 || g.Budget < 0 || g.Budget-r.Cost < 0", "Judge"},
	{"loop by value", "decide.go", "for i := range grants {\n\t\tg := &grants[i]\n\t\tv := Judge(*g, r)", "for i, g := range grants {\n\t\tv := Judge(g, r)", "Decide"},
	{"loop by index", "decide.go", "for i := range grants {", "for i := 0; i < len(grants); i++ {", "Decide"},
	{"break at the first that allows", "decide.go", "return Decision{Verdict: Allowed, Grant: i, BudgetBefore: g.Budget, Remaining: g.Budget - r.Cost}\n\t\t}", "best = Decision{Verdict: Allowed, Grant: i, BudgetBefore: g.Budget, Remaining: g.Budget - r.Cost}\n\t\t\tbreak\n\t\t}", "Decide"},
	{"no early end", "decide.go", "if v == Allowed {\n\t\t\treturn Decision{Verdict: Allowed, Grant: i, BudgetBefore: g.Budget, Remaining: g.Budget - r.Cost}\n\t\t}\n\t\tif v > best.Verdict {\n\t\t\tbest = Decision{Verdict: v, Grant: i, BudgetBefore: g.Budget, Remaining: g.Budget}",
		"if v > best.Verdict {\n\t\t\tbest = Decision{Verdict: v, Grant: i, BudgetBefore: g.Budget, Remaining: Debit(*g, r).Budget}", "Decide"},
	{"an empty list apart", "decide.go", "\tfor i := range grants {", "\tif len(grants) == 0 {\n\t\treturn best\n\t}\n\tfor i := range grants {", "Decide"},
	{"a switch", "seed.go", "if budget <= 0 {\n\t\treturn 0\n\t}\n\tif spent <= 0 {\n\t\treturn budget\n\t}", "switch {\n\tcase budget <= 0:\n\t\treturn 0\n\tcase spent <= 0:\n\t\treturn budget\n\t}", "Seed"},
	{"sum checked by wrapping", "seed.go", "if a > maxSpend-b {", "if a+b < 0 {", "Plus"},
}

// change replaces text that occurs once in a file of the law.
func change(t *testing.T, source *ssasmt.Source, file, old, new string) *ssasmt.Source {
	t.Helper()
	name := "broker/law/" + file
	text := string(source.Files[name])
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q occurs %d times in %s", old, strings.Count(text, old), name)
	}
	return source.With(name, []byte(strings.Replace(text, old, new, 1)))
}

func TestPlantedBugsAreRefuted(t *testing.T) {
	source := load(t, validate.Law)
	found := map[string]*validate.Counterexample{}
	variants := map[string]*ssasmt.Source{}
	for i, bug := range planted { // by z3 and by cvc5 in turn
		variant := change(t, source, bug.file, bug.old, bug.new)
		task, err := validate.Prepare(validate.Law, variant, book(t))
		if err != nil {
			t.Fatalf("%s: %v", bug.name, err)
		}
		against, err := task.Refute(t.Context(), options().Solvers[i%2], options().Limit, bug.in)
		if err != nil || against == nil {
			t.Errorf("%s: no counterexample against %s: %v", bug.name, bug.in, err)
			continue
		}
		t.Logf("%s: %s", bug.name, against)
		found[bug.name], variants[bug.name] = against, variant
	}
	wrong := compiledWrong(t, variants, found)
	for name := range found {
		if !wrong[name] {
			t.Errorf("%s: the compiled law does not answer wrongly: %s", name, found[name])
		}
	}
}

func TestCorrectRewritesAreProved(t *testing.T) {
	source := load(t, validate.Law)
	for _, r := range rewrites {
		for _, v := range prove(t, validate.Law, change(t, source, r.file, r.old, r.new), options(), r.in) {
			if !v.Proved() {
				t.Errorf("%s: %s is not proved: %s", r.name, v.Func.Name, v.Against)
			}
		}
	}
}

// A counterexample that is none must not be confirmed by running it.
func TestRunningTellsARealCounterexample(t *testing.T) {
	source := load(t, validate.Law)
	bug := planted[0]
	variant := change(t, source, bug.file, bug.old, bug.new)
	against := prove(t, validate.Law, variant, options(), bug.in)[0].Against
	got := compiledWrong(t,
		map[string]*ssasmt.Source{"bug": variant, "law": source},
		map[string]*validate.Counterexample{"bug": against, "law": against})
	if !got["bug"] || got["law"] {
		t.Errorf("wrong by running: %v, want the bug alone", got)
	}
}

// compiledWrong compiles the variants into one program, runs each on its
// counterexample, and returns those that do not answer as the model.
func compiledWrong(t *testing.T, variants map[string]*ssasmt.Source, against map[string]*validate.Counterexample) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	imports, calls, n := "", "", 0
	for name, c := range against {
		n++
		pkg := fmt.Sprintf("v%d", n)
		for file, text := range variants[name].Files {
			write(pkg+"/"+filepath.Base(file), string(text))
		}
		imports += fmt.Sprintf("\t%s \"variants/%s\"\n", pkg, pkg)
		calls += fmt.Sprintf("\tcheck(%q, %t, func() bool { return %s == %s })\n", name, c.MustPanic, goCall(pkg, c), c.Wanted.Go(pkg+"."))
	}
	write("go.mod", "module variants\n\ngo 1.26\n")
	write("main.go", "package main\n\nimport (\n\t\"fmt\"\n"+imports+")\n\nfunc main() {\n"+calls+`}

func check(name string, mustPanic bool, right func() bool) {
	panicked := true
	defer func() {
		recover()
		if panicked != mustPanic {
			fmt.Println(name)
		}
	}()
	ok := right()
	panicked = false
	if !ok && !mustPanic {
		fmt.Println(name)
	}
}
`)
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wrong := map[string]bool{}
	for _, name := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		wrong[name] = true
	}
	return wrong
}

func goCall(pkg string, c *validate.Counterexample) string {
	var args []string
	for _, a := range c.Args {
		args = append(args, a.Go(pkg+"."))
	}
	if of, method, ok := strings.Cut(c.Func.Name, "."); ok {
		return fmt.Sprintf("%s.%s(%s).%s(%s)", pkg, of, args[0], method, strings.Join(args[1:], ", "))
	}
	return fmt.Sprintf("%s.%s(%s)", pkg, c.Func.Name, strings.Join(args, ", "))
}
