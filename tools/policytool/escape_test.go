package policytool

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEscapes: no spelling and no link leads out, whether the target exists or not.
func TestEscapes(t *testing.T) {
	b := newBench(t)
	b.put("sub/a.txt", "inside")
	b.link("../outside/secret", "file-out")
	b.link(filepath.Join(b.outside, "secret"), "file-out-absolute")
	b.link("../outside", "dir-out")
	b.link("../outside/new", "new-out")
	b.link("../root-evil", "sibling")
	b.link("sub/../../outside", "dotted")
	b.link("chain2", "chain1")
	b.link("dir-out", "chain2")
	b.link("loop", "loop")
	b.link(filepath.Join(b.root, "sub/a.txt"), "absolute-inside")
	paths := []string{
		"../outside/secret", "sub/../../outside/secret", filepath.Join(b.outside, "secret"), filepath.Join(b.root, "sub/a.txt"),
		"../root-evil/secret", "file-out", "file-out-absolute", "dir-out/secret", "new-out", "dir-out/new", "sibling/secret",
		"dotted/secret", "chain1/secret", "loop", "loop/x", "absolute-inside", "..", "../root", "sub/../..", "sub/a.txt\x00", "/", "//x",
	}
	for _, path := range paths {
		for _, r := range []Response{b.read(path), b.write(path, "written"), b.edit(path, "secret", "written")} {
			if r.OK || r.Refused == "" || r.Content != "" {
				t.Errorf("%q: %+v", path, r)
			}
		}
	}
	for _, path := range []string{"sub/a.txt\x00", "\x00", "../a\x00b"} {
		for _, r := range []Response{b.read(path), b.write(path, "written"), b.edit(path, "secret", "written")} {
			if r.OK || !strings.Contains(r.Refused, "holds a NUL byte") {
				t.Errorf("%q: %+v, want NUL named", path, r)
			}
		}
	}
	if b.get("../outside/secret") != "secret" || b.get("../root-evil/secret") != "secret" || !strings.HasPrefix(b.get("../outside/new"), "error") {
		t.Error("something outside was written")
	}
	// The same shapes that stay inside work, and a link is written through.
	b.link("sub/a.txt", "file-in")
	b.link("sub", "dir-in")
	b.link("sub/new", "new-in")
	b.link("../sub", "sub/self")
	for _, path := range []string{"sub/a.txt", "file-in", "dir-in/a.txt", "sub/../sub/a.txt", "sub/self/a.txt"} {
		if r := b.write(path, path); !r.OK || b.get("sub/a.txt") != path {
			t.Errorf("%q: %+v", path, r)
		}
		if r := b.read(path); !r.OK || r.Content != path {
			t.Errorf("%q: %+v", path, r)
		}
	}
	if r := b.write("new-in", "new"); !r.OK || b.get("sub/new") != "new" {
		t.Errorf("a link to what does not exist yet: %+v", r)
	}
	if info, err := os.Lstat(filepath.Join(b.root, "file-in")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("writing through a link replaced it")
	}
}
