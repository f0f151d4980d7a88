package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"world/coordinator/coordtest"
	"world/session"
)

// TestWhoIsNotKnownIsToldWhy covers each of the four texts. None of the bodies is
// read: each would be refused by the gate with another answer.
func TestWhoIsNotKnownIsToldWhy(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	live, short := h.writer(9), h.mint(10, "short", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	revoked := h.mint(3600, "revoked", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	if _, err := h.Office().RevokeEpisode(t.Context(), "revoked", h.Now()); err != nil {
		t.Fatal(err)
	}
	const malformed = "malformed Authorization header: expected Bearer <64-hex-credential>"
	for _, c := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"absent", nil, "session credential is absent: send Authorization: Bearer <session-credential>"},
		{"empty", []string{"Authorization: "}, malformed},
		{"no scheme", []string{"Authorization: " + live}, malformed},
		{"other scheme", []string{"Authorization: Basic " + live}, malformed},
		{"a scheme that only begins alike", []string{"Authorization: Bearers " + live}, malformed},
		{"too short", []string{"Authorization: Bearer " + live[1:]}, malformed},
		{"in capitals", []string{"Authorization: Bearer " + strings.ToUpper(live)}, malformed},
		{"a word too many", []string{"Authorization: Bearer " + live + " x"}, malformed},
		{"given twice", []string{"Authorization: Bearer " + live, "Authorization: Bearer " + live}, malformed},
		{"unknown", []string{"Authorization: Bearer " + strings.Repeat("0", 64)}, "unknown session credential"},
		{"its hash", []string{"Authorization: Bearer " + string(hashOf(t, live))}, "unknown session credential"},
		{"revoked", []string{"Authorization: Bearer " + revoked}, "unknown session credential"},
	} {
		status, header, answer := h.send(h.request(t.Context(), "", revisions[0], `{"dup":1,"dup":2}`, c.headers...))
		if status != http.StatusUnauthorized || strings.TrimSpace(answer) != c.want || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") ||
			header.Get("WWW-Authenticate") != `Bearer realm="world"` {
			t.Errorf("%s: status %d, %v, %s; want %s", c.name, status, header, answer, c.want)
		}
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		if status, _, answer := h.send(h.request(t.Context(), "", revisions[1], ping, "Authorization: "+scheme+" "+live)); status != http.StatusOK {
			t.Errorf("scheme %s: status %d, %s", scheme, status, answer)
		}
	}
	h.Pass(9)
	if status, answer := h.rpc(short, revisions[1], "ping", ""); status != 200 {
		t.Errorf("a second before its end: status %d, %s", status, answer)
	}
	h.Pass(1)
	status, header, answer := h.send(h.request(t.Context(), short, revisions[1], `{}`))
	if status != http.StatusUnauthorized || strings.TrimSpace(answer) != "session credential has expired" || header.Get("WWW-Authenticate") == "" {
		t.Errorf("at its end: status %d, %s", status, answer)
	}
	h.mint(3600, "later", coordtest.Grant(coordtest.Write, coordtest.Scope, 1)) // records the time that has come
	h.Pass(-3600)
	if status, _, answer := h.send(h.request(t.Context(), short, revisions[1], `{}`)); status != http.StatusUnauthorized {
		t.Errorf("with the clock set back: status %d, %s", status, answer)
	}
	for _, secret := range []string{live, short, revoked} {
		if strings.Contains(h.log.String(), secret) {
			t.Error("the log holds a credential")
		}
	}
}

func hashOf(t *testing.T, token string) string {
	t.Helper()
	parsed, err := session.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	return string(parsed.ID())
}

// TestReport_affine301 names a protocol session that does not live here. A client
// of an older revision must hear 404, so that it begins anew: before its
// credential is looked at, or it would hear 401 for ever. The current revision
// has no such sessions and ignores the header.
// Report 4 of reference/reports.md: a dead session is answered so that its client never begins anew.
func TestReport_affine301(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	token := h.writer(1)
	for _, revision := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25"} {
		for _, credential := range []string{token, "", strings.Repeat("0", 64)} {
			r := h.request(t.Context(), credential, revision, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id: gone")
			if revision == "" {
				r.Header.Del("Mcp-Protocol-Version")
			}
			if status, _, answer := h.send(r); status != http.StatusNotFound || strings.TrimSpace(answer) != "session not found" {
				t.Errorf("%q: status %d, %s", revision, status, answer)
			}
		}
	}
	body, headers := message(revisions[0], "tools/list", "")
	if status, _, answer := h.send(h.request(t.Context(), token, revisions[0], body, append(headers, "Mcp-Session-Id: gone")...)); status != 200 {
		t.Errorf("current revision: status %d, %s", status, answer)
	}
	if status, answer := h.rpc(token, revisions[1], "ping", ""); status != 200 {
		t.Errorf("control, no session named: status %d, %s", status, answer)
	}
}

