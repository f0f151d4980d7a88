package tools

import (
	"context"
	"testing"

	"world/broker"
	"world/broker/law"
	"world/confine"
	"world/store"
)

// BenchmarkHandle measures the handler alone: the fence, the tool in it, and what
// is made of its answer.
func BenchmarkHandle(b *testing.B) {
	d := newDesk(b, confine.Namespaces, "")
	d.put("a.txt", "hello")
	d.put("empty.py", "")
	d.put("empty.star", "")
	for name, c := range map[string]struct {
		effect  law.Effect
		payload string
	}{
		"read":     {WorkspaceRead, `{"op":"read","path":"a.txt"}`},
		"write":    {WorkspaceWrite, `{"op":"write","path":"b.txt","content":"x"}`},
		"check-py": {AilangCheck, `{"op":"ai_check","path":"empty.py"}`},
		"run-py":   {AilangRun, `{"path":"empty.py"}`},
		"run-star": {AilangRun, `{"path":"empty.star"}`},
	} {
		b.Run(name, func(b *testing.B) {
			job := broker.Job{Episode: episode, Effect: c.effect, Scope: Worktree, Cost: 1, Payload: []byte(c.payload), Deadline: broker.DefaultDeadline}
			for b.Loop() {
				if r := d.handler.Handle(context.Background(), job); r.Status != store.StatusSucceeded {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}
