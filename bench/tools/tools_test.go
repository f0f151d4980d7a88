// Package tools measures what the coding tools cost whoever calls them: whole MCP
// round trips, with the fence, the journal and its evidence, beside a bare server of
// the same SDK that does the same in its own process.
package tools

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"world/ci/rig"
)

// budget is more than any run of these benchmarks spends.
const budget = "1000000"

// served is one world with a daemon in a process of its own, and a session of it.
type served struct {
	world      *rig.World
	credential string
}

func serve(tb testing.TB) served {
	tb.Helper()
	dir, err := os.MkdirTemp("", "world-bench-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	bin := filepath.Join(dir, "bin")
	// Programs run under users of their own, who must reach their worktrees.
	if err := errors.Join(os.Chmod(dir, 0o711), os.Mkdir(bin, 0o755)); err != nil {
		tb.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "./cmd/...")
	build.Dir = "../.." // the house, another module than this one
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build: %v\n%s", err, out)
	}
	w, err := rig.New(bin, dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.Close)
	ctx := tb.Context()
	if _, err := w.Serve(ctx); err != nil {
		tb.Fatal(err)
	}
	s := served{world: w}
	s.credential, err = w.Mint(ctx, "new", "bench", "--repo", w.Repository, "--budget", budget,
		"--db", w.DB(), "--state-dir", w.State(), "--workspace-root", w.Workspaces())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// caller is one client's call, made again and again.
type caller func(ctx context.Context) error

// agent returns a caller of a tool over a connection of its own.
func (s served) agent(tb testing.TB, tool string, args map[string]any, want string) caller {
	tb.Helper()
	agent, err := s.world.Daemon.Connect(tb.Context(), s.credential)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(agent.Close)
	return func(ctx context.Context) error {
		answer, err := agent.Call(ctx, tool, "", args)
		if err == nil && !strings.Contains(answer.Text, want) {
			err = fmt.Errorf("%s answered %s", tool, answer.Text)
		}
		return err
	}
}

// bare returns a caller of a server of the SDK in this process, over loopback too,
// which reads the file and answers.
func bare(tb testing.TB, file string) caller {
	tb.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	type arguments struct {
		Path string `json:"path"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "read", Description: "Read a file"},
		func(_ context.Context, _ *mcp.CallToolRequest, _ arguments) (*mcp.CallToolResult, map[string]any, error) {
			b, err := os.ReadFile(file)
			return nil, map[string]any{"ok": true, "content": string(b)}, err
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	tb.Cleanup(web.Close)
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(tb.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true, MaxRetries: -1}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { session.Close() })
	return func(ctx context.Context) error {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"path": "greeting.txt"}})
		if err == nil && result.IsError {
			err = errors.New("the bare server failed")
		}
		return err
	}
}

// measure makes n calls by each caller at the same time and returns how long each took.
func measure(b *testing.B, n int, callers ...caller) []time.Duration {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	for _, call := range callers {
		all.Go(func() {
			for range n {
				start := time.Now()
				if err := call(b.Context()); err != nil {
					b.Error(err)
					return
				}
				elapsed := time.Since(start)
				mu.Lock()
				took = append(took, elapsed)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// quantile of sorted durations, in milliseconds.
func quantile(took []time.Duration, q float64) float64 {
	return float64(took[min(len(took)-1, int(q*float64(len(took))))].Microseconds()) / 1000
}

// BenchmarkRead makes b.N calls by each of 1 and 8 callers. Each caller's share runs
// in turns with the bare server's, so that whatever else the machine does meets both.
func BenchmarkRead(b *testing.B) {
	s := serve(b)
	for _, test := range []struct {
		name, path, want string
	}{{"read", "greeting.txt", "hello, world"}, {"refusal", "../greeting.txt", "refused"}} {
		for _, callers := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/callers=%d", test.name, callers), func(b *testing.B) {
				var ours, theirs []caller
				for range callers {
					ours = append(ours, s.agent(b, "ailang-read", map[string]any{"path": test.path}, test.want))
					theirs = append(theirs, bare(b, filepath.Join(s.world.Repository, "greeting.txt")))
				}
				measure(b, 3, ours...) // connections, caches
				measure(b, 3, theirs...)
				b.ResetTimer()
				world := measure(b, b.N, ours...)
				least := measure(b, b.N, theirs...)
				if b.Failed() {
					return
				}
				for name, took := range map[string][]time.Duration{"world": world, "bare": least} {
					b.ReportMetric(quantile(took, 0.5), name+"-p50-ms")
					b.ReportMetric(quantile(took, 0.99), name+"-p99-ms")
				}
				b.ReportMetric(quantile(world, 0.5)-quantile(least, 0.5), "added-p50-ms")
			})
		}
	}
}
