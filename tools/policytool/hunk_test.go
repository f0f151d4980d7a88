package policytool

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"world/store"
	"world/tools/overlay"
)

func TestHunk(t *testing.T) {
	const unended = "\\ No newline at end of file\n"
	const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	for _, c := range []struct {
		text, old, new string
		line           int64
		diff           string
	}{
		{text, "four", "4", 4, "@@ -1,7 +1,7 @@\n one\n two\n three\n-four\n+4\n five\n six\n seven\n"},
		{text, "one", "1", 1, "@@ -1,4 +1,4 @@\n-one\n+1\n two\n three\n four\n"},
		{text, "seven\n", "", 7, "@@ -4,4 +4,3 @@\n four\n five\n six\n-seven\n"},
		{text, "two\nthree\n", "2\n", 2, "@@ -1,6 +1,5 @@\n one\n-two\n-three\n+2\n four\n five\n six\n"},
		{text, "e\nt", "E T", 1, "@@ -1,5 +1,4 @@\n-one\n-two\n+onE Two\n three\n four\n five\n"},
		{"a", "a", "b", 1, "@@ -1,1 +1,1 @@\n-a\n" + unended + "+b\n" + unended},
		{"a\n", "a\n", "b", 1, "@@ -1,1 +1,1 @@\n-a\n+b\n" + unended},
		{"998\n999\n", "999\n", "999", 2, "@@ -1,2 +1,2 @@\n 998\n-999\n+999\n" + unended},
		{"998\n999", "998", "", 1, "@@ -1,2 +1,2 @@\n-998\n+\n 999\n" + unended},
		{"a\nb\n", "a\nb\n", "", 1, "@@ -1,2 +0,0 @@\n-a\n-b\n"},
	} {
		at := strings.Index(c.text, c.old)
		if line, diff := hunk(c.text, at, c.old, c.new); line != c.line || diff != c.diff {
			t.Errorf("%q for %q: line %d\n%s\nwant line %d\n%s", c.new, c.old, line, diff, c.line, c.diff)
		}
	}
}

// TestHunkApplies: git takes the hunk and makes of the old file the new one.
func TestHunkApplies(t *testing.T) {
	var numbered strings.Builder
	for i := range 40 {
		numbered.WriteString(strings.Repeat("x", i) + "\n")
	}
	for _, text := range []string{numbered.String(), numbered.String() + "open"} {
		for begin := 0; begin < len(text); begin += 211 {
			for _, size := range []int{1, 90, len(text)} {
				for _, new := range []string{"", "new", "new\n", "a\nb\nc", "\n"} {
					old := text[begin:min(begin+size, len(text))]
					changed := text[:begin] + new + text[begin+len(old):]
					if changed == text {
						continue // which is no change to apply
					}
					b := newBench(t)
					b.put("f", text)
					_, diff := hunk(text, begin, old, new)
					b.put("patch", "--- a/f\n+++ b/f\n"+diff)
					cmd := exec.Command("git", "apply", "--unidiff-zero", "patch")
					cmd.Dir, cmd.Env = b.root, []string{"PATH=/usr/bin:/bin", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(b.root)}
					if out, err := cmd.CombinedOutput(); err != nil || b.get("f") != changed {
						t.Fatalf("%q for %q at %d: %v %s\n%s", new, old, begin, err, out, diff)
					}
				}
			}
		}
	}
}

// TestHunkOfLongLines: what changed in a line of any length is shown, with as much of
// it as there is room for.
func TestHunkOfLongLines(t *testing.T) {
	long := strings.Repeat("ü", 300_000)
	text := "above\n" + strings.Repeat("x", 1000) + "\n" + long + "needle" + long + "\nbelow\n"
	line, diff := hunk(text, strings.Index(text, "needle"), "needle", "pin")
	if line != 3 || len(diff) > maxHunk || strings.Count(diff, "\n") != 6 || !strings.HasPrefix(diff, "@@ -1,4 +1,4 @@\n above\n "+strings.Repeat("x", maxHunkLine)+"…\n-…ü") ||
		!strings.Contains(diff, "üneedleü") || !strings.Contains(diff, "üpinü") || !strings.HasSuffix(diff, "ü…\n below\n") || !utf8.ValidString(diff) {
		t.Errorf("line %d, %d bytes: %s", line, len(diff), diff)
	}
}

func TestEditTellsWhatItDid(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\nb\nc\n")
	if r := b.edit("f", "b", "B"); !r.OK || r.Line != 2 || r.Diff != "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n" {
		t.Errorf("%+v", r)
	}
	long := strings.Repeat("y\n", maxHunk)
	r := b.edit("f", "B", long)
	if !r.OK || len(r.Diff) > maxHunk+100 || !strings.HasSuffix(r.Diff, " bytes left out]…\n") || !strings.HasPrefix(r.Diff, "@@ -1,3 ") {
		t.Errorf("%d bytes: %.80q", len(r.Diff), r.Diff)
	}
	if r := b.write("f", "x"); !r.OK || r.Created {
		t.Errorf("%+v", r)
	}
	if r := b.write("g", "x"); !r.OK || !r.Created {
		t.Errorf("%+v", r)
	}
}

// TestChangesAreToldByHash: which file it was once links are followed, and what it
// held before and holds now.
func TestChangesAreToldByHash(t *testing.T) {
	b := newBench(t)
	b.put("sub/f", "old")
	b.put("sub/binary", "\xff")
	b.link("sub/f", "link")
	ref := func(content string) store.Ref { return store.RefOf([]byte(content)) }
	for _, c := range []struct {
		r    Response
		want overlay.Change
	}{
		{b.write("new", "n"), overlay.Change{Path: "new", Kind: overlay.Created, After: ref("n")}},
		{b.write("new", "m"), overlay.Change{Path: "new", Kind: overlay.Changed, Before: ref("n"), After: ref("m")}},
		{b.write("./sub//binary", "text"), overlay.Change{Path: "sub/binary", Kind: overlay.Changed, Before: ref("\xff"), After: ref("text")}},
		{b.edit("link", "old", "older"), overlay.Change{Path: "sub/f", Kind: overlay.Changed, Before: ref("old"), After: ref("older")}},
	} {
		if !c.r.OK || !slices.Equal(c.r.Changes, []overlay.Change{c.want}) {
			t.Errorf("%+v, want %+v", c.r, c.want)
		}
	}
	for _, r := range []Response{b.read("new"), b.edit("new", "none", "x"), b.write(".git/x", "")} {
		if r.Changes != nil {
			t.Errorf("%+v", r)
		}
	}
}
