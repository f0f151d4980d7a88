package lang

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

func TestOf(t *testing.T) {
	for file, want := range map[string]Language{
		"a.py": Python, "dir.star/a.PY": Python, "a.star": Starlark, "x/y.ail": Ailang, "a": "", "a.pyc": "", "py": "", ".py": Python, "a.star/": "",
	} {
		if got := Of(file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}

func TestCheckStarlark(t *testing.T) {
	for source, want := range map[string][]Problem{
		"x = fs.read(args[0])\nwhile x: x = x[1:]\ndef f(): return f()\n": nil,
		"x = 1\nx = 2\nif x:\n  y = {1}\n":                                {{"STAR_SYNTAX", "got '}', want ':'", "a.star", 4, 10}},
		"a = b\nload('x', 'y')\ndef f(): return c\n":                      {{"STAR_NAME", "undefined: b", "a.star", 1, 5}, {"STAR_NAME", "undefined: c", "a.star", 3, 17}},
		"x = 1\n\nload('src/util.star', 'double')\n":                      {{"STAR_LOAD", "load of \"src/util.star\": a program is one file and loads no other; put what it needs into it", "a.star", 3, 6}},
		"def f(:\n":  {{"STAR_SYNTAX", "got ':', want ')'", "a.star", 1, 8}},
		"return 1\n": {{"STAR_NAME", "return statement not within a function", "a.star", 1, 1}},
	} {
		if got := CheckStarlark("a.star", []byte(source)); !slices.Equal(got, want) {
			t.Errorf("%q: %+v", source, got)
		}
	}
}

func TestCheckPython(t *testing.T) {
	for source, want := range map[string]int{
		"print('x')\n": 0, "": 0, "import nothing_of_that_name\n": 0, "def f(:\n": 1, "x = 1\n  y = 2\n": 2, "\x00": 0, "return 1\n": 1,
	} {
		got, err := CheckPython(t.Context(), "a.py", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if source == "\x00" {
			want = got[0].Line // which line a NUL is on depends on the version
		}
		if (len(got) > 0) != (want > 0 || source == "\x00") || len(got) > 0 && (got[0].Line != want || got[0].File != "a.py" || got[0].Code != "PY_SYNTAX") {
			t.Errorf("%q: %+v", source, got)
		}
	}
}

// TestPythonSaysWhat: each problem is in words, and at a place or at none.
func TestPythonSaysWhat(t *testing.T) {
	for source, want := range map[string]string{
		"# coding: none\n":                                                        "unknown encoding",
		"x = " + strings.Repeat("-", 99_999):                                      "nested too deep",
		"x = " + strings.Repeat("-", 99_999) + "1\n":                              "nested too deep",
		"x = " + strings.Repeat("(", 150) + "1" + strings.Repeat(")", 150) + "\n": "",
		"x = (\n": "was never closed",
	} {
		got, err := CheckPython(t.Context(), "a.py", []byte(source))
		if err != nil || (len(got) > 0) != (want != "") {
			t.Fatalf("%.20q: %v %v", source, got, err)
		}
		for _, p := range got {
			if !strings.Contains(p.Message, want) || p.Line < 0 || p.Column < 0 {
				t.Errorf("%.20q: %+v, want %s", source, p, want)
			}
		}
	}
}

// TestBuiltinsAreReal: each name that is listed is there, and each that is there is listed.
func TestBuiltinsAreReal(t *testing.T) {
	listed := map[string]bool{}
	for _, b := range StarlarkBuiltins() {
		listed[b.Name] = true
		if !strings.HasPrefix(b.Module, "starlark") || b.Effect == "" {
			t.Errorf("%+v", b)
		}
		source := "x = " + b.Name + "\n"
		if problems := CheckStarlark("a.star", []byte(source)); len(problems) > 0 {
			t.Errorf("%s is listed and is not there: %v", b.Name, problems)
		}
	}
	for name := range starlark.Universe {
		if !listed[name] {
			t.Errorf("%s is there and is not listed", name)
		}
	}
	if IsPredeclared("open") || IsPredeclared("load") || !IsPredeclared("fs") || !IsPredeclared("json") {
		t.Error("what is predeclared")
	}
	found, err := PythonBuiltins(t.Context(), "os.path")
	if err != nil || !slices.ContainsFunc(found, func(b Builtin) bool { return b.Name == "join" && b.Module == "python/os.path" && b.Use != "" }) {
		t.Errorf("%v %+v", err, found)
	}
	if err := ask(t.Context(), nil, &found, "names", "-x"); err != nil || len(found) != 0 {
		t.Errorf("%v %v", err, found)
	}
	if err := ask(t.Context(), nil, &found); err == nil || errors.Is(err, ErrNoPython) {
		t.Errorf("a question that breaks off: %v", err)
	}
}

func TestExamples(t *testing.T) {
	all, err := Examples("")
	if err != nil || len(all) < 6 {
		t.Fatalf("%d, %v", len(all), err)
	}
	for _, e := range all {
		if e.About == "" || len(e.Tags) == 0 || strings.HasPrefix(e.About, "#") {
			t.Errorf("%+v", e)
		}
		switch Of(e.File) {
		case Starlark:
			if problems := CheckStarlark(e.File, []byte(e.Source)); len(problems) > 0 {
				t.Errorf("%s: %v", e.File, problems)
			}
		case Python:
			if problems, err := CheckPython(t.Context(), e.File, []byte(e.Source)); err != nil || len(problems) > 0 {
				t.Errorf("%s: %v %v", e.File, problems, err)
			}
		default:
			t.Errorf("%s is of no language", e.File)
		}
	}
	found := SearchExamples(all, "JSON files", 3)
	if len(found) == 0 || found[0].File != "rewrite_json.star" || found[0].Score != 1 || len(found) > 3 {
		t.Errorf("%+v", found)
	}
	if again := SearchExamples(all, "JSON files", 3); len(again) != len(found) || again[len(again)-1].File != found[len(found)-1].File {
		t.Error("two searches differ")
	}
	if got := SearchExamples(all, " ", 3); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := Examples(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a corpus that is not there")
	}
	// What cannot be an example is passed over, links above all.
	dir := t.TempDir()
	for name, size := range map[string]int{"good.py": 10, "large.py": maxExample + 1, "notes.md": 10} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("#", size)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.py")); err != nil {
		t.Fatal(err)
	}
	if all, err := Examples(dir); err != nil || len(all) != 1 || all[0].File != "good.py" {
		t.Errorf("%+v %v", all, err)
	}
}

// TestGuideNamesWhatIsThere: each name that the guide gives in code is predeclared.
func TestGuideNamesWhatIsThere(t *testing.T) {
	for name := range Host {
		if !strings.Contains(Guide, name) && name != "env" {
			t.Errorf("the guide does not tell of %s", name)
		}
	}
	if got := SearchGuide("exdev", 9); len(got) != 1 || !strings.HasPrefix(got[0], "# What a run leaves\n") {
		t.Errorf("%q", got)
	}
	if got := SearchGuide("program", 2); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := SearchGuide("", 9); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
