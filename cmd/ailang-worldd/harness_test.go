package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/registry"
	"world/session"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

// running is one serve in this process.
type running struct {
	t           *testing.T
	flags       serveFlags
	url         string
	stdout, log *lines
	stop        func() error // ends it and returns what serve returned
}

// flagsIn are the flags of a daemon that keeps everything below dir.
func flagsIn(dir string) serveFlags {
	return serveFlags{
		db: filepath.Join(dir, "state", "world.db"), bind: "127.0.0.1:0",
		workspaces: filepath.Join(dir, "ws"), floor: confine.Landlock.String(),
	}
}

// start serves until the test or stop ends it.
func start(t *testing.T, f serveFlags) *running {
	t.Helper()
	r := &running{t: t, flags: f, stdout: newLines(), log: newLines()}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, f, worldTool, r.stdout, zerolog.New(r.log)) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = r.stop() })
	select {
	case line := <-r.stdout.listening:
		r.url = line
	case err := <-ended:
		ended <- err
		t.Fatalf("serve ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("serve does not listen")
	}
	return r
}

// get reads a path with the read token.
func (r *running) get(path string) (int, string) {
	r.t.Helper()
	state := r.flags.state
	if state == "" {
		state = filepath.Dir(r.flags.db)
	}
	token, err := os.ReadFile(filepath.Join(state, "read-token"))
	if err != nil {
		r.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// lines keeps what is written and finds the address in it.
type lines struct {
	mu        sync.Mutex
	b         bytes.Buffer
	listening chan string
}

func newLines() *lines { return &lines{listening: make(chan string, 1)} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, url, ok := strings.Cut(string(p), "ailang-worldd listening on "); ok {
		l.listening <- strings.TrimSpace(url)
	}
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// withStore opens a daemon's store between two of its lives.
func withStore(t *testing.T, f serveFlags, do func(s store.Store)) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.db), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), f.db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// mint makes a session while no daemon runs.
func mint(t *testing.T, s store.Store, episode store.EpisodeID, grants ...record.SessionGrant) session.Minted {
	t.Helper()
	office := session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
	m, err := office.Mint(t.Context(), session.Terms{Episode: episode, Grants: grants, TTL: 3600}, time.Now().Unix())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// otherTool is a program that does as world-tool does, and is not it.
func otherTool(t *testing.T) string {
	t.Helper()
	program, err := os.ReadFile(worldTool)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(confinetest.Dir(t), "tool")
	if err := os.WriteFile(path, append(program, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
