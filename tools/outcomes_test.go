package tools

import (
	"context"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/confine"
	"world/store"
)

// TestOutcomes plays tools that answer well, badly and not at all.
func TestOutcomes(t *testing.T) {
	const ok, bad, unknown = store.StatusSucceeded, store.StatusFailed, store.StatusIndeterminate
	tests := []struct {
		name, script string
		read, write  store.Status
	}{
		{"done", `echo '{"ok":true,"content":"x"}'`, ok, ok},
		{"done, escaped", `printf '{\n  "ok": true, "content": "\\u003c\\ud83d\\ude00"\n}\n'`, ok, ok},
		{"refused", `echo '{"ok":false,"refused":"no"}'`, ok, ok},
		{"ran and failed", `echo '{"ok":false,"argv":["check"],"exit_code":1}'`, ok, ok},
		{"refused and ran", `echo '{"ok":false,"refused":"no","argv":["check"],"exit_code":1}'`, ok, ok},
		{"no response could be formed", `echo 'policy-tool: request is not JSON' >&2; exit 1`, bad, bad},
		{"exit 1 with a response", `echo '{"ok":true}'; exit 1`, bad, unknown},
		{"other exit", `exit 2`, bad, unknown},
		{"silence", `exit 0`, bad, unknown},
		{"no JSON", `echo hello`, bad, unknown},
		{"two responses", `echo '{"ok":true}{"ok":true}'`, bad, unknown},
		{"no object", `echo '[true]'`, bad, unknown},
		{"ok is missing", `echo '{"content":"x"}'`, bad, unknown},
		{"ok is no boolean", `echo '{"ok":"true"}'`, bad, unknown},
		{"ok twice", `echo '{"ok":false,"ok":true}'`, bad, unknown},
		{"not ok without a reason", `echo '{"ok":false}'`, bad, unknown},
		{"claims the world", `echo '{"ok":true,"world":{}}'`, bad, unknown},
		{"claims the tool", `echo '{"ok":true,"tool":"x"}'`, bad, unknown},
		{"claims the policy", `echo '{"ok":true,"policy_digest":"x"}'`, bad, unknown},
		{"not UTF-8", `printf '{"ok":true,"content":"\377"}'`, bad, unknown},
		{"too large", `head -c 5000000 /dev/zero | tr '\0' x | sed 's/^/{"ok":true,"content":"/;s/$/"}/'`, bad, unknown},
		{"flood", `yes`, bad, unknown},
		{"killed", `kill -9 $$`, bad, unknown},
		{"late", `sleep 100`, bad, unknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, confine.Namespaces, "cat > /dev/null\n"+test.script+"\n")
			job := broker.Job{Episode: episode, Effect: WorkspaceRead, Payload: []byte(`{"op":"read","path":"a"}`), Deadline: 2 * time.Second}
			if r := d.handler.Handle(context.Background(), job); r.Status != test.read || (r.Status == ok) != (r.Output != nil) || (r.Status == ok) == (r.Detail != "") {
				t.Errorf("read: %+v %s", r, r.Output)
			}
			job.Effect, job.Payload = WorkspaceWrite, []byte(`{"op":"write","path":"a","content":"x"}`)
			if r := d.handler.Handle(context.Background(), job); r.Status != test.write {
				t.Errorf("write: %+v", r)
			}
		})
	}
}

// TestToolStderrStaysInside: what the tool says on stderr, and where the worktree
// lies, never reaches an agent.
func TestToolStderrStaysInside(t *testing.T) {
	d := newDesk(t, confine.Namespaces, `echo "secret of the tool" >&2; echo "{\"ok\":false,\"refused\":\"path $PWD/a escapes sandbox $PWD\"}"`)
	r := d.handle(WorkspaceRead, `{"op":"read","path":"a"}`)
	if strings.Contains(string(r.Output), "secret") || member(r, "refused") != `"path a escapes sandbox ."` {
		t.Errorf("%s", r.Output)
	}
	d = newDesk(t, confine.Namespaces, `echo "secret of the tool" >&2; exit 7`)
	if r := d.handle(WorkspaceWrite, `{"op":"write","path":"a","content":""}`); strings.Contains(r.Detail, "secret") {
		t.Errorf("%+v", r)
	}
}
