package policytool

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"world/tools/lang"
)

func TestCheckOperations(t *testing.T) {
	b := newBench(t)
	b.put("good.py", "import os\nprint(os.name)\n")
	b.put("bad.py", "def f(:\n    pass\n")
	b.put("good.star", "def main():\n    fs.write('x', json.encode(args))\n")
	b.put("bad.star", "x = y\nz = w\n")
	b.put("acts.py", "open('ran', 'w').write('x')\n")
	b.put("deep.py", strings.Repeat("(", 5000))
	for path, errors := range map[string]int{"good.py": 0, "bad.py": 1, "good.star": 0, "bad.star": 2, "acts.py": 0, "deep.py": 1} {
		r := b.flagged(map[string]string{"op": "ai_check", "path": path})
		var doc struct {
			File   string
			Check  report
			Verify struct{ Available *bool }
		}
		if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil {
			t.Fatalf("%s: %v %+v", path, err, r)
		}
		if r.OK != (errors == 0) || r.ExitCode != min(errors, 1) || doc.File != path || doc.Check.Passed != r.OK || doc.Check.ErrorCount != errors ||
			len(doc.Check.Errors) != errors || doc.Verify.Available == nil || strings.Join(r.Argv, " ") != "ai-check "+path {
			t.Errorf("%s: %+v %+v", path, r, doc)
		}
		for _, e := range doc.Check.Errors {
			if e.File != path || e.Message == "" || e.Line == 0 && path != "deep.py" {
				t.Errorf("%s: %+v", path, e)
			}
		}
		text := b.flagged(map[string]string{"op": "check", "path": path}, "quiet", "")
		var plain report
		asJSON := b.flagged(map[string]string{"op": "check", "path": path}, "json", "true")
		if err := json.Unmarshal([]byte(asJSON.Stdout), &plain); err != nil || plain.ErrorCount != errors || strings.Count(text.Stdout, "\n") != errors {
			t.Errorf("%s: %v %+v %q", path, err, plain, text.Stdout)
		}
	}
	if !strings.HasPrefix(b.get("ran"), "error") {
		t.Error("a check ran the program")
	}
	b.put("a.ail", "module a\n")
	b.put("a.txt", "")
	b.put("latin.py", "\xe4")
	b.link("../outside/secret", "out.py")
	for path, want := range map[string]string{
		"a.ail": lang.NeedsAilang, "a.txt": lang.NotAProgram, "latin.py": "not UTF-8", "out.py": "escapes", "none.py": "no such file",
		".git/x.py": "closed", "": lang.NotAProgram,
	} {
		for _, op := range []string{"check", "ai_check"} {
			if r := b.flagged(map[string]string{"op": op, "path": path}); r.OK || r.Argv != nil || !strings.Contains(r.Refused, want) {
				t.Errorf("%s %q: %+v", op, path, r)
			}
		}
	}
	if r := b.flagged(map[string]string{"op": "ai_check", "path": "good.py"}, "timeout", "soon"); !strings.Contains(r.Refused, "--timeout") {
		t.Errorf("%+v", r)
	}
	if r := b.flagged(map[string]string{"op": "check", "path": "good.star"}, "quiet", "false"); !strings.Contains(r.Refused, "is boolean") {
		t.Errorf("%+v", r)
	}
}

