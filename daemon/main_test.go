package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"world/daemon"
	"world/daemon/rest"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a running server over a real store; its session door leads to a
// counter, because that room is tested on its own.
type house struct {
	addr   string // host:port
	token  string
	routes []daemon.Route
	called *atomic.Int64 // requests that came through the session door
	log    *buffer
	head   store.Head
}

func serve(t *testing.T, open bool) *house {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	genesis := store.NewObject(record.Genesis, "test", []byte("genesis"))
	entry, err := s.Begin(ctx, store.Act{Objects: []store.Object{genesis}, At: 1, Draft: store.Draft{
		TransitionFn: genesis.Ref(), Interpreter: genesis.Ref(), Transition: genesis.Ref(), StateRoot: genesis.Ref(), WrittenBy: "test",
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{called: &atomic.Int64{}, log: &buffer{}, head: entry.Head()}
	counter := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { h.called.Add(1) })
	h.routes = daemon.Routes(daemon.Surfaces{
		Reads:   rest.New(s, rest.Health{Status: "ok", DaemonVersion: daemon.Version}),
		Commits: counter, MCP: counter,
	})
	token := rest.NewToken()
	dir := t.TempDir()
	if err := token.WriteFile(dir); err != nil {
		t.Fatal(err)
	}
	h.token = readFile(t, filepath.Join(dir, rest.TokenFile))
	door := &token
	if open {
		door = nil
	}
	bind, err := daemon.ParseBind("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := bind.Listen()
	if err != nil {
		t.Fatal(err)
	}
	h.addr = listener.Addr().String()
	server := daemon.NewServer(zerolog.New(h.log), listener, daemon.Mux(h.routes, door))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

// raw sends a request as written and returns the status and the whole answer.
func (h *house) raw(t *testing.T, request string) (status int, answer string) {
	t.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer response.Body.Close()
	var text bytes.Buffer
	_ = response.Header.Write(&text)
	_, _ = text.ReadFrom(response.Body)
	return response.StatusCode, text.String()
}

// ask sends a request with the headers given as lines, the own Host among them.
func (h *house) ask(t *testing.T, method, path string, headers ...string) (int, string) {
	t.Helper()
	lines := append([]string{method + " " + path + " HTTP/1.1", "Host: " + h.addr, "Connection: close"}, headers...)
	return h.raw(t, strings.Join(lines, "\r\n")+"\r\n\r\n")
}

// sample is a path of a route, with its parameters filled in.
func (h *house) sample(r daemon.Route) (method, path string) {
	method, path, _ = strings.Cut(r.Pattern, " ")
	return method, strings.NewReplacer("{index}", "0", "{ref}", string(h.head.StateRoot), "{$}", "", "{id}", "rest:x").Replace(path)
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
