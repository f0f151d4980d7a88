package tools

import (
	"strings"
	"testing"

	"world/canon"
	"world/coordinator/capsule/starlark"
	"world/store"
)

// finishedWith runs a transition's finish phase on one result.
func finishedWith(t *testing.T, id store.TransitionID, args, result string) string {
	t.Helper()
	input := `{"args":` + args + `,"phase":"finish","results":[` + result + `]}`
	answer, err := starlark.Eval(builtin(t, id).Source, input, starlark.MaxSteps)
	if err != nil {
		t.Fatalf("%s %s: %v", id, input, err)
	}
	v, err := canon.Parse([]byte(answer), canon.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return string(v.Bytes())
}

// printed is a result whose command printed something.
func printed(effect, stdout string) string {
	return `{"effect":"` + effect + `","id":"e1","output":{"argv":["x"],"exit_code":1,"ok":false,"stdout":` +
		string(canon.NewString(stdout).Bytes()) + `},"record":null,"status":"ok"}`
}

func TestFinishOfACheck(t *testing.T) {
	for stdout, want := range map[string]string{
		`{"check":{"passed":true,"error_count":0,"errors":[]},"verify":{"available":false}}`:          `{"error_count":0,"errors":[],"ok":true,"passed":true}`,
		`{"check":{"passed":false,"error_count":1,"errors":[{"code":"E","message":"m","file":"a"}]}}`: `{"error_count":1,"errors":[{"code":"E","file":"a","message":"m"}],"ok":true,"passed":false}`,
		`{"check":{"passed":true}}`: `{"error_count":0,"errors":[],"ok":true,"passed":true}`,
	} {
		if got := finishedWith(t, "ailang-check", `{"path":"a"}`, printed("Ailang.Check", stdout)); got != want {
			t.Errorf("%s: %s", stdout, got)
		}
	}
	const unreadable = `{"ok":false,"refused":"the check of a gave no readable report"}`
	for _, stdout := range []string{"", "no JSON", "null", "[]", "{}", `{"check":[]}`, `{"check":{"passed":"yes"}}`, `{"check":{"passed":true,"errors":{}}}`} {
		if got := finishedWith(t, "ailang-check", `{"path":"a"}`, printed("Ailang.Check", stdout)); got != unreadable {
			t.Errorf("%s: %s", stdout, got)
		}
	}
}

// TestFinishOfWhatDidNotHappen: every transition that finishes tells a denial, a
// failure and a refusal in the same words.
func TestFinishOfWhatDidNotHappen(t *testing.T) {
	for id, args := range map[store.TransitionID]string{"ailang-check": `{"path":"a"}`, "builtins-search": `{}`} {
		effect := string(builtin(t, id).Declared[0].Effect)
		for status, want := range map[string]string{
			"denied": `{"ok":false,"refused":"the ` + effect + ` effect ended denied","status":"denied"}`,
			"failed": `{"ok":false,"refused":"the ` + effect + ` effect ended failed","status":"failed"}`,
		} {
			if got := finishedWith(t, id, args, `{"effect":"`+effect+`","id":"e1","output":null,"record":null,"status":"`+status+`"}`); got != want {
				t.Errorf("%s: %s", id, got)
			}
		}
		refused := `{"effect":"` + effect + `","id":"e1","output":{"ok":false,"refused":"no"},"record":null,"status":"ok"}`
		if got := finishedWith(t, id, args, refused); got != `{"ok":false,"refused":"no"}` {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestFinishOfBuiltins(t *testing.T) {
	const listed = "Total: 3 builtins\nreadFile [FS] std/fs\nprintln [IO] std/io\nfs.read [FS] starlark\n"
	for args, want := range map[string]string{
		`{"query":"READ"}`:                   `{"count":2,"cut":false,"matches":[{"effect":"FS","module":"std/fs","name":"readFile"},{"effect":"FS","module":"starlark","name":"fs.read"}],"ok":true}`,
		`{"query":"read","module":"std/fs"}`: `{"count":1,"cut":false,"matches":[{"effect":"FS","module":"std/fs","name":"readFile"}],"ok":true}`,
		`{"module":"fs"}`:                    `{"count":1,"cut":false,"matches":[{"effect":"FS","module":"std/fs","name":"readFile"}],"ok":true}`,
		`{"query":"none"}`:                   `{"count":0,"cut":false,"matches":[],"ok":true}`,
	} {
		if got := finishedWith(t, "builtins-search", args, printed("Ailang.Discover", listed)); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
	many := "Total: 12 builtins\n" + strings.Repeat("x [pure] m\n", 12)
	if got := finishedWith(t, "builtins-search", `{"query":"x"}`, printed("Ailang.Discover", many)); !strings.HasPrefix(got, `{"count":12,"cut":true,`) || strings.Count(got, `"name"`) != 10 {
		t.Errorf("%s", got)
	}
	if got := finishedWith(t, "builtins-search", `{}`, printed("Ailang.Discover", many)); !strings.HasPrefix(got, `{"count":12,"cut":false,`) || strings.Count(got, `"name"`) != 12 {
		t.Errorf("%s", got)
	}
	for _, broken := range []string{"", "x", "Total: 2 builtins\nx [pure] m\n", "Total: x builtins\n", "Total: 1 builtins\nx pure m\n", "Total: 1 builtins\nx [pure\n…[truncated]"} {
		if got := finishedWith(t, "builtins-search", `{}`, printed("Ailang.Discover", broken)); got != `{"ok":false,"refused":"the list of builtins is cut or unreadable"}` {
			t.Errorf("%q: %s", broken, got)
		}
	}
}
