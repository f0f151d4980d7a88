package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"world/ci/rig"
	"world/store"
)

// codingTools are what the six grants of the preset show, in their order.
var codingTools = []string{
	"ailang-check", "ailang-cli", "ailang-edit", "ailang-read", "ailang-run", "ailang-write",
	"builtins-search", "examples-search", "workspace-list", "workspace-search",
}

// project puts files of a small project into the world's repository.
func project(t *testing.T, w *rig.World) {
	t.Helper()
	for name, content := range map[string]string{
		"README.md":           "# A project\n",
		"src/words.py":        "import sys\n\n\ndef count(text):\n    return len(text.split())\n\n\nif __name__ == \"__main__\":\n    print(count(sys.stdin.read()))\n",
		"src/broken.py":       "def f(:\n    pass\n",
		"test/test_words.py":  "import sys\nimport unittest\n\nsys.path.insert(0, \"src\")\nimport words\n\n\nclass Words(unittest.TestCase):\n    def test_count(self):\n        self.assertEqual(words.count(\"a b  c\"), 3)\n\n\nif __name__ == \"__main__\":\n    unittest.main(verbosity=2)\n",
		"scripts/report.star": "def main():\n    names = [n for n in fs.list(\"src\") if n.endswith(\".py\")]\n    fs.write(\"report.txt\", \"\\n\".join(names) + \"\\n\")\n    print(len(names), \"files\")\n",
		"scripts/broken.star": "print(undefined_name)\n",
		"logo.png":            "\x89PNG\r\n\x1a\n\x00\xff",
	} {
		path := filepath.Join(w.Repository, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"add", "."}, {"-c", "user.name=World", "-c", "user.email=world@localhost", "commit", "-q", "-m", "A project"}} {
		if out, err := exec.Command("git", append([]string{"-C", w.Repository}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
}

// agentOf calls tools and holds each answer to what every answer must be.
type agentOf struct {
	t     *testing.T
	ctx   context.Context
	agent *rig.Agent
	tells promises
}

// ok calls a tool whose effect succeeds and returns what it answers.
func (a agentOf) ok(tool string, args map[string]any) map[string]any {
	a.t.Helper()
	answer, err := a.agent.Call(a.ctx, tool, "", args)
	if err != nil || answer.IsError {
		a.t.Fatalf("%s %v: %v %+v", tool, args, err, answer)
	}
	if answer.Effect("status") != "ok" || answer.Effect("record") == "" || answer.Entry == 0 {
		a.t.Errorf("%s %v: its evidence is not complete: %+v", tool, args, answer)
	}
	a.tells.hold(a.t, tool, answer.Output)
	if strings.Contains(answer.Text, "/world-e2e-") {
		a.t.Errorf("%s %v: a path of the host: %s", tool, args, answer.Text)
	}
	return answer.Output
}

// is holds members of an answer to JSON texts, given as name and text in turn.
func (a agentOf) is(output map[string]any, pairs ...string) {
	a.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		got, err := json.Marshal(output[pairs[i]])
		if err != nil || string(got) != pairs[i+1] {
			a.t.Errorf("%s is %s, want %s, in %.600v", pairs[i], got, pairs[i+1], output)
		}
	}
}

// TestTenTools plays an agent's work with every coding tool on a real worktree.
func TestTenTools(t *testing.T) {
	w, ctx := world(t), deadline(t)
	project(t, w)
	serve(t, ctx, w)
	agent := connect(t, ctx, w, session(t, ctx, w, "work", "60"))
	if tools, err := agent.Tools(ctx); err != nil || strings.Join(tools, " ") != strings.Join(codingTools, " ") {
		t.Fatalf("listed %v, %v", tools, err)
	}
	a := agentOf{t, ctx, agent, promised(t, ctx, agent)}
	type m = map[string]any

	t.Run("list", func(t *testing.T) {
		a.is(a.ok("workspace-list", m{}), "ok", "true", "entries",
			`[{"path":"README.md","size":12,"type":"file"},{"path":"greeting.txt","size":13,"type":"file"},{"path":"logo.png","size":10,"type":"file"},`+
				`{"path":"scripts","size":0,"type":"dir"},{"path":"src","size":0,"type":"dir"},{"path":"test","size":0,"type":"dir"}]`, "cut", "null")
		a.is(a.ok("workspace-list", m{"glob": "*.py"}), "entries",
			`[{"path":"src/broken.py","size":17,"type":"file"},{"path":"src/words.py","size":123,"type":"file"},{"path":"test/test_words.py","size":238,"type":"file"}]`)
		a.is(a.ok("workspace-list", m{"path": "scripts", "limit": 1}), "cut", "true", "why", `"limit"`)
		a.is(a.ok("workspace-list", m{"path": "docs"}), "ok", "false", "refused", `"list docs: no such file or directory"`)
	})
	t.Run("search", func(t *testing.T) {
		a.is(a.ok("workspace-search", m{"query": `def (count|main)\(`}), "matches",
			`[{"line":1,"path":"scripts/report.star","text":"def main():"},{"line":4,"path":"src/words.py","text":"def count(text):"}]`, "skipped", "1")
		a.is(a.ok("workspace-search", m{"query": "COUNT(\"", "literal": true, "ignore_case": true, "glob": "test/**", "limit": 5}), "matches",
			`[{"line":10,"path":"test/test_words.py","text":"        self.assertEqual(words.count(\"a b  c\"), 3)"}]`)
		a.is(a.ok("workspace-search", m{"query": "nothing like it"}), "ok", "true", "matches", `[]`)
		a.is(a.ok("workspace-search", m{"query": "("}), "ok", "false")
	})
	t.Run("read", func(t *testing.T) {
		a.is(a.ok("ailang-read", m{"path": "src/broken.py"}), "ok", "true", "content", `"def f(:\n    pass\n"`, "cut", "null")
		a.is(a.ok("ailang-read", m{"path": "src/words.py", "offset": 3, "limit": 2}), "content", `"def count(text):\n    return len(text.split())\n"`,
			"cut", "true", "lines", "9", "next", "5")
		a.is(a.ok("ailang-read", m{"path": "src/words.py", "offset": 900}), "ok", "true", "content", `""`, "cut", "true", "why", `"past_end"`, "lines", "9", "next", "null")
		a.is(a.ok("ailang-read", m{"path": "logo.png"}), "ok", "false", "refused", `"read logo.png: not UTF-8 text; binary files cannot be read or edited as text"`)
	})
	t.Run("write and edit", func(t *testing.T) {
		a.is(a.ok("ailang-write", m{"path": "src/new.py", "content": "VALUE = 1\n"}), "ok", "true", "created", "true")
		a.is(a.ok("ailang-edit", m{"path": "src/new.py", "old_text": "1", "new_text": "2"}), "ok", "true", "line", "1",
			"diff", `"@@ -1,1 +1,1 @@\n-VALUE = 1\n+VALUE = 2\n"`)
		a.is(a.ok("ailang-write", m{"path": ".git/config", "content": ""}), "ok", "false")
		a.is(a.ok("ailang-write", m{"path": "pkg/inner/a.py", "content": ""}), "ok", "true", "changes",
			`[{"kind":"directory","path":"pkg"},{"kind":"directory","path":"pkg/inner"},{"after":"`+string(store.RefOf(nil))+`","kind":"created","path":"pkg/inner/a.py"}]`)
		changed, err := agent.Call(ctx, "ailang-write", "", m{"path": "note.txt", "content": "one\n"})
		if err != nil {
			t.Fatal(err)
		}
		why, err := w.Worldd(ctx, "why", fmt.Sprint(changed.Entry), "--db", w.DB())
		if want := "note.txt created: nothing → " + string(store.RefOf([]byte("one\n"))); err != nil || !strings.Contains(why.Stdout, want) {
			t.Errorf("why does not say %q: %v %s%s", want, err, why.Stdout, why.Stderr)
		}
		if got := read(t, w, "work", "src/new.py"); got != "VALUE = 2\n" {
			t.Errorf("the file holds %q", got)
		}
	})
	t.Run("check", func(t *testing.T) {
		a.is(a.ok("ailang-check", m{"path": "src/words.py"}), "ok", "true", "passed", "true", "error_count", "0", "errors", "[]")
		a.is(a.ok("ailang-check", m{"path": "src/broken.py"}), "ok", "true", "passed", "false", "error_count", "1", "errors",
			`[{"code":"PY_SYNTAX","column":7,"file":"src/broken.py","line":1,"message":"invalid syntax"}]`)
		a.is(a.ok("ailang-check", m{"path": "scripts/report.star"}), "passed", "true")
		a.is(a.ok("ailang-check", m{"path": "scripts/broken.star"}), "passed", "false", "errors",
			`[{"code":"STAR_NAME","column":7,"file":"scripts/broken.star","line":1,"message":"undefined: undefined_name"}]`)
		a.is(a.ok("ailang-check", m{"path": "README.md"}), "ok", "false")
	})
	t.Run("discover", func(t *testing.T) {
		a.is(a.ok("builtins-search", m{"query": "fs.write"}), "ok", "true", "count", "1", "matches", `[{"effect":"FS","module":"starlark","name":"fs.write"}]`)
		a.is(a.ok("builtins-search", m{"query": "dumps", "module": "python/json"}), "matches", `[{"effect":"any","module":"python/json","name":"dumps"}]`)
		if found := a.ok("examples-search", m{"query": "run tests"}); !strings.Contains(fmt.Sprint(found["stdout"]), "1. run_tests.py (1.00, ") {
			t.Errorf("%v", found)
		}
		if shown := a.ok("ailang-cli", m{"op": "examples_show", "module": "run_tests.py"}); !strings.Contains(fmt.Sprint(shown["stdout"]), "unittest") {
			t.Errorf("%v", shown)
		}
		if told := a.ok("ailang-cli", m{"op": "prompt"}); !strings.Contains(fmt.Sprint(told["stdout"]), "# Starlark") {
			t.Errorf("%v", told)
		}
		a.is(a.ok("ailang-cli", m{"op": "check", "path": "src/words.py", "flags": m{"quiet": ""}}), "ok", "true", "exit_code", "0", "stdout", `""`)
	})
	t.Run("run", func(t *testing.T) { runPrograms(a, w) })
	clean(t, ctx, w)
}

// runPrograms runs programs that do what agents' programs do, and what they should not.
func runPrograms(a agentOf, w *rig.World) {
	type m = map[string]any
	a.is(a.ok("ailang-run", m{"path": "src/words.py", "stdin": "three words here"}), "admitted", "true", "exit_code", "0", "stdout", `"3\n"`, "stderr", `""`,
		"limit", "null", "decision", "null", "changes", "null")
	tested := a.ok("ailang-run", m{"path": "test/test_words.py"})
	a.is(tested, "exit_code", "0", "changes", "null")
	if !strings.Contains(fmt.Sprint(tested["stderr"]), "OK") {
		a.t.Errorf("the project's tests: %v", tested)
	}
	a.is(a.ok("ailang-run", m{"path": "scripts/report.star"}), "stdout", `"3 files\n"`, "kept", "true")
	if got := read(a.t, w, "work", "report.txt"); got != "broken.py\nnew.py\nwords.py\n" {
		a.t.Errorf("the program left %q", got)
	}
	write := func(name, source string) {
		a.is(a.ok("ailang-write", m{"path": name, "content": source}), "ok", "true")
	}
	for name, c := range map[string]struct {
		source string
		args   m
		want   []string
	}{
		"prints.py":     {"print('ü')", m{}, []string{"exit_code", "0", "stdout", `"ü\n"`}},
		"args.py":       {"import sys; print(sys.argv[1:])", m{"argv": []string{"-x", "a b"}}, []string{"stdout", `"['-x', 'a b']\n"`}},
		"exits.py":      {"import sys; sys.exit(3)", m{}, []string{"exit_code", "3", "limit", "null"}},
		"loops.py":      {"while True: pass", m{}, []string{"exit_code", "null", "limit", `{"reason":"timeout","stage":"execute"}`, "kept", "false"}},
		"floods.py":     {"while True: print('x' * 1000)", m{}, []string{"exit_code", "null", "limit", `{"reason":"output_limit","stage":"execute"}`}},
		"forks.py":      {"import os,time\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(60)\nexcept OSError as e: print(e.strerror)", m{}, []string{"stdout", `"Resource temporarily unavailable\n"`}},
		"allocates.py":  {"x = []\ntry:\n  while True: x.append(bytearray(1 << 20))\nexcept MemoryError: print('no more')", m{}, []string{"stdout", `"no more\n"`}},
		"background.py": {"import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 2; echo late > late.txt'])\nprint('gone')", m{}, []string{"exit_code", "0", "stdout", `"gone\n"`}},
		"outside.py": {"for path in ['/etc/planted', '../planted', '/tmp/../root/planted']:\n  try: open(path, 'w')\n  except OSError as e: print(e.strerror)", m{},
			[]string{"exit_code", "0", "changes", "null"}},
		"json.star": {"def main(x): print(x['a'] + 1)", m{"args_json": `{"a":41}`}, []string{"stdout", `"42\n"`}},
		"caps.star": {"print(1)", m{"caps": []string{"FS"}}, []string{"exit_code", "1", "stdout", `""`}},
		"none.star": {"nothing()", m{}, []string{"admitted", "false", "stdout", `""`}},
	} {
		write(name, c.source+"\n")
		c.args["path"] = name
		a.is(a.ok("ailang-run", c.args), c.want...)
	}
	for _, left := range []string{"late.txt", "../planted"} {
		if _, err := os.Stat(filepath.Join(w.Worktree("work"), left)); err == nil {
			a.t.Errorf("a program left %s", left)
		}
	}
	write("protected.py", "import os\nopen('fine.txt', 'w').write('x')\nos.makedirs('deep/.git/hooks')\n")
	a.is(a.ok("ailang-run", m{"path": "protected.py"}), "admitted", "true", "exit_code", "0", "kept", "false", "changes", "null", "limit",
		`{"message":"deep/.git: .git/ is read-only to the lane's tools; nothing that the program changed was kept","reason":"changes_refused","stage":"apply"}`)
	if _, err := os.Stat(filepath.Join(w.Worktree("work"), "fine.txt")); err == nil {
		a.t.Error("a refused run left something")
	}
}

// TestRunBudgets holds the two layers of budget, and that a run with Env spends that
// effect and not the other.
func TestRunBudgets(t *testing.T) {
	w, ctx := world(t), deadline(t)
	if _, err := w.Serve(ctx, "--run-allow-caps", "Env"); err != nil {
		t.Fatal(err)
	}
	session(t, ctx, w, "ep", "0")
	mint := func(episode string, grants ...string) *rig.Agent {
		args := []string{"mint", "--episode", episode, "--db", w.DB(), "--state-dir", w.State()}
		for _, grant := range grants {
			args = append(args, "--grant", grant)
		}
		credential, err := w.Mint(ctx, args...)
		if err != nil {
			t.Fatal(err)
		}
		return connect(t, ctx, w, credential)
	}
	if err := os.WriteFile(filepath.Join(w.Worktree("ep"), "env.star"), []byte("print(env('HOME'))\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(agent *rig.Agent, caps ...string) rig.Answer {
		args := map[string]any{"path": "env.star"}
		if caps != nil {
			args["caps"] = caps
		}
		answer, err := agent.Call(ctx, "ailang-run", "", args)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	none := mint("ep", "Ailang.Run=worktree:0")
	if tools, err := none.Tools(ctx); err != nil || fmt.Sprint(tools) != "[ailang-run]" {
		t.Errorf("a budget of 0 shows %v, %v", tools, err)
	}
	if answer := run(none); !answer.IsError || answer.Effect("denial") != "denied:budget" {
		t.Errorf("a budget of 0: %+v", answer)
	}
	if answer := run(none, "Env", "IO"); !answer.IsError || answer.Effect("denial") != "denied:effect-name" {
		t.Errorf("Env without its grant: %+v", answer)
	}
	both := mint("ep", "Ailang.Run=worktree:1", "Ailang.RunEnv=worktree:1", "Ailang.RunNet=worktree:1")
	if answer := run(both, "Env", "IO"); answer.IsError || answer.Output["stdout"] != "/tmp/home\n" {
		t.Errorf("Env: %+v", answer)
	}
	if answer := run(both, "Env", "IO"); answer.Effect("denial") != "denied:budget" {
		t.Errorf("Env once more: %+v", answer)
	}
	// Its own unit was not touched.
	if answer := run(both); answer.IsError || answer.Output["exit_code"] != float64(1) {
		t.Errorf("without Env: %+v", answer)
	}
	// A capability that the operator has not enabled fails, and its unit stays spent.
	if answer := run(both, "Net"); !answer.IsError || answer.Effect("status") != "failed" || !strings.Contains(answer.Text, `capability "Net" is not enabled by the operator (serve --run-allow-caps)`) {
		t.Errorf("Net: %+v", answer)
	}
	if answer := run(both, "Net"); answer.Effect("denial") != "denied:budget" {
		t.Errorf("Net once more: %+v", answer)
	}
	clean(t, ctx, w)
}

// TestWithoutWorktrees: a declared effect that no handler serves is refused before
// any plan runs, and spends nothing (R8).
func TestWithoutWorktrees(t *testing.T) {
	w, ctx := world(t), deadline(t)
	serve(t, ctx, w)
	credential := session(t, ctx, w, "ep", "1")
	if code, err := w.Daemon.Stop(); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	if _, err := w.Serve(ctx, "--workspace-root", ""); err != nil {
		t.Fatal(err)
	}
	agent := connect(t, ctx, w, credential)
	for _, tool := range []string{"ailang-run", "ailang-check", "workspace-list"} {
		answer, err := agent.Call(ctx, tool, "", map[string]any{"path": "greeting.txt"})
		if err != nil || !answer.IsError || !strings.Contains(answer.Text, "declares effects with no registered handler") || answer.Effect("intent") != "" {
			t.Errorf("%s: %v %+v", tool, err, answer)
		}
	}
	if code, err := w.Daemon.Stop(); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	serve(t, ctx, w)
	if answer, err := connect(t, ctx, w, credential).Call(ctx, "workspace-list", "", nil); err != nil || answer.IsError {
		t.Errorf("control: %v %+v", err, answer)
	}
	clean(t, ctx, w)
}
