package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"world/ci/crash/scene"
)

// recorder takes a test's errors for itself.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// lived is a world in which a victim without stop points lived to its end, though
// it was told to die.
func lived(t *testing.T) *world {
	t.Helper()
	build(t)
	w := begin(t, "sqlite", 2)
	random := source(t.Name())
	script := scene.Script{Store: w.where, Marks: w.marks, Sessions: w.sessions, Patience: patience}
	for range 2 {
		var calls []scene.Call
		for i := range 8 {
			calls = append(calls, w.draw(random, i%2))
		}
		script.Callers = append(script.Callers, calls)
	}
	p := startProgram(t, filepath.Join(bin, "plain", "victim"), script, "after-intent@1")
	if p.killed() {
		t.Fatal("a build without the tag has stop points")
	}
	w.hear(p.said())
	w.settled = true
	return w
}

// TestJudgeSees tampers with what a judgement rests on, one thing at a time. Each
// is named, and without it there is nothing to name.
func TestJudgeSees(t *testing.T) {
	w := lived(t)
	if v := w.judge(nil); v.intents == 0 || v.open != 0 || v.replayed < 16 {
		t.Fatalf("the world is too small to tamper with: %+v", v)
	}
	marks, err := os.ReadFile(w.marks)
	ok(t, err)
	mark := func(text string) func() { return func() { ok(t, os.WriteFile(w.marks, []byte(text), 0o600)) } }
	for _, tt := range []struct {
		name   string
		tamper func()
		mend   func()
	}{
		{"an effect that happened twice", mark(string(marks) + string(marks)), mark(string(marks))},
		{"an effect without an intent", mark(string(marks) + "effect:ep-0:999\n"), mark(string(marks))},
		{"an outcome without an effect", mark(""), mark(string(marks))},
		{"an acknowledged call that is gone", func() {
			c := w.know(scene.Call{Task: "never"})
			c.ends = []scene.Line{{Say: "done", Entry: 7}}
		}, func() { delete(w.calls, "never") }},
		{"an indeterminate call without an intent", func() {
			c := w.know(scene.Call{Task: "never"})
			c.ends = []scene.Line{{Say: "lost"}}
		}, func() { delete(w.calls, "never") }},
		{"spend beyond the budget", func() { w.sessions[0].Record.Grants[0].Budget = 1 }, func() { w.sessions[0].Record.Grants[0].Budget = 1 << 40 }},
	} {
		r := &recorder{TB: t}
		w.t = r
		tt.tamper()
		w.judge(nil)
		tt.mend()
		if len(r.errors) == 0 {
			t.Errorf("%s goes unseen", tt.name)
		}
	}
	r := &recorder{TB: t}
	w.t = r
	if w.judge(nil); len(r.errors) > 0 {
		t.Errorf("control: %v", r.errors)
	}
}
