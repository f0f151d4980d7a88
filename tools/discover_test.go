package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/broker/law"
	"world/confine"
	"world/store"
)

// TestDiscover asks world-tool what there is, at both levels that serve operations:
// some of it asks python3, and a corpus may lie outside the worktree.
func TestDiscover(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		d := newDesk(t, level, "")
		corpus := filepath.Join(d.base, "corpus")
		if err := os.Mkdir(corpus, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(corpus, "own.star"), []byte("# Greets the moon\n# tags: moon\nprint('moon')\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d.put("good.py", "import os\n")
		d.put("bad.py", "import (\n")
		d.put("good.star", "print(1)\n")
		ask := func(effect law.Effect, payload, want string) {
			t.Helper()
			r := d.handle(effect, payload)
			if r.Status != store.StatusSucceeded || !strings.Contains(string(r.Output), want) {
				t.Errorf("%s %s: %s %s", level, payload, r.Output, r.Detail)
			}
		}
		ask(AilangDiscover, `{"op":"builtins_list"}`, `json [module] python\n`)
		ask(AilangDiscover, `{"op":"builtins_list","flags":{"module":"python/json"}}`, `dumps [any] python/json\n`)
		ask(AilangDiscover, `{"op":"examples_search","query":"json"}`, "rewrite_json.star")
		ask(AilangCLI, `{"op":"builtins_show","module":"fs.read"}`, "fs.read(path)")
		ask(AilangCLI, `{"op":"prompt"}`, "# Starlark")
		ask(AilangCheck, `{"op":"ai_check","path":"good.py"}`, `"ok":true`)
		ask(AilangCheck, `{"op":"ai_check","path":"bad.py"}`, "PY_SYNTAX")
		ask(AilangCheck, `{"op":"ai_check","path":"good.star"}`, `"ok":true`)
		// Of a corpus of the operator's own, that is all there is.
		handler, err := NewHandler(Options{
			Jail: d.handler.jail, Examples: corpus, StateDir: filepath.Join(d.base, "state"), WorkspaceRoot: filepath.Join(d.base, "root"),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer handler.Close()
		d.handler = handler
		ask(AilangDiscover, `{"op":"examples_search","query":"moon"}`, "1. own.star (1.00, Greets the moon)")
		ask(AilangDiscover, `{"op":"examples_search","query":"json"}`, "Found 0 examples")
		ask(AilangCLI, `{"op":"examples_show","module":"own.star"}`, "print('moon')")
	}
}
