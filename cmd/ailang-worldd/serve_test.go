package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/creack/pty"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/session"
	"world/store"
	"world/store/record"
	"world/tools"
)

func TestADaemonLeavesNothingBehindButItsWorld(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	state := filepath.Dir(f.db)
	f.tool = otherTool(t)
	if r := start(t, f); r.stop() != nil { // the first run opens what stays open, such as the poller
		t.Fatal(r.stop())
	}
	// Without this the collector closes what serve forgot.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := descriptors(t)
	r := start(t, f)
	token := filepath.Join(state, "read-token")
	if info, err := os.Stat(token); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("read-token: %v, %v; want mode 0600", info, err)
	}
	if _, err := os.Lstat(filepath.Join(state, "admin", "admin.sock")); err != nil {
		t.Errorf("the operator's socket: %v", err)
	}
	if status, head := r.get("/v1/head"); status != 200 || !strings.HasPrefix(head, "sha256:") {
		t.Errorf("head: status %d, %s", status, head)
	}
	if status, health := r.get("/v1/health"); status != 200 || !strings.Contains(health, `"status":"ok"`) ||
		!strings.Contains(health, `"confinement_floor":"landlock","confinement_uses":{"file operations":true,"programs":true,"pure functions":true}`) || strings.Contains(health, state) {
		t.Errorf("health: status %d, %s", status, health)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, next := range []string{
		"mint a session:   " + self + " session new EPISODE --repo DIR --db " + f.db + " --state-dir " + state + " --workspace-root " + f.workspaces + " --out FILE\n",
		"claude mcp add --transport http world " + r.url + "/mcp --header \"Authorization: Bearer $(cat FILE)\"\n",
	} {
		if !strings.Contains(r.stdout.String(), next) {
			t.Errorf("stdout does not say %q: %s", next, r.stdout)
		}
	}
	if strings.Contains(r.log.String(), "stop") {
		t.Errorf("it says that it stops before it does: %s", r.log)
	}
	if err := r.stop(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	if _, after, ok := strings.Cut(r.log.String(), `"message":"stopping`); !ok || !strings.Contains(after, `"message":"stopped"`) {
		t.Errorf("its end is not logged: %s", r.log)
	}
	for _, path := range []string{token, filepath.Join(state, "admin", "admin.sock")} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", filepath.Base(path), err)
		}
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestARestartKeepsTheWorldAndChangesTheToken(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	read := func() (head, token string) {
		r := start(t, f)
		_, head = r.get("/v1/log/0")
		text, err := os.ReadFile(filepath.Join(filepath.Dir(f.db), "read-token"))
		if err != nil || r.stop() != nil {
			t.Fatal(err)
		}
		return head, string(text)
	}
	head1, token1 := read()
	head2, token2 := read()
	if head1 != head2 || token1 == token2 {
		t.Errorf("genesis %s, then %s; tokens differ: %v", head1, head2, token1 != token2)
	}
}

func TestStartupRefusals(t *testing.T) {
	missing := func(f *serveFlags) { f.tool = filepath.Join(filepath.Dir(f.db), "no-such-tool") }
	for _, c := range []struct {
		name  string
		edit  func(*serveFlags)
		stage string
		says  string
		made  bool // whether the store may exist afterwards
	}{
		{"any address", func(f *serveFlags) { f.bind = "0.0.0.0:7644" }, "bind-policy", "loopback", false},
		{"a name", func(f *serveFlags) { f.bind = "example.com:80" }, "bind-policy", "loopback", false},
		{"no port", func(f *serveFlags) { f.bind = "127.0.0.1" }, "bind-policy", "HOST:PORT", false},
		{"no store", func(f *serveFlags) { f.db = "" }, "config", "--db is required", false},
		{"an unknown floor", func(f *serveFlags) { f.floor = "docker" }, "config", "namespaces, landlock or process", false},
		{"state in the workspaces", func(f *serveFlags) { f.state = filepath.Join(f.workspaces, "state") }, "config", "the state directory must not lie in the workspace root", false},
		{"store in the workspaces", func(f *serveFlags) { f.state, f.db = filepath.Dir(f.db), filepath.Join(f.workspaces, "world.db") }, "config", "must not lie in the workspace root", false},
		{"a tool that is none", func(f *serveFlags) { f.tool = "/etc/passwd" }, "tools", "", true},
		{"no such tool", missing, "tools", "the program cannot be read", true},
		{"examples in the workspaces", func(f *serveFlags) { f.examples = filepath.Join(f.workspaces, "corpus") }, "tools", "the examples lie inside the workspace root", true},
		{"no such examples", func(f *serveFlags) { f.examples = filepath.Join(filepath.Dir(f.db), "none") }, "tools", "the directory of examples is not there", true},
		{"a capability that no run has", func(f *serveFlags) { f.allowCaps = []string{"Root"} }, "tools", "Env and Net", true},
		{"runs with Net, and no address", func(f *serveFlags) { f.allowCaps = []string{"Net"} }, "tools", "need a list of addresses", true},
		{"an address beyond loopback", func(f *serveFlags) { f.allowCaps, f.netAllow = []string{"Net"}, []string{"192.0.2.1:80"} }, "tools", "not a canonical loopback IP", true},
	} {
		f := flagsIn(confinetest.Dir(t))
		c.edit(&f)
		var stdout bytes.Buffer
		err := serve(t.Context(), f, worldTool, &stdout, zerolog.Nop())
		want := "daemon startup failed at " + c.stage + ": "
		if err == nil || exitCode(err) != exitStore || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: exit %d, %v; want %s…%s", c.name, exitCode(err), err, want, c.says)
		}
		if _, statErr := os.Stat(f.db); (statErr == nil) && !c.made {
			t.Errorf("%s: a store was made all the same", c.name)
		}
		if stdout.Len() != 0 {
			t.Errorf("%s: stdout says %s", c.name, &stdout)
		}
	}
}

