package policytool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func hits(r Response) string {
	var all []string
	for _, m := range r.Matches {
		all = append(all, fmt.Sprintf("%s:%d", m.Path, m.Line))
	}
	return strings.Join(all, " ")
}

func TestSearch(t *testing.T) {
	b := forest(t)
	b.put("a/code.py", "import os\r\n\ndef main():\n    return \"ÄÖ\"\nmain()\n")
	b.put("a/return", "b\rc\r\n")
	b.put("a/binary", "text\xff")
	search := func(path, query string, flags ...string) Response {
		return b.flagged(map[string]string{"op": "search", "path": path, "query": query}, flags...)
	}
	for _, c := range []struct {
		path, query string
		flags       []string
		want        string
	}{
		{"", "^text of", nil, ".hidden:1 a-b:1 a.py:1 a/y.txt:1 a/z.py:1 b/c/d.py:1"},
		{"", "text", []string{"glob", "*.py"}, "a.py:1 a/z.py:1 b/c/d.py:1"},
		{"a", "main", nil, "a/code.py:3 a/code.py:5"},
		{"link/code.py", "main", nil, "a/code.py:3 a/code.py:5"},
		{"a/code.py", "^import os$", nil, "a/code.py:1"}, // a line ends before its \r\n
		{"a/code.py", "^$", nil, "a/code.py:2"},
		{"a/code.py", `\r`, nil, ""},
		{"a/return", `b\r.*c$`, nil, "a/return:1"},
		{"a", "MAIN", nil, ""},
		{"a", "MAIN", []string{"ignore-case", ""}, "a/code.py:3 a/code.py:5"},
		{"a", "äö", []string{"ignore-case", "true"}, "a/code.py:4"},
		{"", "main()", []string{"literal", "true"}, "a/code.py:3 a/code.py:5"},
		{"b", "text", []string{"glob", "c/*"}, "b/c/d.py:1"},
		{"", "nothing at all", nil, ""},
	} {
		r := search(c.path, c.query, c.flags...)
		if !r.OK || r.Cut || hits(r) != c.want {
			t.Errorf("%q in %q %v: %s, want %s; %q", c.query, c.path, c.flags, hits(r), c.want, r.Refused)
		}
	}
	if r := search("a", "main"); r.Files != 4 || r.Skipped != 1 || r.Matches[0].Text != "def main():" {
		t.Errorf("%+v", r)
	}
	if r := search("", "text", "glob", "*"); r.Files != 8 || r.Skipped != 1 { // links are neither
		t.Errorf("%d files, %d passed over", r.Files, r.Skipped)
	}
	if r := search(".git/none", "."); !strings.Contains(r.Refused, "closed to the lane's tools") {
		t.Errorf("%+v", r)
	}
	if r := search("", "text", "limit", "2"); hits(r) != ".hidden:1 a-b:1" || !r.Cut || r.Why != cutLimit {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{"..", "out", "out/secret", "../outside/secret", ".git", ".git/config", "b/.git/config", "none", "/"} {
		if r := search(path, "."); r.OK || r.Refused == "" || r.Matches != nil {
			t.Errorf("%q: %+v", path, r)
		}
	}
	for _, query := range []string{"", "(", "a{2000}", strings.Repeat("a", maxPattern+1)} {
		if r := search("", query); r.OK || !strings.HasPrefix(r.Refused, "search: ") {
			t.Errorf("%.20q: %+v", query, r)
		}
	}
	for _, flags := range [][]string{{"literal", "false"}, {"ignore-case", "yes"}, {"limit", "1001"}, {"glob", "["}, {"context", "3"}} {
		if r := search("", "x", flags...); r.OK || r.Refused == "" {
			t.Errorf("%v: %+v", flags, r)
		}
	}
}

// TestSearchStaysInside: a search that walks meets links, pipes and what it may not read.
func TestSearchStaysInside(t *testing.T) {
	b := forest(t)
	if r := b.flagged(map[string]string{"op": "search", "query": "secret|gitdir|config"}); !r.OK || hits(r) != "" {
		t.Errorf("%+v", r)
	}
	b.put("found", "secret\n") // control
	if r := b.flagged(map[string]string{"op": "search", "query": "secret"}); hits(r) != "found:1" {
		t.Errorf("%+v", r)
	}
	if err := os.Chmod(filepath.Join(b.root, "a"), 0); err != nil {
		t.Fatal(err)
	}
	if r := b.flagged(map[string]string{"op": "search", "query": "secret"}); !r.OK || hits(r) != "found:1" {
		t.Errorf("a directory that its owner has closed: %+v", r)
	}
	if err := os.Chmod(filepath.Join(b.root, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestLongLinesAreCut shows the match, in whole characters.
func TestLongLinesAreCut(t *testing.T) {
	b := newBench(t)
	b.put("long", strings.Repeat("ü", 5000)+"needle"+strings.Repeat("ü", 5000)+"\n"+strings.Repeat("x", maxLine)+"\n")
	r := b.flagged(map[string]string{"op": "search", "query": "needle|x"})
	if len(r.Matches) != 2 {
		t.Fatalf("%+v", r)
	}
	text := r.Matches[0].Text
	if len(text) > maxLine+12 || !strings.Contains(text, "needle") || strings.ContainsRune(text, '\ufffd') ||
		!strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	if r.Matches[1].Text != strings.Repeat("x", maxLine) {
		t.Errorf("%s", r.Matches[1].Text)
	}
}
