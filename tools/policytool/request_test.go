package policytool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/fault"
	"world/tools/policy"
)

func TestDecodeRequest(t *testing.T) {
	q, err := DecodeRequest([]byte(` {"op":"edit","path":"ü","old_text":"\ud83d\ude00","new_text":"","flags":{"a":"b"}} `))
	if err != nil || q.Op != "edit" || q.Path != "ü" || q.OldText != "😀" || q.Flags["a"] != "b" || strings.Join(q.Given, " ") != "flags new_text old_text path" {
		t.Fatalf("%+v, %v", q, err)
	}
	for _, raw := range []string{
		``, `null`, `[]`, `"op"`, `{}`, `{"op":""}`, `{"op":1}`, `{"op":null}`, `{"OP":"read"}`, `{"op":"read","Path":"x"}`,
		`{"op":"read","op":"write"}`, `{"op":"read","path":"a","path":"b"}`, `{"op":"read","x":"y"}`, `{"op":"read"} {}`, `{"op":"read"}x`,
		`{"op":"read","path":["a"]}`, `{"op":"read","flags":"x"}`, `{"op":"read","flags":{"a":true}}`, `{"op":"read","flags":{"a":"1","a":"2"}}`,
		`{"op":"read","flags":null}`, `{"op":"read","path":"\ud800"}`, "{\"op\":\"read\",\"path\":\"\xff\"}", `{"op":"read","path":"a}`, `{"op":"read",}`,
		`{"op":"read","module":1}`,
	} {
		if q, err := DecodeRequest([]byte(raw)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %+v, %v", raw, q, err)
		}
	}
	b := newBench(t)
	if code, _, stderr := b.ask(`{"op":"read","op":"write"}`); code != 1 || !strings.HasPrefix(stderr, "policy-tool: ") {
		t.Errorf("%d %q", code, stderr)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{`{"op":"read","path":"a"}`, `{"op":"edit","path":"a","old_text":"b","new_text":"c","flags":{"x":"y"}}`, `{"op":"read","op":"x"}`, `{"Op":"x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, err := DecodeRequest(raw)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("kind of %v", err)
			}
			return
		}
		// What is accepted means the same to a lenient reader: no alias, no repeat.
		var lenient map[string]any
		if err := json.Unmarshal(raw, &lenient); err != nil {
			t.Fatalf("accepted what JSON readers refuse: %v", err)
		}
		if lenient["op"] != q.Op || len(lenient) != len(q.Given)+1 {
			t.Fatalf("%v reads as %+v", lenient, q)
		}
	})
}

func FuzzLocate(f *testing.F) {
	for _, seed := range []string{"a", "sub/a", "../x", "out/secret", "in/../../x", ".//a", "loop", "sub/../sub/a"} {
		f.Add(seed)
	}
	base := f.TempDir()
	root := filepath.Join(base, "root")
	if err := os.MkdirAll(filepath.Join(root, "sub"), 0o755); err != nil {
		f.Fatal(err)
	}
	for name, target := range map[string]string{"out": "..", "in": "sub", "loop": "loop", "sub/up": "../.."} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "secret"), nil, 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		tree, err := openTree(policy.For(root))
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		p, err := tree.locate(path)
		if err != nil {
			return
		}
		defer p.Close()
		if !filepath.IsLocal(p.path) {
			t.Fatalf("%q led to %q", path, p.path)
		}
		info, err := os.Lstat(filepath.Join(root, p.path))
		if (err == nil) != (p.info != nil) || err == nil && !os.SameFile(info, p.info) {
			t.Fatalf("%q led to %q, which is %v, %v", path, p.path, info, err)
		}
	})
}
