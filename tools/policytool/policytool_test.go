package policytool

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/tools/policy"
)

// bench is a worktree with a policy, and a folder outside.
type bench struct {
	t       *testing.T
	root    string
	outside string
	policy  string
}

func newBench(t *testing.T) bench {
	t.Helper()
	base := t.TempDir()
	b := bench{t, filepath.Join(base, "root"), filepath.Join(base, "outside"), filepath.Join(base, "policy.toml")}
	for _, dir := range []string{b.root, b.outside, b.root + "-evil"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put("../outside/secret", "secret")
	b.put("../root-evil/secret", "secret")
	raw, err := policy.For(b.root).Render()
	if err != nil {
		t.Fatal(err)
	}
	b.put("../policy.toml", string(raw))
	return b
}

func (b bench) put(path, content string) {
	b.t.Helper()
	path = filepath.Join(b.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b bench) link(target, path string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.root, path)); err != nil {
		b.t.Fatal(err)
	}
}

func (b bench) get(path string) string {
	raw, err := os.ReadFile(filepath.Join(b.root, path))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(raw)
}

// ask sends one request as JSON text and returns exit code, response and stderr.
func (b bench) ask(request string) (int, Response, string) {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	code := Serve([]string{"--policy", b.policy}, strings.NewReader(request), &stdout, &stderr)
	var r Response
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
			b.t.Fatalf("%s: %v: %q", request, err, stdout.String())
		}
	}
	if strings.Contains(stdout.String()+stderr.String(), filepath.Dir(b.root)) &&
		!strings.Contains(request, "summary") && !strings.Contains(request, filepath.Dir(b.root)) {
		b.t.Errorf("%s: a host path in %q %q", request, stdout.String(), stderr.String())
	}
	return code, r, stderr.String()
}

func request(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (b bench) read(path string) Response {
	_, r, _ := b.ask(request("op", "read", "path", path))
	return r
}

func (b bench) write(path, content string) Response {
	_, r, _ := b.ask(request("op", "write", "path", path, "content", content))
	return r
}

func (b bench) edit(path, old, new string) Response {
	_, r, _ := b.ask(request("op", "edit", "path", path, "old_text", old, "new_text", new))
	return r
}

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
		strings.Join(s.Ops, " ") != "edit read summary write" || strings.Join(s.Caps, " ") != "IO FS" {
		t.Errorf("summary: %+v", s)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "aa b aa")
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
		{request("op", "read", "path", "large"), "read large: file exceeds the 8388608-byte transfer cap"},
		{request("op", "write", "path", "none/x", "content", ""), "write none/x: no such file or directory"},
		{request("op", "write", "path", "sub", "content", ""), "write sub: is a directory"},
		{request("op", "write", "path", "sub/", "content", ""), "write sub/: is a directory"},
		{request("op", "write", "path", "pipe", "content", ""), "write pipe: not a regular file"},
		{request("op", "write", "path", strings.Repeat("n", 300), "content", ""), "write " + strings.Repeat("n", 300) + ": file name too long"},
		{request("op", "write", "path", "big", "content", strings.Repeat("x", policy.DefaultTransfer+1)), "write big: content exceeds the 8388608-byte transfer cap"},
		{request("op", "edit", "path", "a.txt"), "edit a.txt: old_text is required (use write to create a file)"},
		{request("op", "edit", "path", "a.txt", "old_text", "c"), "edit a.txt: old_text not found — the file may have changed; read it again"},
		{request("op", "edit", "path", "a.txt", "old_text", "aa"), "edit a.txt: old_text occurs 2 times; include more context so it is unique"},
		{request("op", "edit", "path", "none", "old_text", "aa"), "edit none: no such file or directory"},
		{request("op", "edit", "path", "binary", "old_text", "aa"), "edit binary: not UTF-8 text; binary files cannot be read or edited as text"},
		{request("op", "edit", "path", "a.txt", "old_text", "b", "new_text", strings.Repeat("x", policy.DefaultTransfer)), "edit a.txt: content exceeds the 8388608-byte transfer cap"},
		{request("op", "run"), `unknown op "run" (ops: edit, read, summary, write)`},
		{request("op", "read", "path", "a.txt", "content", ""), "op read does not take content"},
		{`{"op":"read","path":"a.txt","flags":{"force":"true"}}`, "op read does not admit flag --force (admitted: none)"},
	}
	for _, test := range tests {
		code, r, stderr := b.ask(test.request)
		if code != 0 || r.OK || r.Refused != test.want {
			t.Errorf("%.80s: %d %q %q", test.request, code, r.Refused, stderr)
		}
	}
	if b.get("a.txt") != "aa b aa" {
		t.Errorf("a refusal wrote %q", b.get("a.txt"))
	}
}

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