func TestStartupWithoutWorldToolOrPort(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	err := serve(t.Context(), f, filepath.Join(t.TempDir(), "world-tool"), io.Discard, zerolog.Nop())
	if err == nil || !strings.HasPrefix(err.Error(), "daemon startup failed at archive: ") {
		t.Errorf("without world-tool: %v", err)
	}
	r := start(t, flagsIn(confinetest.Dir(t)))
	f.bind = strings.TrimPrefix(r.url, "http://")
	err = serve(t.Context(), f, worldTool, io.Discard, zerolog.Nop())
	if err == nil || !strings.HasPrefix(err.Error(), "daemon startup failed at listen: ") {
		t.Errorf("on a port that is taken: %v", err)
	}
}

func TestASecondDaemonFailsAtOnceAndDisturbsNothing(t *testing.T) {
	r := start(t, flagsIn(confinetest.Dir(t)))
	err := serve(t.Context(), r.flags, worldTool, io.Discard, zerolog.Nop())
	if err == nil || exitCode(err) != exitStore || !strings.HasPrefix(err.Error(), "daemon startup failed at store-open: ") ||
		!strings.Contains(err.Error(), "world.db.writer.lock") {
		t.Errorf("exit %d, %v", exitCode(err), err)
	}
	if status, answer := r.get("/v1/head"); status != 200 {
		t.Errorf("the first daemon answers %d, %s", status, answer)
	}
}

