package policytool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/tools/policy"
)

func TestOperations(t *testing.T) {
	b := newBench(t)
	b.put("sub/a.txt", "one two two\r\n\x00ü<&>")
	if r := b.read("sub/a.txt"); !r.OK || r.Content != "one two two\r\n\x00ü<&>" {
		t.Errorf("read: %+v", r)
	}
	if r := b.read("./sub//a.txt"); !r.OK {
		t.Errorf("read by another spelling: %+v", r)
	}
	if r := b.write("new.txt", "new"); !r.OK || b.get("new.txt") != "new" {
		t.Errorf("write: %+v %q", r, b.get("new.txt"))
	}
	if r := b.write("new.txt", ""); !r.OK || b.get("new.txt") != "" {
		t.Errorf("write nothing: %+v %q", r, b.get("new.txt"))
	}
	if r := b.edit("sub/a.txt", "one", "three $1 \\1"); !r.OK || !strings.HasPrefix(b.get("sub/a.txt"), "three $1 \\1 two") {
		t.Errorf("edit: %+v %q", r, b.get("sub/a.txt"))
	}
	if r := b.edit("sub/a.txt", "three $1 \\1 ", ""); !r.OK || !strings.HasPrefix(b.get("sub/a.txt"), "two two") {
		t.Errorf("delete by edit: %+v %q", r, b.get("sub/a.txt"))
	}
	code, r, _ := b.ask(request("op", "summary"))
	s := r.Summary
	if code != 0 || s == nil || s.Sandbox != b.root || s.SecurityMode != "restricted" || s.PolicyDigest != policy.Digest([]byte(b.get("../policy.toml"))) ||
		strings.Join(s.Ops, " ") != "agent_prompt ai_check builtins_list builtins_show check docs_search edit examples_list examples_search examples_show examples_tags "+
			"list policy_check prompt read search summary version write" || strings.Join(s.Caps, " ") != "IO FS" ||
		strings.Join(s.CLI, " ") != "agent_prompt ai_check builtins_list builtins_show check docs_search examples_list examples_search examples_show examples_tags policy_check prompt version" {
		t.Errorf("summary: %+v", s)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "aa b aa")
	b.put("overlap", "ababaxaba")
	b.put("binary", "\xff\xfe")
	b.put("large", strings.Repeat("x", policy.DefaultTransfer+1))
	if err := syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.put("sub/x", "")
	tests := []struct{ request, want string }{
		{request("op", "read"), "read: path is required"},
		{request("op", "write", "content", "x"), "write: path is required"},
		{request("op", "edit", "old_text", "x"), "edit: path is required"},
		{request("op", "read", "path", "none"), "read none: no such file or directory"},
		{request("op", "read", "path", "sub"), "read sub: is a directory"},
		{request("op", "read", "path", "."), "read .: is a directory"},
		{request("op", "read", "path", "pipe"), "read pipe: not a regular file"},
		{request("op", "read", "path", "a.txt/b"), "read a.txt/b: not a directory"},
		{request("op", "read", "path", "binary"), "read binary: not UTF-8 text; binary files cannot be read or edited as text"},
		{request("op", "read", "path", "large"), "read large: file exceeds the 8388608-byte transfer cap; read part of it with offset and limit"},
		{request("op", "edit", "path", "large", "old_text", "x"), "edit large: file exceeds the 8388608-byte transfer cap"},
		{request("op", "write", "path", "none/x/", "content", ""), "write none/x/: no such file or directory"},
		{request("op", "write", "path", "none/../x", "content", ""), "write none/../x: a folder on the way is not there, and \"..\" makes none"},
		{request("op", "write", "path", "none/y/x", "content", strings.Repeat("x", policy.DefaultTransfer+1)), "write none/y/x: content exceeds the 8388608-byte transfer cap"},
		{request("op", "write", "path", "none/y/"+strings.Repeat("n", 300), "content", ""), "write none/y/" + strings.Repeat("n", 300) + ": file name too long"},
		{request("op", "edit", "path", "none/x", "old_text", "aa"), "edit none/x: no such file or directory"},
		{request("op", "write", "path", "sub", "content", ""), "write sub: is a directory"},
		{request("op", "write", "path", "sub/", "content", ""), "write sub/: is a directory"},
		{request("op", "write", "path", "pipe", "content", ""), "write pipe: not a regular file"},
		{request("op", "write", "path", strings.Repeat("n", 300), "content", ""), "write " + strings.Repeat("n", 300) + ": file name too long"},
		{request("op", "write", "path", "big", "content", strings.Repeat("x", policy.DefaultTransfer+1)), "write big: content exceeds the 8388608-byte transfer cap"},
		{request("op", "edit", "path", "a.txt"), "edit a.txt: old_text is required (use write to create a file)"},
		{request("op", "edit", "path", "a.txt", "old_text", "c"), "edit a.txt: old_text not found — the file may have changed; read it again"},
		{request("op", "edit", "path", "a.txt", "old_text", "aa"), "edit a.txt: old_text occurs 2 times; include more context so it is unique"},
		{request("op", "edit", "path", "overlap", "old_text", "aba"), "edit overlap: old_text occurs 3 times; include more context so it is unique"},
		{request("op", "edit", "path", "none", "old_text", "aa"), "edit none: no such file or directory"},
		{request("op", "edit", "path", "binary", "old_text", "aa"), "edit binary: not UTF-8 text; binary files cannot be read or edited as text"},
		{request("op", "edit", "path", "a.txt", "old_text", "b", "new_text", strings.Repeat("x", policy.DefaultTransfer)), "edit a.txt: content exceeds the 8388608-byte transfer cap"},
		{request("op", "run"), `unknown op "run" (ops: ` + strings.Join(operationNames(), ", ") + `)`},
		{request("op", "read", "path", "a.txt", "content", ""), "op read does not take content"},
		{`{"op":"read","path":"a.txt","flags":{"force":"true"}}`, "op read does not admit flag --force (admitted: --bytes --limit --offset)"},
		{`{"op":"write","path":"a.txt","content":"x","flags":{"force":"true"}}`, "op write does not admit flag --force (admitted: none)"},
	}
	for _, test := range tests {
		code, r, stderr := b.ask(test.request)
		if code != 0 || r.OK || r.Refused != test.want {
			t.Errorf("%.80s: %d %q %q", test.request, code, r.Refused, stderr)
		}
	}
	if _, err := os.Lstat(filepath.Join(b.root, "none")); err == nil {
		t.Error("a refusal left a folder")
	}
	if b.get("a.txt") != "aa b aa" {
		t.Errorf("a refusal wrote %q", b.get("a.txt"))
	}
}

// TestOccurrences: the count is that of looking at every place, and takes no longer
// for texts that repeat themselves.
func TestOccurrences(t *testing.T) {
	for n := range 1 << 9 {
		text := strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%09b", n))
		for size := 1; size <= 4; size++ {
			for m := range 1 << size {
				old := strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%0*b", size, m))
				first, want := 0, 0
				for i := range len(text) {
					if strings.HasPrefix(text[i:], old) {
						if want++; want == 1 {
							first = i
						}
					}
				}
				if at, got := occurrences(text, old); at != first || got != want {
					t.Fatalf("%s in %s: %d times from %d, want %d from %d", old, text, got, at, want, first)
				}
			}
		}
	}
	long := strings.Repeat("a", 4<<20)
	if _, n := occurrences(long, long[:1<<20]); n != 3<<20+1 {
		t.Errorf("%d", n)
	}
}
