package policytool

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContentIsBoundAsJSON: what counts is the text as it travels, at the byte.
func TestContentIsBoundAsJSON(t *testing.T) {
	b := newBench(t)
	tests := map[string]struct {
		unit string
		size int // of one unit as JSON
	}{
		"plain": {"a", 1}, "HTML": {"<", 1}, "line": {"\n", 2}, "quote": {`"`, 2}, "control": {"\x01", 6}, "wide": {"\u2028", 3}, "NUL": {"\x00", 6},
	}
	for name, test := range tests {
		fits := strings.Repeat(test.unit, MaxContent/test.size) + strings.Repeat("a", MaxContent%test.size)
		b.put(name, fits)
		b.put(name+"+", fits+"a")
		if r := b.read(name); !r.OK || r.Content != fits {
			t.Errorf("%s: %t %q", name, r.OK, r.Refused)
		}
		want := "read " + name + "+: the file is more than 4000000 bytes as JSON text; read part of it with offset and limit, of a long line with bytes besides"
		if r := b.read(name + "+"); r.OK || r.Content != "" || r.Refused != want {
			t.Errorf("%s: %t %q", name, r.OK, r.Refused)
		}
	}
}

// TestSlashAtTheEnd: a file has none, whether it is there or not.
func TestSlashAtTheEnd(t *testing.T) {
	b := newBench(t)
	b.put("x", "old")
	b.link("x/", "link")
	for path, want := range map[string]string{
		"x/": "not a directory", "x//": "not a directory", "link": "not a directory", "x/.": "not a directory",
		"new/": "no such file or directory", "new//": "no such file or directory",
	} {
		for _, r := range []Response{b.read(path), b.write(path, "new"), b.edit(path, "old", "new")} {
			if r.OK || !strings.HasSuffix(r.Refused, path+": "+want) {
				t.Errorf("%q: %+v", path, r)
			}
		}
	}
	if b.get("x") != "old" || !strings.HasPrefix(b.get("new"), "error") {
		t.Error("a refusal wrote")
	}
}

// TestReadOnlyFile: a file that its owner has marked is not replaced behind its mark.
func TestReadOnlyFile(t *testing.T) {
	b := newBench(t)
	for mode, writable := range map[fs.FileMode]bool{0o444: false, 0o555: false, 0o466: false, 0o644: true, 0o200: true} {
		b.put("x", "old")
		path := filepath.Join(b.root, "x")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for verb, r := range map[string]Response{"write": b.write("x", "old"), "edit": b.edit("x", "old", "old")} {
			if r.OK != writable || !writable && r.Refused != verb+" x: the file is read-only: its mode forbids its owner to write it" {
				t.Errorf("%v: %+v", mode, r)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v became %v, %v", mode, info.Mode(), err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteIsWhole: the file's mode stays, its other names keep the old content,
// and nothing is left beside it or taken from there.
func TestWriteIsWhole(t *testing.T) {
	b := newBench(t)
	b.put("run.sh", "old")
	path := filepath.Join(b.root, "run.sh")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(b.outside, "linked")); err != nil {
		t.Fatal(err)
	}
	const leftover = ".world-tool-00112233445566778899aabbccddeeff.tmp"
	b.put(leftover, "left by a write that was killed")
	b.put(".world-tool.tmp", "a user's")
	if r := b.edit("run.sh", "old", "new"); !r.OK {
		t.Fatalf("%+v", r)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if b.get("run.sh") != "new" || b.get("../outside/linked") != "old" {
		t.Errorf("%q, and outside %q", b.get("run.sh"), b.get("../outside/linked"))
	}
	names, err := os.ReadDir(b.root)
	if err != nil || len(names) != 3 || b.get(leftover) == "" || b.get(".world-tool.tmp") != "a user's" {
		t.Errorf("%v, %v", names, err)
	}
	if r := b.write("fresh", "x"); !r.OK {
		t.Fatalf("%+v", r)
	}
	if info, err := os.Stat(filepath.Join(b.root, "fresh")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	// Nobody sees or takes such a name.
	if r := b.write(leftover, "x"); r.OK || !strings.Contains(r.Refused, "have not put in its place yet") {
		t.Errorf("%+v", r)
	}
}
