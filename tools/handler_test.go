package tools

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/confine/confinetest"
	"world/fault"
	"world/store"
	"world/tools/policy"
)

// desk is a handler with one episode.
type desk struct {
	t        testing.TB
	handler  *Handler
	base     string
	worktree string
}

const episode = store.EpisodeID("ep-1")

// newDesk makes a handler at a level; tool is a shell script, "" for world-tool.
func newDesk(t testing.TB, level confine.Level, tool string) desk {
	t.Helper()
	base := confinetest.Dir(t)
	d := desk{t: t, base: base, worktree: filepath.Join(base, "root", string(episode))}
	o := Options{
		Jail:     confinetest.Jail(t, level),
		StateDir: filepath.Join(base, "state"), WorkspaceRoot: filepath.Join(base, "root"),
	}
	if tool != "" {
		dir := filepath.Join(base, "bin")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		o.Tool = filepath.Join(dir, "tool")
		if err := os.WriteFile(o.Tool, []byte("#!/bin/sh\n"+tool), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { handler.Close() })
	d.handler = handler
	d.addEpisode(episode)
	return d
}

func (d desk) addEpisode(id store.EpisodeID) {
	d.t.Helper()
	path := filepath.Join(d.base, "root", string(id))
	if err := os.Mkdir(path, 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.own(id, path)
}

func (d desk) own(id store.EpisodeID, path string) {
	d.t.Helper()
	user := int(confine.UserOf(string(id)))
	if err := os.Lchown(path, user, user); err != nil {
		d.t.Fatal(err)
	}
}

func (d desk) put(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.worktree, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	d.own(episode, path)
}

func (d desk) get(name string) string {
	b, err := os.ReadFile(filepath.Join(d.worktree, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

func (d desk) handle(effect law.Effect, payload string) broker.Result {
	d.t.Helper()
	r := d.handler.Handle(context.Background(), broker.Job{
		Episode: episode, Intent: "effect:ep-1:0", Effect: effect, Scope: Worktree, Cost: 1,
		Payload: []byte(payload), Deadline: 5 * time.Second,
	})
	if strings.Contains(string(r.Output)+r.Detail, d.base) {
		d.t.Errorf("%s: a host path in %s %s", payload, r.Output, r.Detail)
	}
	return r
}

// TestOrdinaryUser runs the handler again for a daemon that is an ordinary user,
// whose programs are the same user as its state.
func TestOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^Test(Handle|ToolCannotGetOut|Wrapper|NeverStarted)$", confinetest.WorldTool)
}

// member returns a member of an output as JSON text.
func member(r broker.Result, name string) string {
	v, err := canon.Parse(r.Output, canon.Limits{Bytes: maxAnswer})
	if err != nil {
		return "error: " + err.Error()
	}
	m, ok := v.Get(name)
	if !ok {
		return ""
	}
	return string(m.Bytes())
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
		{"Ailang.Check", `{"op":"read"}`, `broker: Ailang.Check refuses op "read": not in this effect's op allowlist`},
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
		if r := d.handle(test.effect, test.payload); r.Status != store.StatusFailed || r.Detail != test.want || r.Output != nil {
			t.Errorf("%s %s: %+v", test.effect, test.payload, r)
		}
	}
	if !strings.HasPrefix(d.get("ran"), "error") {
		t.Error("the tool ran")
	}
	if r := d.handle(WorkspaceWrite, `{"op":"write","path":"a","content":"x"}`); r.Status != store.StatusIndeterminate || strings.HasPrefix(d.get("ran"), "error") {
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

// TestWrapper: a script that waits for a file and then starts world-tool beside it
// serves as a tool; so does one that is swapped after it was sealed.
func TestWrapper(t *testing.T) {
	base := confinetest.Dir(t)
	bin := filepath.Join(base, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := io.ReadAll(confinetest.Image(t, confinetest.WorldTool).Reader())
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nwhile [ ! -e " + bin + "/go ]; do sleep 0.01; done\nexec " + bin + "/world-tool \"$@\"\n"
	for name, content := range map[string]string{"world-tool": string(program), "wrapper": script} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := NewHandler(Options{
		Jail: confinetest.Jail(t, confine.Namespaces), Tool: filepath.Join(bin, "wrapper"),
		StateDir: filepath.Join(base, "state"), WorkspaceRoot: filepath.Join(base, "root"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer handler.Close()
	d := desk{t: t, handler: handler, base: base, worktree: filepath.Join(base, "root", string(episode))}
	d.addEpisode(episode)
	answered := make(chan broker.Result, 1)
	go func() {
		answered <- handler.Handle(context.Background(), broker.Job{
			Episode: episode, Effect: WorkspaceWrite, Payload: []byte(`{"op":"write","path":"a","content":"x"}`), Deadline: 8 * time.Second,
		})
	}()
	select {
	case r := <-answered:
		t.Fatalf("the wrapper did not wait: %+v", r)
	case <-time.After(200 * time.Millisecond):
	}
	if err := os.WriteFile(filepath.Join(bin, "wrapper"), []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once started before the swap, once after it
		if r := <-answered; r.Status != store.StatusSucceeded || d.get("a") != "x" {
			t.Fatalf("%+v", r)
		}
		answered <- d.handle(WorkspaceWrite, `{"op":"write","path":"a","content":"x"}`)
	}
}

// TestToolCannotGetOut: a hostile tool binary sees one worktree and nothing else.
func TestToolCannotGetOut(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	attacks := map[string]string{
		"read the state":          `cat BASE/state/policies/*.toml && out=yes`,
		"list the state":          `[ -n "$(ls BASE/state)" ] && out=yes`,
		"read another worktree":   `cat BASE/root/ep-2/private && out=yes`,
		"write another worktree":  `echo x > BASE/root/ep-2/planted && out=yes`,
		"write beside":            `echo x > BASE/planted && out=yes`,
		"write the tool":          `echo x > BASE/bin/tool && out=yes`,
		"connect":                 `bash -c 'echo > /dev/tcp/127.0.0.1/PORT' && out=yes`,
		"see the daemon":          `[ -e /proc/PID/environ ] && [ "$(cat /proc/PID/cmdline | tr -d '\0')" = "$(printf %s 'CMDLINE')" ] && out=yes`,
		"write for a read effect": `echo x > planted && out=yes`,
		"environment":             `[ -n "$WORLD_TEST_SECRET" ] && out=yes`,
	}
	t.Setenv("WORLD_TEST_SECRET", "x")
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			script := "out=no\n" + attack + "\necho \"{\\\"ok\\\":true,\\\"content\\\":\\\"$out\\\"}\"\n"
			d := newDesk(t, confine.Namespaces, "")
			replaced := strings.NewReplacer("BASE", d.base, "PORT", port, "PID", fmt.Sprint(os.Getpid()), "CMDLINE", os.Args[0]).Replace(script)
			if err := os.Mkdir(filepath.Join(d.base, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			tool := filepath.Join(d.base, "bin", "tool")
			if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+replaced), 0o755); err != nil {
				t.Fatal(err)
			}
			handler, err := NewHandler(Options{Jail: d.handler.jail, Tool: tool, StateDir: filepath.Join(d.base, "state"), WorkspaceRoot: filepath.Join(d.base, "root")})
			if err != nil {
				t.Fatal(err)
			}
			defer handler.Close()
			d.handler = handler
			d.addEpisode("ep-2")
			private := filepath.Join(d.base, "root", "ep-2", "private")
			if err := os.WriteFile(private, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, open := range []string{filepath.Dir(private), d.base, tool, filepath.Join(d.base, "bin")} {
				if err := os.Chmod(open, 0o777); err != nil { // only the jail stands in the way
					t.Fatal(err)
				}
			}
			r := d.handle(WorkspaceRead, `{"op":"read","path":"a"}`)
			// Beside the worktree lies a private /tmp here; what counts is the host.
			if content := member(r, "content"); content != `"no"` && (name != "write beside" || content != `"yes"`) {
				t.Errorf("%+v %s", r, r.Output)
			}
			for _, planted := range []string{"planted", "root/ep-2/planted", "root/ep-1/planted"} {
				if _, err := os.Lstat(filepath.Join(d.base, planted)); err == nil {
					t.Errorf("planted %s", planted)
				}
			}
		})
	}
}

func TestNewHandlerRefuses(t *testing.T) {
	jail := confinetest.Jail(t, confine.Namespaces)
	base := confinetest.Dir(t)
	at := func(name string) string { return filepath.Join(base, name) }
	if err := os.MkdirAll(at("root/inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "root/inside", "root-link": "root", "linked/policies": "../root/inside"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, state, root string
		kind              fault.Kind
	}{
		{"state in root", at("root/state"), at("root"), fault.Invalid},
		{"state is root", at("root"), at("root"), fault.Invalid},
		{"state leads into root", at("link"), at("root"), fault.Invalid},
		{"state below a link into root", at("link/state"), at("root"), fault.Invalid},
		{"root is a link", at("root/state"), at("root-link"), fault.Invalid},
		{"policies lead into root", at("linked"), at("root"), fault.Invalid},
		{"relative", "state", at("root"), fault.Invalid},
		{"not clean", at("x") + "/../state", at("root"), fault.Invalid},
	}
	for _, test := range tests {
		if _, err := NewHandler(Options{Jail: jail, StateDir: test.state, WorkspaceRoot: test.root}); !fault.Is(err, test.kind) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, made := range []string{"root/state", "root/policies", "root/inside/state", "root/inside/policies"} {
		if _, err := os.Lstat(at(made)); err == nil {
			t.Errorf("a refusal made %s", made)
		}
	}
	if _, err := NewHandler(Options{Jail: jail, StateDir: at("root-evil"), WorkspaceRoot: at("root")}); err != nil {
		t.Errorf("a name that only begins alike: %v", err)
	}
	if _, err := NewHandler(Options{Jail: jail, StateDir: at("state"), WorkspaceRoot: at("root"), Tool: at("none")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no tool: %v", err)
	}
	low := confinetest.Jail(t, confine.Process)
	if _, err := NewHandler(Options{Jail: low, StateDir: at("state"), WorkspaceRoot: at("root")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("below the floor: %v", err)
	}
	if os.Geteuid() == 0 {
		closed := at("closed")
		if err := os.Mkdir(closed, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := NewHandler(Options{Jail: jail, StateDir: at("state"), WorkspaceRoot: filepath.Join(closed, "root")}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a root that no user can walk to: %v", err)
		}
	}
}
