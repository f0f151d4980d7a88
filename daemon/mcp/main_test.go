package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/daemon"
	"world/daemon/mcp"
	"world/daemon/rest"
	"world/session"
	"world/store"
	"world/store/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Revisions of the protocol that every behaviour is shown for.
var revisions = []string{"2026-07-28", "2025-11-25"}

// house is a world served over HTTP by the daemon's own server.
type house struct {
	*coordtest.World
	t    *testing.T
	url  string
	http *http.Client
	log  *buffer
}

// open serves a world whose effects one hand carries out.
func open(t *testing.T, hand *coordtest.Hand, edit func(*coordinator.Options)) *house {
	t.Helper()
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand, "Net.Send": hand}, edit)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{World: w, t: t, http: &http.Client{Transport: &http.Transport{}}, log: &buffer{}}
	surface := mcp.New(mcp.Options{Store: w.Store, Coordinator: w.C, Wall: w.Options.Clock, Version: daemon.Version, Notice: " Mind the fixtures."})
	routes := daemon.Routes(daemon.Surfaces{Reads: rest.New(w.Store, rest.Health{}), Commits: http.NotFoundHandler(), MCP: surface})
	server := daemon.NewServer(zerolog.New(h.log), listener, daemon.Mux(routes, nil))
	h.url = server.URL()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		h.http.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return h
}

// mint makes a session and returns its credential's text.
func (h *house) mint(seconds int64, episode store.EpisodeID, grants ...record.SessionGrant) string {
	h.t.Helper()
	m, err := h.Office().Mint(h.t.Context(), session.Terms{Episode: episode, Grants: grants, TTL: seconds}, h.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	return m.Token.Reveal()
}

// writer is a credential with a budget of writes in an episode named "ep".
func (h *house) writer(budget int64) string {
	h.t.Helper()
	return h.mint(3600, "ep", coordtest.Grant(coordtest.Write, coordtest.Scope, budget))
}

// publish puts a revision of these transitions, and no others, in force.
func (h *house) publish(builtins ...registry.Builtin) {
	h.t.Helper()
	ctx := h.t.Context()
	current, err := registry.Current(ctx, h.Store)
	if err != nil {
		h.t.Fatal(err)
	}
	next, objects, err := registry.First(builtins, store.RefOf(coordtest.Interpreter))
	if err != nil {
		h.t.Fatal(err)
	}
	next.Revision, next.Parent = current.Revision+1, current.Ref
	object := store.NewObject(record.Registry, "test", next.Bytes())
	if err := h.Store.Keep(ctx, append(objects, object)); err != nil {
		h.t.Fatal(err)
	}
	draft, err := registry.HostDraft(ctx, h.Store, "registry-test", object.Ref())
	if err != nil {
		h.t.Fatal(err)
	}
	move := store.MoveRegistry{Name: record.RegistryName, From: current.Ref, To: object.Ref()}
	if _, err := h.Store.Act(ctx, store.Act{Draft: draft, Changes: []store.Change{move}, At: h.Now()}); err != nil {
		h.t.Fatal(err)
	}
}

// connect opens the SDK's own client at a revision of the protocol.
func (h *house) connect(token, revision string) *sdk.ClientSession {
	h.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	c, err := client.Connect(h.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: h.url + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: bearer{token, h.http.Transport}},
	}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		h.t.Fatalf("connect at %s: %v", revision, err)
	}
	h.t.Cleanup(func() { c.Close() })
	return c
}

type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// request is a raw POST to /mcp with what every client sends; headers override.
func (h *house) request(ctx context.Context, token, revision, body string, headers ...string) *http.Request {
	h.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/mcp", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", revision)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// send returns status, headers and body of an answer.
func (h *house) send(r *http.Request) (int, http.Header, string) {
	h.t.Helper()
	response, err := h.http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

// message is one JSON-RPC request of a revision, with the headers it asks for.
func message(revision, method, params string) (body string, headers []string) {
	meta := ""
	if revision == revisions[0] {
		meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientCapabilities":{}}`
		headers = append(headers, "Mcp-Method: "+method)
		var named struct{ Name string }
		if json.Unmarshal([]byte("{"+params+"}"), &named) == nil && named.Name != "" {
			headers = append(headers, "Mcp-Name: "+named.Name)
		}
	}
	if meta != "" && params != "" {
		meta += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, meta, params), headers
}

// rpc makes one raw request and returns the status and the JSON-RPC answer,
// whichever way it was framed.
func (h *house) rpc(token, revision, method, params string) (int, string) {
	h.t.Helper()
	body, headers := message(revision, method, params)
	status, _, answer := h.send(h.request(h.t.Context(), token, revision, body, headers...))
	for line := range strings.Lines(answer) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			answer = strings.TrimSpace(data)
		}
	}
	return status, answer
}

// state is all that a call could have changed.
func (h *house) state(episode store.EpisodeID) string {
	h.t.Helper()
	ctx := h.t.Context()
	head, err := h.Store.Head(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	ledger, err := h.Store.Ledger(ctx, episode)
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprintf("head %d %s, ledger %+v", head.Index, head.Entry, ledger)
}

// eventually polls a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