func TestBuiltinOperations(t *testing.T) {
	b := newBench(t)
	list := func(flags ...string) string {
		r := b.flagged(map[string]string{"op": "builtins_list"}, flags...)
		if !r.OK {
			t.Errorf("%v: %+v", flags, r)
		}
		head, rest, _ := strings.Cut(r.Stdout, "\n")
		if head != "Total: "+itoa(strings.Count(rest, "\n"))+" builtins" {
			t.Errorf("%v: %q over %d lines", flags, head, strings.Count(rest, "\n"))
		}
		return rest
	}
	all := list()
	for _, line := range []string{"fs.read [FS] starlark", "print [IO] starlark", "sorted [pure] starlark", "json.encode [pure] starlark/json", "print [any] python", "json [module] python"} {
		if !strings.Contains("\n"+all, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	if len(all) > 60<<10 {
		t.Errorf("%d bytes: an older reader cuts at 64 KiB", len(all))
	}
	if got := list("query", "SORT"); got != "sorted [any] python\nsorted [pure] starlark\n" {
		t.Errorf("%q", got)
	}
	if got := list("module", "python/json", "query", "dumps"); got != "dumps [any] python/json\n" {
		t.Errorf("%q", got)
	}
	if got := list("module", "json", "query", "encode"); !strings.Contains(got, "json.encode [pure] starlark/json\n") || !strings.Contains(got, "encoder [module] python/json\n") {
		t.Errorf("%q", got)
	}
	for _, module := range []string{"antigravity", "this", "no_such", "../x", "os; import this"} {
		if got := list("module", module); got != "" {
			t.Errorf("%s: %q", module, got)
		}
	}
	r := b.flagged(map[string]string{"op": "builtins_list"}, "json", "", "query", "fs.")
	var doc struct {
		Count    int
		Builtins []struct{ Name, Module, Effect, Description string }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil || doc.Count != 6 || doc.Builtins[0].Name != "fs.exists" || doc.Builtins[0].Description == "" {
		t.Errorf("%v %+v", err, doc)
	}
	for name, want := range map[string]string{"fs.read": "fs.read [FS] starlark\n   fs.read(path)", "python/json/dumps": "dumps [any] python/json\n   Serialize"} {
		if r := b.flagged(map[string]string{"op": "builtins_show", "module": name}); !r.OK || !strings.HasPrefix(r.Stdout, want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := b.flagged(map[string]string{"op": "builtins_show", "module": "none"}); r.OK || r.ExitCode != 1 || r.Argv == nil {
		t.Errorf("%+v", r)
	}
}

func itoa(n int) string { raw, _ := json.Marshal(n); return string(raw) }

func TestExampleOperations(t *testing.T) {
	b := newBench(t)
	search := func(query string) Response {
		return b.flagged(map[string]string{"op": "examples_search", "query": query})
	}
	if r := search("count words"); !r.OK || !strings.HasPrefix(r.Stdout, "🔍 Search: \"count words\"\n   Found ") || !strings.Contains(r.Stdout, "1. count_words.py (1.00, Count the words") {
		t.Errorf("%+v", r)
	}
	if r := search("zebra"); !r.OK || !strings.Contains(r.Stdout, "Found 0 examples") {
		t.Errorf("%+v", r)
	}
	for query, want := range map[string]string{"": "malformed", "-x": "looks like a flag", "a\nb": "malformed", strings.Repeat("a", maxQuery+1): "malformed"} {
		if r := search(query); r.OK || !strings.Contains(r.Refused, want) {
			t.Errorf("%.20q: %+v", query, r)
		}
	}
	list := b.flagged(map[string]string{"op": "examples_list"})
	tagged := b.flagged(map[string]string{"op": "examples_list"}, "tags", "json")
	if !list.OK || strings.Count(list.Stdout, "\n") < 6 || tagged.Stdout != "rewrite_json.star: Read a JSON file, change it and write it back\n" {
		t.Errorf("%+v %+v", list, tagged)
	}
	if r := b.flagged(map[string]string{"op": "examples_show", "module": "rewrite_json.star"}); !r.OK || !strings.Contains(r.Stdout, "json.decode") {
		t.Errorf("%+v", r)
	}
	if r := b.flagged(map[string]string{"op": "examples_show", "module": "../guide.md"}); r.OK || r.ExitCode != 1 {
		t.Errorf("%+v", r)
	}
	if r := b.flagged(map[string]string{"op": "examples_tags"}); !r.OK || !strings.Contains(r.Stdout, "json (1)\n") {
		t.Errorf("%+v", r)
	}
	b.put("../corpus/own.star", "# Greets the moon\n# tags: moon\nprint('moon')\n")
	b.put("../corpus/notes.txt", "moon")
	t.Setenv(examplesDir, b.root+"/../corpus")
	if r := search("moon"); !r.OK || !strings.Contains(r.Stdout, "Found 1 examples\n\n1. own.star (1.00, Greets the moon)\n   tags: moon") {
		t.Errorf("a corpus of one's own: %+v", r)
	}
	if err := os.RemoveAll(b.root + "/../corpus"); err != nil {
		t.Fatal(err)
	}
	if r := search("moon"); r.OK || r.ExitCode != 1 || r.Stdout != "no examples corpus\n" {
		t.Errorf("without a corpus: %+v", r)
	}
}

func TestWords(t *testing.T) {
	b := newBench(t)
	if r := b.flagged(map[string]string{"op": "docs_search", "query": "EXDEV directory"}); !r.OK || !strings.HasPrefix(r.Stdout, "# What a run leaves\n") || strings.Count(r.Stdout, "\n# ") != 0 {
		t.Errorf("%+v", r)
	}
	if r := b.flagged(map[string]string{"op": "docs_search", "query": "a"}, "limit", "2"); strings.Count("\n"+r.Stdout, "\n# ") != 2 {
		t.Errorf("%+v", r)
	}
	for op, want := range map[string]string{"prompt": "# Programs", "agent_prompt": "# Programs", "version": "world-tool: ", "policy_check": "policy ok: "} {
		if r := b.flagged(map[string]string{"op": op}); !r.OK || !strings.HasPrefix(r.Stdout, want) {
			t.Errorf("%s: %+v", op, r)
		}
	}
}
