package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"world/ci/rig"
)

// worker is one caller: it has a file of its own in its episode's worktree and knows
// what it may hold.
type worker struct {
	*field
	name    string
	episode int
	draw    *rand.Rand
	agent   *rig.Agent
	number  int
	holds   map[string]bool // what the file may hold: more than one text after a call that was cut
}

// act is one kind of call.
type act struct {
	weight int
	tool   string
	args   func(w *worker) map[string]any
	says   string // in an answer that was not cut
}

type m = map[string]any

// acts are the kinds, the cheap ones more often.
var acts = []act{
	{20, "ailang-read", func(*worker) m { return m{"path": "greeting.txt"} }, "hello, world"},
	{5, "ailang-read", func(*worker) m { return m{"path": "greeting.txt", "limit": 1} }, `"lines":1`},
	{6, "ailang-read", func(*worker) m { return m{"path": "../greeting.txt"} }, "refused"},
	{4, "ailang-write", func(*worker) m { return m{"path": ".git/config", "content": "x"} }, "read-only"},
	{8, "workspace-list", func(*worker) m { return m{"glob": "*.txt"} }, "greeting.txt"},
	{8, "workspace-search", func(*worker) m { return m{"query": "hello"} }, "greeting.txt"},
	{20, "ailang-write", (*worker).next, `"ok":true`},
	{4, "examples-search", func(*worker) m { return m{"query": "json"} }, "rewrite_json"},
	{3, "builtins-search", func(*worker) m { return m{"query": "fs.read"} }, `"count":1`},
	{4, "ailang-cli", func(*worker) m { return m{"op": "prompt"} }, "Starlark"},
	{6, "ailang-check", func(*worker) m { return m{"path": "ok.star"} }, `"passed":true`},
	{2, "ailang-check", func(*worker) m { return m{"path": "ok.py"} }, `"passed":true`},
	{5, "ailang-run", func(*worker) m { return m{"path": "ok.star"} }, `"stdout":"1\n"`},
	{4, "ailang-run", func(*worker) m { return m{"path": "ok.py"} }, `"stdout":"1\n"`},
	{1, "ailang-run", func(*worker) m { return m{"path": "leaves.py"} }, `"exit_code":0`},
}

// programs lie in every worktree.
var programs = map[string]string{
	"ok.star":   "print(1)\n",
	"ok.py":     "print(1)\n",
	"leaves.py": "import subprocess\nsubprocess.Popen(['sleep', '1000'])\nopen('/tmp/left', 'w').write('x')\n",
}

// next writes the worker's file anew.
func (w *worker) next() m {
	w.number++
	return m{"path": w.name + ".txt", "content": fmt.Sprintf("%s %d\n", w.name, w.number)}
}

// work makes n calls. One of ten is left by its client before its answer comes.
func (w *worker) work(ctx context.Context, n int) {
	for name, source := range programs {
		path := filepath.Join(w.world.Worktree(episodeName(w.episode)), name)
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			w.t.Error(err)
			return
		}
	}
	var err error
	if w.agent, err = w.world.Daemon.Connect(ctx, w.credentials[w.episode]); err != nil {
		w.t.Error(err)
		return
	}
	defer func() { w.agent.Close() }()
	w.holds = map[string]bool{w.read(): true}
	for range n {
		a := w.pick()
		args := a.args(w)
		content, writes := args["content"].(string)
		writes = writes && args["path"] != ".git/config"
		if w.draw.IntN(10) == 0 {
			w.leave(ctx, a, args)
			if writes {
				w.holds[content] = true
			}
			continue
		}
		answer, err := w.agent.Call(ctx, a.tool, "", args)
		switch {
		case err != nil:
			w.t.Errorf("%s %v: %v", a.tool, args, err)
			return
		case strings.Contains(answer.Text, a.says) && !answer.IsError:
			if writes {
				w.holds = map[string]bool{content: true}
			}
		case !cut(answer):
			w.t.Errorf("%s %v: %s", a.tool, args, answer.Text)
		case writes:
			w.holds[content] = true
		}
	}
	if _, err := w.agent.Call(ctx, "ailang-read", "", m{"path": "greeting.txt"}); err != nil { // the last that was left has ended by then
		w.t.Error(err)
	}
	if got := w.read(); !w.holds[got] {
		w.t.Errorf("%s: its file holds %q, and may hold %v", w.name, got, w.holds)
	}
}

func (w *worker) read() string {
	b, err := os.ReadFile(filepath.Join(w.world.Worktree(episodeName(w.episode)), w.name+".txt"))
	if err != nil {
		return ""
	}
	return string(b)
}

func (w *worker) pick() act {
	sum := 0
	for _, a := range acts {
		sum += a.weight
	}
	n := w.draw.IntN(sum)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			return a
		}
	}
	panic("soak: the weights are not summed")
}

// leave makes a call and goes away before it can have ended.
func (w *worker) leave(ctx context.Context, a act, args m) {
	left, cancel := context.WithTimeout(ctx, time.Duration(w.draw.IntN(30))*time.Millisecond)
	defer cancel()
	if _, err := w.agent.Call(left, a.tool, "", args); err != nil {
		w.cuts.Add(1)
	}
}
