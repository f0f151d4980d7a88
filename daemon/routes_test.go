package daemon_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"world/daemon"
)

// TestRouteTable pins what is served. A new route is a new door: it belongs here
// only together with the tests that knock on it.
func TestRouteTable(t *testing.T) {
	want := []string{
		"GET /v1/health: read token",
		"GET /v1/head: read token",
		"GET /v1/log: read token",
		"GET /v1/log/{index}: read token",
		"GET /v1/objects/{ref}: read token",
		"GET /v1/receipts/{id}: read token",
		"POST /v1/commit: session credential",
		"POST /mcp: session credential",
		"POST /mcp/{$}: session credential",
	}
	var got []string
	for _, r := range daemon.Routes(daemon.Surfaces{}) {
		got = append(got, r.Pattern+": "+string(r.Door))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the table is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	h := serve(t, false)
	for _, r := range h.routes {
		own, path := h.sample(r)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"} {
			status, answer := h.ask(t, method, path, "Authorization: Bearer "+h.token, "Content-Length: 0")
			if (status == http.StatusMethodNotAllowed) != (method != own) {
				t.Errorf("%s %s: status %d: %s", method, path, status, answer)
			}
			if method != own && !strings.Contains(answer, "Allow: "+own) {
				t.Errorf("%s %s names no method that is allowed: %s", method, path, answer)
			}
		}
	}
}

func TestNothingElseIsServed(t *testing.T) {
	h := serve(t, true)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/commit/", "/v1/receipts", "/v1/receipts/rest:x/y", "/mcp/x", "/workbench", "/metrics", "/debug/pprof/", "/v1/log/0/x"} {
		for _, method := range []string{"GET", "POST"} {
			if status, answer := h.ask(t, method, path, "Content-Length: 0"); status != http.StatusNotFound {
				t.Errorf("%s %s: status %d: %s", method, path, status, answer)
			}
		}
	}
}

func TestReadsNeedTheReadToken(t *testing.T) {
	h := serve(t, false)
	reads := 0
	for _, r := range h.routes {
		if r.Door != daemon.DoorRead {
			continue
		}
		reads++
		method, path := h.sample(r)
		for _, c := range []struct {
			name    string
			headers []string
			status  int
			class   string
		}{
			{"absent", nil, 401, "ReadTokenAbsent"},
			{"empty", []string{"Authorization:"}, 401, "ReadTokenUnknown"},
			{"another", []string{"Authorization: Bearer " + strings.Repeat("0", 64)}, 401, "ReadTokenUnknown"},
			{"cut short", []string{"Authorization: Bearer " + h.token[:63]}, 401, "ReadTokenUnknown"},
			{"upper case", []string{"Authorization: Bearer " + strings.ToUpper(h.token)}, 401, "ReadTokenUnknown"},
			{"other scheme", []string{"Authorization: Basic " + h.token}, 401, "ReadTokenUnknown"},
			{"given twice", []string{"Authorization: Bearer " + h.token, "Authorization: Bearer " + h.token}, 401, "ReadTokenUnknown"},
			{"in the query", nil, 401, "ReadTokenAbsent"},
			{"the daemon's", []string{"Authorization: Bearer " + h.token}, 200, ""},
			{"scheme in lower case", []string{"Authorization: bearer " + h.token}, 200, ""},
			{"scheme in capitals", []string{"Authorization: BEARER " + h.token}, 200, ""},
		} {
			target := path
			if c.name == "in the query" {
				target += "?token=" + h.token
			}
			status, answer := h.ask(t, method, target, c.headers...)
			if status != c.status || !strings.Contains(answer, c.class) {
				t.Errorf("%s, token %s: status %d, want %d %s: %s", path, c.name, status, c.status, c.class, answer)
			}
			if (status == 401) != strings.Contains(answer, "Www-Authenticate: Bearer") {
				t.Errorf("%s, token %s: challenge missing or out of place: %s", path, c.name, answer)
			}
		}
	}
	if reads != 6 {
		t.Fatalf("%d reads in the table, want 6", reads)
	}
	if strings.Contains(h.log.String(), h.token) {
		t.Error("the log holds the read token")
	}
}

func TestOpenReads(t *testing.T) {
	h := serve(t, true)
	for _, r := range h.routes {
		if method, path := h.sample(r); r.Door == daemon.DoorRead {
			if status, answer := h.ask(t, method, path); status != http.StatusOK {
				t.Errorf("%s: status %d: %s", path, status, answer)
			}
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v, want 0600", path, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