// TestOnlyStrictJSONReachesTheSDK sends what the SDK alone would accept or act on.
func TestOnlyStrictJSONReachesTheSDK(t *testing.T) {
	hand := &coordtest.Hand{}
	h := open(t, hand, nil)
	token := h.writer(9)
	before := h.state("ep")
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"a tool named twice":      {call(`{"name":"echo","name":"act","arguments":{}}`), 400, "-32700"},
		"an argument given twice": {call(`{"name":"act","arguments":{"do":1,"do":2}}`), 400, "-32700"},
		"trailing data":           {call(`{"name":"act","arguments":{}}`) + call(`{"name":"act","arguments":{}}`), 400, "-32700"},
		"bad UTF-8":               {call("{\"name\":\"act\",\"arguments\":{\"do\":\"\xff\"}}"), 400, "-32700"},
		"too deep":                {call(`{"name":"act","arguments":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`), 400, "-32600"},
		"too many values":         {call(`{"name":"act","arguments":{"do":[` + strings.Repeat("0,", 1<<16) + `0]}}`), 400, "-32600"},
		"too many bytes":          {call(`{"name":"act","arguments":{"do":"` + strings.Repeat("x", 4<<20) + `"}}`), 413, "-32600"},
		"a batch of seventeen":    {"[" + strings.Repeat(call(`{"name":"act"}`)+",", 16) + call(`{"name":"act"}`) + "]", 400, "-32600"},
		"a fraction for an id":    {strings.Replace(call(`{"name":"act"}`), `"id":1`, `"id":1.5`, 1), 400, "-32600"},
	} {
		status, header, answer := h.send(h.request(t.Context(), token, revisions[1], c.body))
		if status != c.status || !strings.Contains(answer, `"code":`+c.code) || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d, %.200s; want %d, %s", name, status, answer, c.status, c.code)
		}
	}
	if after := h.state("ep"); after != before || len(hand.Jobs()) != 0 {
		t.Errorf("refused bodies left a trace: %s, then %s", before, after)
	}
	if _, answer := h.rpc(token, revisions[1], "tools/call", `"name":"act","arguments":{"do":1}`); !strings.Contains(answer, `"done"`) {
		t.Errorf("control: %s", answer)
	}
}

// TestBatchesAreOfTheOldestRevisionAlone runs one under each.
func TestBatchesAreOfTheOldestRevisionAlone(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	token := h.writer(9)
	batch := `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"peek"}}]`
	status, _, answer := h.send(h.request(t.Context(), token, "2025-03-26", batch))
	if status != 200 || strings.Count(answer, `"jsonrpc"`) != 2 || !strings.Contains(answer, `"done"`) || !strings.Contains(answer, `unknown tool`) {
		t.Errorf("2025-03-26: status %d, %s", status, answer)
	}
	if status, _, answer := h.send(h.request(t.Context(), token, revisions[1], batch)); status != 400 {
		t.Errorf("%s: status %d, %s", revisions[1], status, answer)
	}
}

func TestAHeaderMeansOneThing(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	token := h.writer(9)
	before := h.state("ep")
	body, headers := message(revisions[0], "tools/call", `"name":"act","arguments":{}`)
	for name, extra := range map[string]string{
		"a second method":   "Mcp-Method: tools/list",
		"the method again":  "mcp-method: tools/call",
		"a second name":     "Mcp-Name: echo",
		"a second revision": "Mcp-Protocol-Version: 2025-11-25",
		"a second type":     "Content-Type: text/plain",
	} {
		status, _, answer := h.send(h.request(t.Context(), token, revisions[0], body, append(headers, extra)...))
		if status != 400 || !strings.Contains(answer, `"code":-32020`) {
			t.Errorf("%s: status %d, %s", name, status, answer)
		}
	}
	for name, c := range map[string]struct {
		headers []string
		body    string
	}{
		"another method":               {[]string{"Mcp-Method: tools/list", "Mcp-Name: act"}, body},
		"no method":                    {[]string{"Mcp-Name: act"}, body},
		"another name":                 {[]string{"Mcp-Method: tools/call", "Mcp-Name: echo"}, body},
		"another revision in the body": {headers, strings.Replace(body, revisions[0], "2026-01-01", 1)},
	} {
		status, _, answer := h.send(h.request(t.Context(), token, revisions[0], c.body, c.headers...))
		if status != 400 || !strings.Contains(answer, `"code":-32020`) {
			t.Errorf("%s: status %d, %s", name, status, answer)
		}
	}
	if after := h.state("ep"); after != before {
		t.Errorf("%s, then %s", before, after)
	}
	if status, _, answer := h.send(h.request(t.Context(), token, revisions[0], body, headers...)); status != 200 {
		t.Errorf("control: status %d, %s", status, answer)
	}
}

