package e2e

import (
	"context"
	"strings"
	"testing"

	"world/ci/rig"
)

// TestKillInHandler cuts an edit in its handler with kill -9: the tool is gone,
// the file stays as it was, the intent is indeterminate and its unit spent,
// and nothing is retried.
func TestKillInHandler(t *testing.T) {
	w, ctx := served(t)
	credential := session(t, ctx, w, "cut", "2")
	agent := connect(t, ctx, w, credential)

	edit := map[string]any{"path": "greeting.txt", "old_text": "hello", "new_text": "goodbye"}
	if answer, err := agent.Call(ctx, "ailang-edit", "control", edit); err != nil || answer.IsError {
		t.Fatalf("control: %+v, %v", answer, err)
	}
	if got := read(t, w, "cut", "greeting.txt"); got != "goodbye, world\n" {
		t.Fatalf("control: the file holds %q", got)
	}

	if err := w.Hold("cut"); err != nil {
		t.Fatal(err)
	}
	back := map[string]any{"path": "greeting.txt", "old_text": "goodbye", "new_text": "hello again"}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if answer, err := agent.Call(ctx, "ailang-edit", "cut", back); err == nil {
			t.Errorf("the cut call was answered: %+v", answer)
		}
	}()
	if err := w.Held("cut"); err != nil {
		t.Fatal(err)
	}
	tool, err := rig.Descendants(w.Daemon.Pid())
	if err != nil || len(rig.Alive(tool)) == 0 {
		t.Fatal("control: no tool process is seen while the call is held")
	}
	w.Daemon.Kill()
	<-gone
	if err := rig.Until("the tool to be gone", func() bool { return len(rig.Alive(tool)) == 0 }); err != nil {
		t.Fatal(err, rig.Alive(tool))
	}
	if err := w.Release("cut"); err != nil {
		t.Fatal(err)
	}

	d := serve(t, ctx, w)
	if !strings.Contains(d.Said(), "effect:cut:1") || !strings.Contains(d.Said(), "indeterminate") {
		t.Errorf("serve does not name the indeterminate intent: %s", d.Said())
	}
	agent = connect(t, ctx, w, credential)
	for range 2 {
		answer, err := agent.Call(ctx, "ailang-edit", "cut", back)
		if err != nil || !answer.IsError || !strings.Contains(answer.Text, "indeterminate") {
			t.Fatalf("the resent id is answered %+v, %v", answer, err)
		}
	}
	answer, err := agent.Call(ctx, "ailang-edit", "next", back)
	if err != nil || !strings.Contains(answer.Text, "denied:budget") {
		t.Errorf("both units should be spent, got %+v, %v", answer, err)
	}
	if got := read(t, w, "cut", "greeting.txt"); got != "goodbye, world\n" {
		t.Errorf("after the restart the file holds %q", got)
	}
	clean(t, ctx, w)
}

// TestDisconnectInCall drops the client while its call is in the handler: the
// call finishes and is found by its id.
func TestDisconnectInCall(t *testing.T) {
	w, ctx := served(t)
	credential := session(t, ctx, w, "lost", "5")
	leaving := connect(t, ctx, w, credential)
	if err := w.Hold("lost"); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"path": "made.txt", "content": "made\n"}
	call, drop := context.WithCancel(ctx)
	gone := make(chan error, 1)
	go func() {
		_, err := leaving.Call(call, "ailang-write", "lost", args)
		gone <- err
	}()
	if err := w.Held("lost"); err != nil {
		t.Fatal(err)
	}
	drop()
	if err := <-gone; err == nil {
		t.Fatal("the dropped call was answered")
	}
	if err := w.Release("lost"); err != nil {
		t.Fatal(err)
	}

	agent := connect(t, ctx, w, credential)
	answer, err := agent.Call(ctx, "ailang-write", "lost", args)
	if err != nil || answer.IsError {
		t.Fatalf("the finished call is not found by its id: %+v, %v", answer, err)
	}
	if got := read(t, w, "lost", "made.txt"); got != "made\n" {
		t.Errorf("the file holds %q", got)
	}
	other := map[string]any{"path": "made.txt", "content": "other\n"}
	if answer, err := agent.Call(ctx, "ailang-write", "lost", other); err != nil || !answer.IsError {
		t.Errorf("the id with other arguments is answered %+v, %v", answer, err)
	}
	if got := read(t, w, "lost", "made.txt"); got != "made\n" {
		t.Errorf("after the resends the file holds %q", got)
	}
	clean(t, ctx, w)
}
