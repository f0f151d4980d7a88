package policytool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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