// TestIndeterminateIntentsAreNamed leaves an intent open, as a kill would.
func TestIndeterminateIntentsAreNamed(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if r := start(t, f); strings.Contains(r.stdout.String(), "indeterminate") || r.stop() != nil {
		t.Fatalf("a new world: %s", r.stdout)
	}
	withStore(t, f, func(s store.Store) {
		m := mint(t, s, "cut", coordtest.Grant(tools.WorkspaceWrite, tools.Worktree, 5))
		lease, err := s.Lease(t.Context(), "cut")
		if err != nil {
			t.Fatal(err)
		}
		input, request := store.NewObject(record.Input, "test", []byte("{}")), store.NewObject(record.Request, "test", []byte("request"))
		_, err = s.Intend(t.Context(), store.Intention{
			Claim: store.Claim{Invocation: "mcp:cut:x", Episode: "cut", Transition: "ailang-write",
				TransitionFn: m.Object, Input: input.Ref(), Session: m.Object, At: m.Record.CreatedAt},
			Objects: []store.Object{input, request}, Request: request.Ref(), Lease: lease,
			Effect: tools.WorkspaceWrite, Scope: tools.Worktree, Cost: 1, Budget: 5,
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	r := start(t, f)
	for _, text := range []string{"indeterminate effects: 1; their cost stays spent and none is retried",
		`indeterminate effect:cut:0: "Workspace.Write" on "worktree", cost 1, of call mcp:cut:x`} {
		if !strings.Contains(r.stdout.String(), text) {
			t.Errorf("stdout does not say %q: %s", text, r.stdout)
		}
	}
	if !strings.Contains(r.log.String(), `"intent":"effect:cut:0"`) {
		t.Errorf("the log does not name the intent: %s", r.log)
	}
}

// TestDamageIsNamedAtStart changes the bytes of an object behind the store's back.
func TestDamageIsNamedAtStart(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	r := start(t, f)
	if r.stop() != nil || strings.Contains(r.stdout.String(), "integrity") || !strings.Contains(r.log.String(), `"findings":0`) {
		t.Fatalf("a new world: %s%s", r.stdout, r.log)
	}
	db, err := sql.Open("sqlite", f.db)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("UPDATE objects SET bytes = CAST('damaged' AS BLOB) WHERE length(bytes) BETWEEN 1 AND 200")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	r = start(t, f)
	if !strings.Contains(r.stdout.String(), "integrity: log 0: object") || !strings.Contains(r.stdout.String(), "run ailang-worldd fsck") {
		t.Errorf("stdout says %s", r.stdout)
	}
	if !strings.Contains(r.log.String(), `"message":"integrity"`) {
		t.Errorf("the log says %s", r.log)
	}
}

// TestOtherBuiltinsAreReportedAndLeftAlone serves a store whose registry was begun
// with other transitions and another interpreter.
func TestOtherBuiltinsAreReportedAndLeftAlone(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	var before store.Ref
	withStore(t, f, func(s store.Store) {
		report, err := registry.Bootstrap(t.Context(), s, coordtest.Builtins(), coordtest.Interpreter, 1)
		if err != nil {
			t.Fatal(err)
		}
		before = report.Registry
	})
	r := start(t, f)
	for _, b := range tools.Builtins() {
		if want := `"transition":"` + string(b.ID) + `","differs":[],"message":"this binary's built-in`; !strings.Contains(r.log.String(), want) {
			t.Errorf("the log does not report %s: %s", b.ID, r.log)
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	withStore(t, f, func(s store.Store) {
		if now, err := s.Registry(t.Context(), record.RegistryName); err != nil || now != before {
			t.Errorf("the registry was %s and is %s, %v", before, now, err)
		}
	})
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	r.Close = true
	return http.DefaultTransport.RoundTrip(r)
}

// TestAToolWritesThroughTheJail makes one whole call: real client, real jail, real file.
func TestAToolWritesThroughTheJail(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	var m session.Minted
	withStore(t, f, func(s store.Store) {
		m = mint(t, s, "ep", coordtest.Grant(tools.WorkspaceWrite, tools.Worktree, 1))
	})
	worktree := filepath.Join(f.workspaces, "ep")
	if err := errors.Join(os.Mkdir(worktree, 0o700), confine.HandOver(worktree, confine.UserOf("ep"))); err != nil {
		t.Fatal(err)
	}
	r := start(t, f)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: r.url + "/mcp/", HTTPClient: &http.Client{Transport: bearer(m.Token.Reveal())}, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "ailang-write", Arguments: map[string]any{"path": "a.txt", "content": "héllo\n"}})
	if err != nil || result.IsError {
		t.Fatalf("%+v, %v", result, err)
	}
	if got, err := os.ReadFile(filepath.Join(worktree, "a.txt")); string(got) != "héllo\n" {
		t.Errorf("the worktree holds %q, %v", got, err)
	}
	if strings.Contains(r.log.String()+r.stdout.String(), m.Token.Reveal()) {
		t.Error("the credential was printed or logged")
	}
}

func TestTheLogIsJSONUnlessAPersonReadsIt(t *testing.T) {
	var file bytes.Buffer
	log := newLogger(&file)
	log.Info().Str("k", "v").Msg("said")
	if !json.Valid(file.Bytes()) || !strings.Contains(file.String(), `"k":"v"`) {
		t.Errorf("in a file: %s", &file)
	}
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer tty.Close()
	log = newLogger(tty)
	log.Info().Str("k", "v").Msg("said")
	shown := make([]byte, 256)
	n, err := terminal.Read(shown)
	if err != nil || bytes.Contains(shown[:n], []byte("{")) || !bytes.Contains(shown[:n], []byte("said")) {
		t.Errorf("on a terminal: %q, %v", shown[:n], err)
	}
}

func TestCallersAreToldOfAFloorBelowTheUsual(t *testing.T) {
	for floor, told := range map[confine.Level]bool{confine.Process: true, confine.Landlock: false, confine.Namespaces: false} {
		if got := (&boot{floor: floor}).notice(); strings.Contains(got, "process") != told || (got != "") != told {
			t.Errorf("%s: %q", floor, got)
		}
	}
}

func TestQuotedPathsAreOneWord(t *testing.T) {
	for path, want := range map[string]string{"/a/b-c_d.db": "/a/b-c_d.db", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/$(x)": "'/$(x)'"} {
		if got := quote(path); got != want {
			t.Errorf("quote(%q) = %s, want %s", path, got, want)
		}
	}
}
