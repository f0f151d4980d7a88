package tools

import (
	"strings"
	"testing"

	"world/canon"
	"world/store"
)

// TestRefusalTexts holds the exact texts of reference/world.md §7.2.
func TestRefusalTexts(t *testing.T) {
	path := func(p string) string {
		return `path "` + p + `" refused: it must be relative and non-empty, with no ".." segment and no leading "-"`
	}
	tests := []struct {
		id          store.TransitionID
		input, want string
	}{
		{"ailang-read", phase(`{"path":"a","mode":"x"}`), `unknown argument "mode"; ailang-read admits only: bytes, limit, offset, path`},
		{"ailang-read", phase(`{"path":"a","offset":-1}`), `argument "offset" must be a whole number from 0`},
		{"ailang-read", phase(`{"path":"a","limit":"3"}`), `argument "limit" must be a whole number from 1`},
		{"ailang-read", phase(`{"path":"a","limit":1.5}`), `argument "limit" must be a whole number from 1`},
		{"ailang-read", phase(`{"path":"a","limit":0}`), `argument "limit" must be a whole number from 1`},
		{"ailang-read", phase(`{"path":"a","offset":9007199254740993}`), `argument "offset" must be a whole number from 0`},
		{"ailang-read", phase(`{"path":"a","bytes":"true"}`), `argument "bytes" must be true or false`},
		{"workspace-list", phase(`{"limit":0}`), `argument "limit" must be a whole number from 1 to 5000`},
		{"workspace-list", phase(`{"limit":5001}`), `argument "limit" must be a whole number from 1 to 5000`},
		{"workspace-search", phase(`{"query":"x","limit":-1}`), `argument "limit" must be a whole number from 1 to 1000`},
		{"workspace-search", phase(`{"query":"x","limit":1001}`), `argument "limit" must be a whole number from 1 to 1000`},
		{"workspace-list", phase(`{"path":""}`), path("")},
		{"workspace-search", phase(`{}`), `missing required argument "query"`},
		{"workspace-search", phase(`{"query":"x","literal":"true"}`), `argument "literal" must be true or false`},
		{"builtins-search", phase(`{"query":["x"]}`), `argument "query" must be a string`},
		{"builtins-search", phase(`{"path":"x"}`), `unknown argument "path"; builtins-search admits only: module, query`},
		{"examples-search", phase(`{"query":" -- "}`), `argument "query" names nothing to search for`},
		{"ailang-check", phase(`{"path":"../a"}`), path("../a")},
		{"ailang-cli", phase(`{"op":"run"}`), `op "run" is not an ailang-cli op; reads, writes and edits have their own tools, and run is ailang-run; the ops are: agent_prompt, ai_check, axioms, builtins_list, builtins_show, check, devtools_prompt, docs_search, examples_list, examples_search, examples_show, examples_tags, fmt, iface, pkg_docs, policy_check, prompt, test, tree, version`},
		{"ailang-cli", phase(`{"op":"read","path":"a"}`), `op "read" is not an ailang-cli op; reads, writes and edits have their own tools, and run is ailang-run; the ops are: agent_prompt, ai_check, axioms, builtins_list, builtins_show, check, devtools_prompt, docs_search, examples_list, examples_search, examples_show, examples_tags, fmt, iface, pkg_docs, policy_check, prompt, test, tree, version`},
		{"ailang-cli", phase(`{"op":"fmt","path":"a","flags":{"write":""}}`), `op "fmt" flag "write" writes the worktree; ailang-cli never writes (where the tool has fmt, flag "check" says whether there is something to format)`},
		{"ailang-cli", phase(`{"op":"check","flags":{"json":true}}`), `argument "flags" must be an object of string values`},
		{"ailang-cli", phase(`{"op":"check","flags":["json"]}`), `argument "flags" must be an object of string values`},
		{"ailang-run", phase(`{"path":"a","stdin":"` + strings.Repeat("x", 65537) + `"}`), `argument "stdin" is 65537 bytes; the limit is 65536`},
		{"ailang-run", phase(`{"path":"a","args_json":"\"` + strings.Repeat("x", 127_999) + `\""}`), `argument "args_json" is 128001 bytes; the limit is 128000`},
		{"ailang-run", phase(`{"path":"a","argv":[` + strings.Repeat(`"",`, 32) + `""]}`), `argument "argv" has 33 items; the limit is 32`},
		{"ailang-run", phase(`{"path":"a","argv":["","` + strings.Repeat("x", 1025) + `"]}`), `an argv item is 1025 bytes; the limit is 1024`},
		{"ailang-run", phase(`{"path":"a","argv":["a\u0000"]}`), `an argv item contains a NUL byte`},
		{"ailang-run", phase(`{"path":"a","argv":[1]}`), `argument "argv" must be a list of strings`},
		{"ailang-run", phase(`{"path":"a","caps":["IO","Root"]}`), `unknown capability "Root"; caps admits only: Declassify, Env, FS, IO, Net`},
		{"ailang-run", phase(`{"path":"a","caps":["IO","IO"]}`), `capability "IO" is listed twice`},
		{"ailang-run", phase(`{"path":"a","caps":["Net","Env"]}`), `caps names both Env and Net; one run takes at most one of them`},
		{"ailang-run", phase(`{"path":"a","args_json":"{"}`), `argument "args_json" must be a string holding JSON`},
		{"ailang-run", phase(`{"path":"a","args_json":1}`), `argument "args_json" must be a string holding JSON`},
		{"ailang-run", phase(`{"path":"-a"}`), path("-a")},
		{"ailang-write", phase(`{"x":1}`), `unknown argument "x"; ailang-write admits only: content, path`},
		{"ailang-edit", phase(`{"Path":"a"}`), `unknown argument "Path"; ailang-edit admits only: new_text, old_text, path`},
		{"ailang-read", phase(`{}`), `missing required argument "path"`},
		{"ailang-write", phase(`{"path":"a"}`), `missing required argument "content"`},
		{"ailang-edit", phase(`{"path":"a","new_text":"b"}`), `missing required argument "old_text"`},
		{"ailang-read", phase(`{"path":1}`), `argument "path" must be a string`},
		{"ailang-read", phase(`{"path":null}`), `argument "path" must be a string`},
		{"ailang-write", phase(`{"path":"a","content":["x"]}`), `argument "content" must be a string`},
		{"ailang-read", phase(`[]`), "arguments must be a JSON object"},
		{"ailang-read", phase(`null`), "arguments must be a JSON object"},
		{"ailang-read", `{"phase":"plan"}`, "the input carries no args"},
		{"ailang-read", `{"phase":"plan","args":{},"extra":1}`, `input key "extra" is not part of calling convention v2`},
		{"ailang-read", `{"phase":"other","args":{}}`, `phase must be "plan" or "finish"`},
		{"ailang-read", `{"args":{}}`, `phase must be "plan" or "finish"`},
	}
	for _, p := range []string{"", "/etc/passwd", "-x", "..", "../x", "a/..", "a/../b", "../..", "/"} {
		tests = append(tests, struct {
			id          store.TransitionID
			input, want string
		}{"ailang-read", phase(`{"path":` + string(canon.NewString(p).Bytes()) + `}`), path(p)})
	}
	for _, test := range tests {
		p := planned(t, test.id, test.input)
		refused, _ := p.Result.Get("refused")
		text, _ := refused.Text()
		ok, _ := p.Result.Get("ok")
		if value, isBool := ok.Bool(); len(p.Effects) != 0 || text != test.want || value || !isBool {
			t.Errorf("%s %s: %s", test.id, test.input, p.Bytes)
		}
	}
	for _, p := range []string{"x/", "a/b//", "./"} {
		tests = append(tests, struct {
			id          store.TransitionID
			input, want string
		}{"ailang-read", phase(`{"path":"` + p + `"}`), `path "` + p + `" refused: it must name a file, with no "/" at its end`})
	}
	for _, p := range []string{"..a", "a..", "a/..b", "a/b..", ".hidden", "a-b", "a/-b", "...", "."} {
		if got := planned(t, "ailang-read", phase(`{"path":"`+p+`"}`)); len(got.Effects) != 1 {
			t.Errorf("path %q is refused: %s", p, got.Bytes)
		}
	}
}
