package policytool

import (
	"strings"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	for pattern, want := range map[string]struct{ yes, no string }{
		"*.py":          {"a.py src/a.py src/x/y/.py", "a.pyc a.py/x py"},
		"src/*.py":      {"src/a.py", "a.py src/x/a.py x/src/a.py"},
		"src/**":        {"src src/a src/a/b", "x/src asrc"},
		"src/**/*.py":   {"src/a.py src/x/a.py src/x/y/a.py", "src/a a.py"},
		"**/test/**":    {"test test/x a/test a/b/test/c/d", "tests a/tests"},
		"**":            {"a a/b", ""},
		"**/**/a":       {"a x/a x/y/a", "b a/b"},
		"./a/?":         {"a/b", "a/bb a"},
		"[a-c]/*":       {"a/x c/y", "d/x a/x/y"},
		"[!a-c]*":       {"d e1 x/d", "a b1 c x/a"},
		"[^a-c]*":       {"d e1 x/d", "a b1 c x/a"},
		"[a!]x":         {"ax !x", "bx"},
		`\[!a]`:         {"[!a] x/[!a]", "b a"},
		"[[!]":          {"[ !", "a"},
		"{a}":           {"{a}", "a"},
		"a,b}{":         {"a,b}{", "a b"},
		"[{]a,b}":       {"{a,b}", "a b"},
		`\{a,b}`:        {"{a,b}", "a b"},
		"src/**/x/**/y": {"src/x/y src/a/x/b/c/y", "src/y src/x y"},
	} {
		g, err := parseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(want.yes) {
			if !g.match(path) {
				t.Errorf("%q does not match %q", pattern, path)
			}
		}
		for path := range strings.FieldsSeq(want.no) {
			if g.match(path) {
				t.Errorf("%q matches %q", pattern, path)
			}
		}
	}
	for _, braced := range []string{"{a,b}", "*.{py,star}", "src/{a,b}/*", "x{,y}", "{{a,b}}", "[a]{b,c}"} {
		if g, err := parseGlob(braced); err == nil || !strings.Contains(err.Error(), "ask once for each") {
			t.Errorf("%q: %v, %v", braced, g, err)
		}
	}
	for _, bad := range []string{"", "[", "[!", "[!]", "a//b", "/a", "a/", "../a", "a/../b", strings.Repeat("a", maxGlob+1)} {
		if g, err := parseGlob(bad); err == nil {
			t.Errorf("%.20q is a glob: %v", bad, g)
		}
	}
}

// TestGlobIsBounded: many "**" take no more time than their number times the path's.
func TestGlobIsBounded(t *testing.T) {
	g, err := parseGlob(strings.Repeat("**/a/", 200) + "b")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if g.match(strings.Repeat("a/", 2000) + "c") {
		t.Error("matched")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

// FuzzGlob: what is accepted matches in bounded time, and "**" before a pattern
// matches all that the pattern does.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"*.py", "src/**/x", "[a-z]/?", "**", "a//b", "["} {
		f.Add(seed, "src/a/x")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := parseGlob(pattern)
		if err != nil || len(path) > 1000 {
			return
		}
		deeper, err := parseGlob("**/" + pattern)
		if err != nil {
			if len(pattern)+3 > maxGlob || strings.HasPrefix(pattern, "./") {
				return
			}
			t.Fatalf("%q is a glob and **/ before it is none: %v", pattern, err)
		}
		if g.match(path) && !deeper.match(path) {
			t.Fatalf("%q matches %q, **/ before it does not", pattern, path)
		}
	})
}