// TestProtected: protected names stay as they are, reached however, existing or not.
func TestProtected(t *testing.T) {
	b := newBench(t)
	b.put(".git/config", "[core]")
	b.put("sub/.git", "gitdir: elsewhere")
	b.put("plain/x", "")
	b.link(".git/config", "innocent")
	b.link(".git", "also-innocent")
	b.link("plain/../.git", "roundabout")
	for _, path := range []string{
		".git/config", ".GIT/config", "sub/.git", "sub/.GIT", "innocent", "also-innocent/config", "also-innocent/new", "roundabout/config",
		"plain/../.git/config", "./.git/config", ".git/./config", ".git//config", ".claude/settings.json", ".github/workflows/ci.yml",
		".gitmodules", "plain/.gitattributes", ".GitModules", "plain/.pi/x", ".ailang/x", ".git\u200d/config", "git~1/config",
	} {
		if r := b.write(path, "written"); r.OK || !strings.Contains(r.Refused, "read-only") {
			t.Errorf("write %q: %+v", path, r)
		}
		if r := b.edit(path, "core", "written"); r.OK || !strings.Contains(r.Refused, "read-only") {
			t.Errorf("edit %q: %+v", path, r)
		}
	}
	if b.get(".git/config") != "[core]" || b.get("sub/.git") != "gitdir: elsewhere" {
		t.Error("a protected file was written")
	}
	b.put(".claude/settings.json", "{}")
	if r := b.read(".claude/settings.json"); !r.OK || r.Content != "{}" {
		t.Errorf("reads of other protected names are not affected: %+v", r)
	}
	if r := b.write(".gitignore", "x"); !r.OK {
		t.Errorf("control: %+v", r)
	}
}

// TestGitIsClosed: a .git says where on the host a repository lies, so it is not
// read either, whatever leads to it.
func TestGitIsClosed(t *testing.T) {
	b := newBench(t)
	b.put(".git", "gitdir: /home/operator/repo/.git/worktrees/ep-1\n")
	b.put("sub/.git", "gitdir: /home/operator/repo/.git/modules/sub\n")
	b.put("sub/deep/.GIT/worktrees/x/gitdir", "/home/operator/x/.git\n")
	b.put(".gitignore", "plain")
	b.link(".git", "innocent")
	b.link("innocent", "sub/innocent")
	b.link("deep/.GIT", "sub/dir")
	b.link(".gitignore", "control")
	for _, path := range []string{
		".git", "./.git", ".GIT", ".git/", ".git/config", "sub/.git", "sub/../.git", "sub/.giT", "sub/deep/.GIT/worktrees/x/gitdir",
		"innocent", "sub/dir/worktrees/x/gitdir", ".git\u200d", "git~1", ".git.", "none/.git/x",
	} {
		if r := b.read(path); r.OK || r.Content != "" || r.Refused != "read "+path+": .git is closed to the lane's tools: it names places of the host" {
			t.Errorf("%q: %+v", path, r)
		}
	}
	for _, path := range []string{".gitignore", "control"} {
		if r := b.read(path); !r.OK || r.Content != "plain" {
			t.Errorf("control %q: %+v", path, r)
		}
	}
}

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
		want := "read " + name + "+: the file is 4000001 bytes as JSON text; the limit is 4000000"
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
	if a, b := temporary(), temporary(); a == b || len(a) != len(leftover) {
		t.Errorf("names that can be foreseen: %s, %s", a, b)
	}
}

func TestServeWithoutPolicy(t *testing.T) {
	b := newBench(t)
	serve := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := Serve(args, strings.NewReader(`{"op":"summary"}`), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	if code, out, errs := serve(); code != 1 || out != "" || !strings.HasPrefix(errs, "policy-tool: no policy — pass --policy or export AILANG_AGENT_POLICY") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, _, _ := serve("--nonsense"); code != 2 {
		t.Errorf("an unknown flag: %d", code)
	}
	if code, _, _ := serve("--policy", b.policy, "rest"); code != 2 {
		t.Errorf("an argument: %d", code)
	}
	if code, out, _ := serve("--policy", b.policy+"x"); code != 0 || !strings.Contains(out, `"refused": "policy: `) {
		t.Errorf("an absent policy: %d %q", code, out)
	}
	b.put("../bad.toml", "nonsense = 1")
	if code, out, _ := serve("--policy", filepath.Join(b.root, "../bad.toml")); code != 0 || !strings.Contains(out, "unknown fields") {
		t.Errorf("a bad policy: %d %q", code, out)
	}
	t.Setenv(policyVariable, b.policy)
	if code, out, _ := serve(); code != 0 || !strings.HasPrefix(out, "{\n  \"ok\": true,\n") || !strings.HasSuffix(out, "}\n") {
		t.Errorf("policy by environment: %d %q", code, out)
	}
	b.put("../request.json", `{"op":"read","path":"none"}`)
	if code, out, _ := serve("--request-file", filepath.Join(b.root, "../request.json")); code != 0 || !strings.Contains(out, "read none") {
		t.Errorf("request file: %d %q", code, out)
	}
	if code, _, _ := serve("--request-file", filepath.Join(b.root, "../none.json")); code != 1 {
		t.Errorf("no request file: %d", code)
	}
}
