package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"world/broker"
	"world/broker/law"
	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/plan"
	"world/store"
	"world/tools/policy"
)

// TestOrdinaryUser runs the handler again for a daemon that is an ordinary user,
// whose programs are the same user as its state.
func TestOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^Test(Handle|ToolCannotGetOut|Wrapper|NeverStarted|Run|RunLeavesWhatItWrote|RunOfAProtectedName|RunLeavesNobody|RunForgesNothing)$", confinetest.WorldTool)
}

func TestHandle(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		d := newDesk(t, level, "")
		d.put("a.txt", "one two")
		r := d.handle(WorkspaceRead, `{"op":"read","path":"a.txt"}`)
		rules, err := policy.For(d.worktree).Render()
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != store.StatusSucceeded || member(r, "content") != `"one two"` || member(r, "ok") != "true" ||
			member(r, "tool") != `"`+string(d.handler.Tool())+`"` || member(r, "policy_digest") != `"`+policy.Digest(rules)+`"` || member(r, "world") != "" {
			t.Errorf("%s: %+v %s", level, r, r.Output)
		}
		d.put("empty", "")
		if r := d.handle(WorkspaceRead, `{"op":"read","path":"empty"}`); member(r, "content") != `""` {
			t.Errorf("%s: an empty file: %s", level, r.Output)
		}
		if r := d.handle(WorkspaceWrite, `{"content":"<ü>","op":"write","path":"b.txt"}`); r.Status != store.StatusSucceeded || d.get("b.txt") != "<ü>" {
			t.Errorf("%s: %+v", level, r)
		}
		if r := d.handle(WorkspaceWrite, `{"content":"x","op":"write","path":"new/deep/c.txt"}`); r.Status != store.StatusSucceeded || d.get("new/deep/c.txt") != "x" {
			t.Errorf("%s: %+v %s", level, r, r.Output)
		}
		if r := d.handle(WorkspaceWrite, `{"new_text":"three","old_text":"two","op":"edit","path":"a.txt"}`); r.Status != store.StatusSucceeded || d.get("a.txt") != "one three" {
			t.Errorf("%s: %+v", level, r)
		}
		// A refusal is an answer, and the effect succeeded.
		if r := d.handle(WorkspaceWrite, `{"content":"x","op":"write","path":".git/config"}`); r.Status != store.StatusSucceeded ||
			member(r, "refused") != `"write .git/config: .git/ is read-only to the lane's tools"` || member(r, "ok") != "false" {
			t.Errorf("%s: %+v %s", level, r, r.Output)
		}
		if info, err := os.Stat(filepath.Join(d.base, "state", "policies", "ep-1.toml")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: policy %v, %v", level, info, err)
		}
		if os.Geteuid() == 0 {
			info, err := os.Stat(filepath.Join(d.worktree, "b.txt"))
			if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(confine.UserOf(string(episode))) {
				t.Errorf("%s: %v, %v", level, info, err)
			}
		}
	}
}

func TestHandleRefusesBeforeRunning(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "touch ran; exit 3\n") // would leave a trace
	tests := []struct {
		effect        law.Effect
		payload, want string
	}{
		{WorkspaceRead, `{"op":"write","path":"a","content":"x"}`, `broker: Workspace.Read refuses op "write": not in this effect's op allowlist`},
		{WorkspaceWrite, `{"op":"read","path":"a"}`, `broker: Workspace.Write refuses op "read": not in this effect's op allowlist`},
		{WorkspaceRead, `{"op":"run"}`, `broker: Workspace.Read refuses op "run": not in this effect's op allowlist`},
		{AilangCheck, `{"op":"read"}`, `broker: Ailang.Check refuses op "read": not in this effect's op allowlist`},
		{WorkspaceRead, `{"path":"a"}`, `broker: Workspace.Read refuses op "": not in this effect's op allowlist`},
		{WorkspaceRead, `{"op":["read"]}`, `broker: Workspace.Read refuses op "": not in this effect's op allowlist`},
		{WorkspaceRead, `{"OP":"write","op":"read"}`, `broker: Workspace.Read refuses the payload: key "OP" aliases "op"`},
		{WorkspaceRead, `{"Flags":{},"op":"read"}`, `broker: Workspace.Read refuses the payload: key "Flags" aliases "flags"`},
		{WorkspaceRead, `{"op":"read","path":"x","\u017funknown":"","pa\u0074H":"y"}`, `broker: Workspace.Read refuses the payload: key "patH" aliases "path"`},
		{WorkspaceRead, `{"op":"read","op":"write"}`, `broker: Workspace.Read refuses a payload that is not a JSON object`},
		{WorkspaceRead, `[]`, `broker: Workspace.Read refuses a payload that is not a JSON object`},
		{WorkspaceRead, ``, `broker: Workspace.Read refuses a payload that is not a JSON object`},
	}
	for _, test := range tests {
		if r := d.handle(test.effect, test.payload); r.Status != store.StatusFailed || !strings.HasPrefix(r.Detail, plan.Lasting+test.want) || r.Output != nil {
			t.Errorf("%s %s: %+v", test.effect, test.payload, r)
		}
	}
	if !strings.HasPrefix(d.get("ran"), "error") {
		t.Error("the tool ran")
	}
	if r := d.handle(WorkspaceWrite, `{"op":"write","path":"a","content":"x"}`); r.Status != store.StatusFailed || strings.HasPrefix(d.get("ran"), "error") {
		t.Errorf("control: %+v", r)
	}
	for _, id := range []store.EpisodeID{"ep-2", "../state", "", "EP"} {
		r := d.handler.Handle(context.Background(), broker.Job{Episode: id, Effect: WorkspaceRead, Payload: []byte(`{"op":"read","path":"a"}`)})
		if r.Status != store.StatusFailed {
			t.Errorf("episode %q: %+v", id, r)
		}
	}
	link := filepath.Join(d.base, "root", "ep-3")
	if err := os.Symlink(d.worktree, link); err != nil {
		t.Fatal(err)
	}
	if r := d.handler.Handle(context.Background(), broker.Job{Episode: "ep-3", Effect: WorkspaceRead, Payload: []byte(`{"op":"read","path":"a"}`)}); r.Status != store.StatusFailed {
		t.Errorf("a worktree that is a link: %+v", r)
	}
}

// TestNeverStarted: a write whose tool never began did certainly not happen.
func TestNeverStarted(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	job := broker.Job{Episode: episode, Effect: WorkspaceWrite, Payload: []byte(`{"op":"write","path":"a","content":"x"}`), Deadline: 5 * time.Second}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := d.handler.Handle(ctx, job); r.Status != store.StatusFailed || !strings.HasPrefix(d.get("a"), "error") {
		t.Errorf("%+v", r)
	}
	if r := d.handler.Handle(context.Background(), job); r.Status != store.StatusSucceeded || d.get("a") != "x" {
		t.Errorf("control: %+v", r)
	}
}