func TestTheCurrentRevisionOnTheWire(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	token := h.writer(9)
	for method, want := range map[string]struct {
		status int
		says   []string
	}{
		"server/discover": {200, []string{`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18"`, `"cacheScope":"private"`, `"resultType":"complete"`,
			`world/invocationId`, `Mind the fixtures.`, `"capabilities":{"tools":{}}`}},
		"tools/list":   {200, []string{`"cacheScope":"private"`, `"ttlMs":0`, `"resultType":"complete"`, `"name":"act"`}},
		"prompts/list": {200, []string{`"cacheScope":"private"`}},
		"initialize":   {404, []string{`"code":-32601`}},
		"ping":         {404, []string{`"code":-32601`}},
		"no/such":      {404, []string{`"code":-32601`}},
	} {
		status, answer := h.rpc(token, revisions[0], method, "")
		if status != want.status {
			t.Errorf("%s: status %d, %s", method, status, answer)
		}
		for _, text := range want.says {
			if !strings.Contains(answer, text) {
				t.Errorf("%s does not say %s: %s", method, text, answer)
			}
		}
		if strings.Contains(answer, `"public"`) {
			t.Errorf("%s lets others keep its answer: %s", method, answer)
		}
	}
	if status, answer := h.rpc(token, "2099-01-01", "tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}`); status != 400 || !strings.Contains(answer, "-32020") && !strings.Contains(answer, "-32022") {
		t.Errorf("an unknown revision: status %d, %s", status, answer)
	}
}

func TestACursorThatWasNeverGivenIsRefused(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	for _, revision := range revisions {
		if _, answer := h.rpc(h.writer(1), revision, "tools/list", `"cursor":"EgA="`); !strings.Contains(answer, `"code":-32602`) {
			t.Errorf("%s: %s", revision, answer)
		}
	}
}

// TestListedSchemasAdmitWhatIsAnswered holds the two schemas of each tool to what
// clients check: inputs are objects, and failures fit the output schema too.
func TestListedSchemasAdmitWhatIsAnswered(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	_, answer := h.rpc(h.writer(1), revisions[0], "tools/list", "")
	var list struct {
		Result struct {
			Tools []struct {
				Name, Title, Description  string
				Annotations               struct{ ReadOnlyHint, DestructiveHint *bool }
				InputSchema, OutputSchema struct {
					Type  string
					AnyOf []map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list.Result.Tools) != 5 {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, tool := range list.Result.Tools {
		if tool.InputSchema.Type != "object" || tool.OutputSchema.Type != "object" || len(tool.OutputSchema.AnyOf) != 2 || tool.Title == "" || tool.Description == "" ||
			tool.Annotations.ReadOnlyHint == nil || tool.Annotations.DestructiveHint == nil {
			t.Errorf("%+v", tool)
		}
	}
}

// TestASessionCannotCrowdOthersOut makes one call more than a session has places,
// and holds them; another session is served all the same.
func TestASessionCannotCrowdOthersOut(t *testing.T) {
	hand := newHeld()
	h := open(t, &hand.Hand, nil)
	t.Cleanup(hand.letGo)
	greedy := h.writer(1000)
	other := h.mint(3600, "other", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	const places = 32
	answered := make(chan string, places+1)
	for i := range places + 1 {
		body, headers := message(revisions[0], "tools/call", fmt.Sprintf(`"name":"act","arguments":{"n":%d}`, i))
		r := h.request(t.Context(), greedy, revisions[0], body, headers...)
		go func() {
			response, err := h.http.Do(r)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer response.Body.Close()
			text, _ := io.ReadAll(response.Body)
			answered <- fmt.Sprint(response.StatusCode, response.Header["Retry-After"], string(text))
		}()
	}
	if refused := <-answered; !strings.HasPrefix(refused, "503 [1]") {
		t.Errorf("the first answer, with all places held, is %s", refused)
	}
	if status, answer := h.rpc(other, revisions[1], "tools/list", ""); status != 200 {
		t.Errorf("another session: status %d, %s", status, answer)
	}
	hand.letGo()
	for range places {
		if answer := <-answered; !strings.Contains(answer, `"done"`) {
			t.Errorf("a held call was answered %s", answer)
		}
	}
	eventually(t, "the session to have room again", func() bool {
		status, _ := h.rpc(greedy, revisions[1], "ping", "")
		return status == 200
	})
}
