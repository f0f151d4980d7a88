package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"world/ci/rig"
)

// TestSecondServe holds that one store has one daemon, and the lock is named.
func TestSecondServe(t *testing.T) {
	w, ctx := world(t), deadline(t)
	serve(t, ctx, w)
	r, err := w.Worldd(ctx, "serve", "--db", w.DB(), "--bind", "127.0.0.1:0", "--workspace-root", w.Workspaces(), "--state-dir", w.State())
	if err != nil || r.Code != 2 || !strings.Contains(r.Stderr, "world.db.writer.lock") {
		t.Errorf("exit %d, %v: %s", r.Code, err, r.Stderr)
	}
	if code, err := w.Daemon.Stop(); err != nil || code != 0 {
		t.Fatalf("stop: exit %d, %v", code, err)
	}
	serve(t, ctx, w) // control: the lock is free again
}

func TestBindRefused(t *testing.T) {
	w, ctx := world(t), deadline(t)
	for _, bind := range []string{"0.0.0.0:7644", "[::]:7644", ":7644", "192.0.2.1:7644", "example.com:7644"} {
		r, err := w.Worldd(ctx, "serve", "--db", w.DB(), "--bind", bind, "--workspace-root", w.Workspaces(), "--state-dir", w.State())
		if err != nil || r.Code != 2 || !strings.Contains(r.Stderr, "loopback") {
			t.Errorf("--bind %s: exit %d, %v: %s", bind, r.Code, err, r.Stderr)
		}
	}
}

// TestReport_reticle3 sends foreign Host and Origin headers to every kind of route.
// Report 7 of reference/reports.md: a loopback bind is trusted, and Host and Origin go unchecked on some surface.
func TestReport_reticle3(t *testing.T) {
	w, ctx := world(t), deadline(t)
	serve(t, ctx, w)
	token, err := os.ReadFile(filepath.Join(w.State(), "read-token"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/health", "/v1/head", "/v1/log", "/mcp", "/mcp/", "/no-such-route"} {
		for _, c := range []struct {
			host, origin string
			want         func(int) bool
		}{
			{"", "", func(code int) bool { return code != http.StatusForbidden }},
			{"", w.Daemon.Address, func(code int) bool { return code != http.StatusForbidden }},
			{"attacker.example", "", forbidden},
			{"127.0.0.1:1", "", forbidden},
			{"", "http://attacker.example", forbidden},
			{"", "https" + strings.TrimPrefix(w.Daemon.Address, "http"), forbidden},
			{"", "null", forbidden},
		} {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Daemon.Address+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
			if c.host != "" {
				request.Host = c.host
			}
			if c.origin != "" {
				request.Header.Set("Origin", c.origin)
			}
			if code := status(t, request); !c.want(code) {
				t.Errorf("%s with Host %q and Origin %q: %d", path, c.host, c.origin, code)
			}
		}
	}
}

func forbidden(code int) bool { return code == http.StatusForbidden }

func status(t *testing.T, request *http.Request) int {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestReadsNeedTheToken(t *testing.T) {
	w, ctx := world(t), deadline(t)
	serve(t, ctx, w)
	for _, path := range []string{"/v1/health", "/v1/head", "/v1/log", "/v1/log/0"} {
		if _, code, err := w.Get(ctx, path); err != nil || code != http.StatusOK {
			t.Errorf("%s with the token: %d, %v", path, code, err)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Daemon.Address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if code := status(t, request); code != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d", path, code)
		}
		request.Header.Set("Authorization", "Bearer "+strings.Repeat("0", 64))
		if code := status(t, request); code != http.StatusUnauthorized {
			t.Errorf("%s with another token: %d", path, code)
		}
	}
}

// TestPublishingCredentialRefused holds D20 for every verb of every binary.
func TestPublishingCredentialRefused(t *testing.T) {
	w, ctx := world(t), deadline(t)
	verbs := [][]string{
		{"ailang-worldd", "serve", "--db", w.DB()}, {"ailang-worldd", "session", "list", "--db", w.DB()},
		{"ailang-worldd", "session", "mint"}, {"ailang-worldd", "session", "new", "x"}, {"ailang-worldd", "session", "revoke"},
		{"ailang-worldd", "fsck"}, {"ailang-worldd", "why", "0"}, {"ailang-worldd", "replay", "x"}, {"ailang-worldd", "--help"}, {"ailang-worldd"},
		{"world-law", "prove"}, {"world-law", "--help"}, {"world-tool", "capsule"}, {"world-tool", "policy-tool"}, {"world-tool"},
		{"world-publish", "transitions"}, {"world-publish", "--help"},
	}
	for _, verb := range verbs {
		r := withKey(t, ctx, w, "k3y-value", verb)
		if r.Code != 2 || !strings.Contains(r.Stderr, "AILANG_REGISTRY_API_KEY") {
			t.Errorf("%v: exit %d: %s", verb, r.Code, r.Stderr)
		}
		if strings.Contains(r.Stdout+r.Stderr, "k3y-value") {
			t.Errorf("%v prints the value", verb)
		}
	}
	if r := withKey(t, ctx, w, "", []string{"ailang-worldd", "--help"}); r.Code != 0 {
		t.Errorf("an empty variable is refused: exit %d: %s", r.Code, r.Stderr)
	}
}

func withKey(t *testing.T, ctx context.Context, w *rig.World, key string, verb []string) rig.Result {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(w.Bin, verb[0]), verb[1:]...)
	cmd.Env = append(os.Environ(), "AILANG_REGISTRY_API_KEY="+key)
	r, err := rig.Finish(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDamagedStore flips bytes of a stored object: fsck names it and exits 3.
func TestDamagedStore(t *testing.T) {
	w, ctx := served(t)
	agent := connect(t, ctx, w, session(t, ctx, w, "evidence", "5"))
	if answer, err := agent.Call(ctx, "ailang-write", "", map[string]any{"path": "a.txt", "content": "needle-in-the-store\n"}); err != nil || answer.IsError {
		t.Fatalf("%+v, %v", answer, err)
	}
	if _, err := w.Daemon.Stop(); err != nil {
		t.Fatal(err)
	}
	clean(t, ctx, w)
	raw, err := os.ReadFile(w.DB())
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.Replace(string(raw), "needle-in-the-store", "noodle-in-the-store", 1)
	if damaged == string(raw) {
		t.Fatal("the payload is not found in the store's file")
	}
	if err := os.WriteFile(w.DB(), []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := w.Worldd(ctx, "fsck", "--db", w.DB())
	if err != nil || r.Code != 3 || !strings.Contains(r.Stdout+r.Stderr, "sha256:") {
		t.Errorf("exit %d, %v: %s%s", r.Code, err, r.Stdout, r.Stderr)
	}
}
