package policytool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func paths(r Response) string {
	var all []string
	for _, e := range r.Entries {
		all = append(all, e.Path)
	}
	return strings.Join(all, " ")
}

// forest is a worktree with links, a closed .git and names around a slash's place.
func forest(t *testing.T) bench {
	b := newBench(t)
	for _, path := range []string{"a-b", "a/z.py", "a/y.txt", "a.py", "b/c/d.py", ".git/config", "b/.git/config", ".hidden"} {
		b.put(path, "text of "+path+"\n")
	}
	b.link("../outside", "out")
	b.link("a", "link")
	return b
}

func TestList(t *testing.T) {
	b := forest(t)
	list := func(path string, flags ...string) Response {
		return b.flagged(map[string]string{"op": "list", "path": path}, flags...)
	}
	for _, c := range []struct {
		path  string
		flags []string
		want  string
	}{
		{"", nil, ".hidden a-b a.py a b link out"},
		{".", nil, ".hidden a-b a.py a b link out"},
		{"a", nil, "a/y.txt a/z.py"},
		{"link", nil, "a/y.txt a/z.py"},
		{"b/..", []string{"glob", "*.py"}, "a.py a/z.py b/c/d.py"},
		{"", []string{"glob", "*/*.py"}, "a/z.py"},
		{"", []string{"glob", "**"}, ".hidden a-b a.py a a/y.txt a/z.py b b/c b/c/d.py link out"},
		{"b", []string{"glob", "c/*"}, "b/c/d.py"},
		{"", []string{"glob", "none"}, ""},
	} {
		r := list(c.path, c.flags...)
		if !r.OK || r.Cut || paths(r) != c.want {
			t.Errorf("%q %v: %s, want %s; %+v", c.path, c.flags, paths(r), c.want, r)
		}
		var again Response = list(c.path, c.flags...)
		if !slices.Equal(again.Entries, r.Entries) {
			t.Errorf("%q: two lists differ", c.path)
		}
	}
	r := list("")
	if want := []Entry{{".hidden", "file", 16}, {"a-b", "file", 12}, {"a.py", "file", 13}, {"a", "dir", 0}, {"b", "dir", 0}, {"link", "link", 0}, {"out", "link", 0}}; !slices.Equal(r.Entries, want) {
		t.Errorf("%+v", r.Entries)
	}
	if r := list("", "limit", "2"); !r.OK || paths(r) != ".hidden a-b" || !r.Cut || r.Why != cutLimit {
		t.Errorf("%+v", r)
	}
	if r := list("", "limit", "7"); !r.OK || r.Cut {
		t.Errorf("a limit that is just enough: %+v", r)
	}
	for _, path := range []string{"..", "out", "../outside", "/", "a/../..", ".git", "b/.git", "b/.GIT", "a.py", "none", "a.py/x"} {
		if r := list(path); r.OK || r.Refused == "" || r.Entries != nil {
			t.Errorf("%q: %+v", path, r)
		}
	}
	for _, path := range []string{".git/none", "b/.git/config/x"} { // not even whether it is there
		if r := list(path); !strings.Contains(r.Refused, "closed to the lane's tools") {
			t.Errorf("%q: %+v", path, r)
		}
	}
	for _, flags := range [][]string{{"limit", "0"}, {"limit", "5001"}, {"glob", ""}, {"glob", "../*"}, {"depth", "1"}} {
		if r := list("", flags...); r.OK || r.Refused == "" {
			t.Errorf("%v: %+v", flags, r)
		}
	}
}

// TestListIsBounded: neither depth nor number of names nor their length is the agent's
// or the worktree's to choose.
func TestListIsBounded(t *testing.T) {
	b := newBench(t)
	deep := strings.TrimSuffix(strings.Repeat("d/", maxDepth+2), "/")
	b.put(deep+"/x", "")
	b.put("e/x", "x")
	for _, r := range []Response{b.flagged(map[string]string{"op": "list"}, "glob", "**/x"), b.flagged(map[string]string{"op": "search", "query": "x"})} {
		if !r.OK || !r.Cut || r.Why != cutDepth || len(r.Entries)+len(r.Matches) != 1 {
			t.Errorf("a depth hides what lies beside it: %+v", r)
		}
	}
	if err := os.RemoveAll(filepath.Join(b.root, "d")); err != nil {
		t.Fatal(err)
	}
	for folder, letter := range map[string]string{"many": "n", "controls": "\x01"} {
		long := strings.Repeat(letter, 230)
		for i := range map[string]int{"many": MaxEntries, "controls": MaxMatches}[folder] {
			b.put(fmt.Sprintf("%s/%s%04d", folder, long, i), "x")
		}
		size := 0
		r := b.flagged(map[string]string{"op": "list", "path": folder}, "limit", fmt.Sprint(MaxEntries))
		for _, e := range r.Entries {
			size += written(e.Path)
		}
		if !r.OK || !r.Cut || r.Why != cutSize || size > maxTexts || size < maxTexts-3000 {
			t.Errorf("%s: names of %d bytes, cut by %q", folder, size, r.Why)
		}
		size = 0
		r = b.flagged(map[string]string{"op": "search", "path": folder, "query": "x"}, "limit", fmt.Sprint(MaxMatches))
		for _, m := range r.Matches {
			size += written(m.Path) + written(m.Text)
		}
		if want := map[string]string{"many": cutLimit, "controls": cutSize}[folder]; !r.OK || !r.Cut || r.Why != want || size > maxTexts {
			t.Errorf("%s: matches of %d bytes, cut by %q", folder, size, r.Why)
		}
	}
}
