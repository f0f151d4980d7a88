package daemon_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"world/daemon"
	"world/fault"
)

// TestReport_reticle3 holds that being on loopback is no proof of being asked by
// a local program: a page anywhere can make a browser send requests here, under
// a name that it points at 127.0.0.1. Each such shape is 403 on every route, the
// reads and unknown paths too, and reaches no handler.
// Report 7 of reference/reports.md: a loopback bind is trusted, and Host and Origin go unchecked on some surface.
func TestReport_reticle3(t *testing.T) {
	h := serve(t, false)
	_, port, _ := net.SplitHostPort(h.addr)
	foreign := map[string][]string{
		"a foreign host":               {"Host: evil.example"},
		"a foreign host, our port":     {"Host: evil.example:" + port},
		"a name that ends like ours":   {"Host: evil.localhost:" + port},
		"a name that begins like ours": {"Host: 127.0.0.1.evil.example:" + port},
		"our name with a dot":          {"Host: localhost.:" + port},
		"our name without port":        {"Host: 127.0.0.1"},
		"our name, another port":       {"Host: 127.0.0.1:1"},
		"loopback, another address":    {"Host: 127.0.0.2:" + port},
		"any address":                  {"Host: 0.0.0.0:" + port},
		"a number for an address":      {"Host: 2130706433:" + port},
		"an empty host":                {"Host:"},
		"a foreign origin":             {"Host: " + h.addr, "Origin: http://evil.example"},
		"a null origin":                {"Host: " + h.addr, "Origin: null"},
		"an empty origin":              {"Host: " + h.addr, "Origin:"},
		"our origin by https":          {"Host: " + h.addr, "Origin: https://" + h.addr},
		"our origin, another port":     {"Host: " + h.addr, "Origin: http://127.0.0.1:1"},
		"our origin without port":      {"Host: " + h.addr, "Origin: http://127.0.0.1"},
		"our origin by another name":   {"Host: " + h.addr, "Origin: http://localhost:" + port},
		"our origin and a path":        {"Host: " + h.addr, "Origin: http://" + h.addr + "/"},
		"two origins":                  {"Host: " + h.addr, "Origin: http://" + h.addr, "Origin: http://evil.example"},
	}
	own := map[string][]string{
		"no origin":             {"Host: " + h.addr},
		"our origin":            {"Host: " + h.addr, "Origin: http://" + h.addr},
		"localhost":             {"Host: localhost:" + port, "Origin: http://localhost:" + port},
		"localhost in capitals": {"Host: LOCALHOST:" + port, "Origin: http://localhost:" + port},
		"the other loopback":    {"Host: [::1]:" + port},
	}
	send := func(method, path string, headers []string) (int, string) {
		return h.raw(t, method+" "+path+" HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\nAuthorization: Bearer "+
			h.token+"\r\n"+strings.Join(headers, "\r\n")+"\r\n\r\n")
	}
	routes := append(h.routes, daemon.Route{Pattern: "GET /no/such/path"}, daemon.Route{Pattern: "DELETE /mcp"})
	for _, r := range routes {
		method, path := h.sample(r)
		for name, headers := range foreign {
			before := h.called.Load()
			if status, answer := send(method, path, headers); status != http.StatusForbidden || !strings.Contains(answer, `"class":"Forbidden"`) {
				t.Errorf("%s, %s: status %d: %s", r.Pattern, name, status, answer)
			}
			if h.called.Load() != before {
				t.Errorf("%s, %s: the handler was reached", r.Pattern, name)
			}
		}
		for name, headers := range own {
			if status, answer := send(method, path, headers); status == http.StatusForbidden {
				t.Errorf("%s, %s: 403: %s", r.Pattern, name, answer)
			}
		}
	}
	if h.called.Load() == 0 {
		t.Error("no request came through the session door: the control shows nothing")
	}
}

// TestHostOutsideTheHeader covers the two other ways of naming a host.
func TestHostOutsideTheHeader(t *testing.T) {
	h := serve(t, true)
	for _, c := range []struct {
		request string
		status  int
	}{
		{"GET /v1/head HTTP/1.0\r\n\r\n", http.StatusForbidden},
		{"GET http://evil.example/v1/head HTTP/1.1\r\nHost: " + h.addr + "\r\nConnection: close\r\n\r\n", http.StatusForbidden},
		{"GET http://" + h.addr + "/v1/head HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", http.StatusOK},
		{"GET /v1/head HTTP/1.1\r\nHost: " + h.addr + "\r\nHost: evil.example\r\nConnection: close\r\n\r\n", http.StatusBadRequest},
		{"GET /v1/head HTTP/1.1\r\nHost: user@" + h.addr + "\r\nConnection: close\r\n\r\n", http.StatusBadRequest},
	} {
		if status, answer := h.raw(t, c.request); status != c.status {
			t.Errorf("%q: status %d, want %d: %s", c.request, status, c.status, answer)
		}
	}
}

func TestBind(t *testing.T) {
	for _, text := range []string{"127.0.0.1:7644", "127.0.0.1:0", "[::1]:1", "localhost:65535"} {
		if _, err := daemon.ParseBind(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, kind := range map[string]fault.Kind{
		"0.0.0.0:7644":         fault.Denied,
		":7644":                fault.Denied,
		"[::]:7644":            fault.Denied,
		"192.168.0.1:7644":     fault.Denied,
		"127.0.0.2:7644":       fault.Denied,
		"127.1:7644":           fault.Denied,
		"LOCALHOST:7644":       fault.Denied,
		"localhost.:7644":      fault.Denied,
		"example.com:7644":     fault.Denied,
		"[::ffff:127.0.0.1]:1": fault.Denied,
		"[::1%lo]:1":           fault.Denied,
		"127.0.0.1":            fault.Invalid,
		"":                     fault.Invalid,
		"127.0.0.1:http":       fault.Invalid,
		"127.0.0.1:-1":         fault.Invalid,
		"127.0.0.1:65536":      fault.Invalid,
		"127.0.0.1:007":        fault.Invalid,
		"127.0.0.1:":           fault.Invalid,
	} {
		if _, err := daemon.ParseBind(text); !fault.Is(err, kind) {
			t.Errorf("%q: %v, want %v", text, err, kind)
		}
	}
}

func TestLocalhostIsNotLookedUp(t *testing.T) {
	bind, err := daemon.ParseBind("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := bind.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if ip := listener.Addr().(*net.TCPAddr).IP; !ip.Equal(net.IPv4(127, 0, 0, 1)) {
		t.Fatalf("localhost was bound to %v", ip)
	}
}
