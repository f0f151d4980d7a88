package rest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"world/daemon/rest"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

const entries = 520 // more than the greatest page

// world is a served store of a genesis entry and host acts about one object.
type world struct {
	store   *sqlite.Store
	mux     *http.ServeMux
	log     *bytes.Buffer
	subject store.Object
	head    store.Head
}

func open(t *testing.T) *world {
	t.Helper()
	ctx := t.Context()
	s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w := &world{store: s, mux: http.NewServeMux(), log: &bytes.Buffer{}}
	reads := rest.New(s, rest.Health{Status: "ok", DaemonVersion: "9", InterpreterRef: store.RefOf(nil), Confinement: "namespaces", Floor: "landlock", Uses: map[string]bool{"programs": true, "files": false}})
	for pattern, handler := range map[string]http.HandlerFunc{
		"GET /v1/health": reads.Health, "GET /v1/head": reads.Head, "GET /v1/log": reads.Log,
		"GET /v1/log/{index}": reads.LogEntry, "GET /v1/objects/{ref}": reads.Object,
	} {
		w.mux.HandleFunc(pattern, handler)
	}
	return w
}

// fill gives the store its entries.
func (w *world) fill(t *testing.T, n int) {
	t.Helper()
	w.subject = store.NewObject("test/subject/v1", "test", []byte("subject <&>\x00\xff"))
	again := store.NewObject("test/other/v1", "test:again", w.subject.Bytes())
	ref := w.subject.Ref()
	draft := store.Draft{SemanticsEpoch: 3, TransitionFn: ref, Interpreter: ref, WrittenBy: "host:test", Transition: ref, StateRoot: ref}
	entry, err := w.store.Begin(t.Context(), store.Act{Objects: []store.Object{w.subject, again}, Draft: draft, At: 1})
	for i := 1; i < n && err == nil; i++ {
		entry, err = w.store.Act(t.Context(), store.Act{Draft: draft, At: int64(i)})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.head = entry.Head()
}

func (w *world) get(path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	ctx := zerolog.New(w.log).WithContext(context.Background())
	w.mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	return answer
}

// wantRefusal checks the envelope.
func wantRefusal(t *testing.T, path string, got *httptest.ResponseRecorder, status int, class, message string) {
	t.Helper()
	want := fmt.Sprintf(`{"error":{"class":%q,"message":%q}}`, class, message)
	if got.Code != status || got.Body.String() != want || got.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%s: status %d, %s; want %d, %s", path, got.Code, got.Body, status, want)
	}
}

func TestHealthSaysWhatIsFixed(t *testing.T) {
	w := open(t)
	want := `{"status":"ok","daemon_version":"9","interpreter_ref":"` + string(store.RefOf(nil)) +
		`","confinement":"namespaces","confinement_floor":"landlock","confinement_uses":{"files":false,"programs":true}}`
	if got := w.get("/v1/health"); got.Code != 200 || got.Body.String() != want {
		t.Fatalf("status %d, %s; want %s", got.Code, got.Body, want)
	}
}

func TestAnEmptyStore(t *testing.T) {
	w := open(t)
	wantRefusal(t, "head", w.get("/v1/head"), 404, "NotFound", "no world head has been selected yet")
	wantRefusal(t, "entry", w.get("/v1/log/0"), 404, "NotFound", "log entry not found")
	wantRefusal(t, "object", w.get("/v1/objects/"+string(store.RefOf(nil))), 404, "NotFound", "object not found")
	if got := w.get("/v1/log"); got.Code != 200 || got.Body.String() != `{"items":[]}` {
		t.Errorf("log: status %d, %s", got.Code, got.Body)
	}
}

func TestHeadIsText(t *testing.T) {
	w := open(t)
	w.fill(t, 2)
	got := w.get("/v1/head")
	if got.Code != 200 || got.Body.String() != string(w.head.World) || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("status %d, %s %s; want %s", got.Code, got.Header(), got.Body, w.head.World)
	}
	for name, value := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		if got.Header().Get(name) != value {
			t.Errorf("%s is %q, want %q", name, got.Header().Get(name), value)
		}
	}
}

func TestPages(t *testing.T) {
	w := open(t)
	w.fill(t, entries)
	for _, c := range []struct {
		query       string
		first, many int
	}{
		{"", 0, 100},
		{"?from=7", 7, 100},
		{"?from=7&limit=3", 7, 3},
		{"?limit=0", 0, 100},
		{"?limit=-5", 0, 100},
		{"?limit=501", 0, 500},
		{"?limit=9223372036854775807", 0, 500},
		{"?from=510&limit=500", 510, 10},
		{"?from=519", 519, 1},
		{"?from=520", 520, 0},
		{"?from=9223372036854775807", 0, 0},
	} {
		var page struct {
			Items []struct {
				Header struct{ EntryIndex int }
			}
		}
		got := w.get("/v1/log" + c.query)
		if err := json.Unmarshal(got.Body.Bytes(), &page); got.Code != 200 || err != nil || len(page.Items) != c.many {
			t.Errorf("%q: status %d, %d items, %v; want %d", c.query, got.Code, len(page.Items), err, c.many)
			continue
		}
		for i, item := range page.Items {
			if item.Header.EntryIndex != c.first+i {
				t.Errorf("%q: item %d has index %d", c.query, i, item.Header.EntryIndex)
			}
		}
	}
}

func TestRefusedParameters(t *testing.T) {
	w := open(t)
	w.fill(t, 1)
	object := "/v1/objects/" + string(w.subject.Ref())
	for path, message := range map[string]string{
		"/v1/log?from=-1":                  "log index must be a non-negative integer",
		"/v1/log?from=":                    "log index must be a non-negative integer",
		"/v1/log?from=%2B1":                "log index must be a non-negative integer",
		"/v1/log?from=9223372036854775808": "log index must be a non-negative integer",
		"/v1/log?limit=ten":                "limit must be an integer",
		"/v1/log?limit=1&limit=2":          "query parameter limit is given twice",
		"/v1/log?page=2":                   "the query holds a parameter that this route does not know",
		"/v1/log/-0":                       "log index must be a non-negative integer",
		"/v1/log/01":                       "log index must be a non-negative integer",
		"/v1/log/1.0":                      "log index must be a non-negative integer",
		"/v1/log/head":                     "log index must be a non-negative integer",
		"/v1/log/0?payload=true":           "the query holds a parameter that this route does not know",
		"/v1/head?x=1":                     "the query holds a parameter that this route does not know",
		"/v1/health?x":                     "the query holds a parameter that this route does not know",
		object + "?payload=1":              "payload is true or false",
		object + "?payload":                "payload is true or false",
		"/v1/objects/sha256:abc":           "a ref is sha256: and 64 lowercase hex digits",
		"/v1/objects/" + strings.ToUpper(string(w.subject.Ref())): "a ref is sha256: and 64 lowercase hex digits",
		"/v1/objects/..%2f..%2fetc":                               "a ref is sha256: and 64 lowercase hex digits",
	} {
		wantRefusal(t, path, w.get(path), 400, "BadRequest", message)
	}
}

func TestAnEntryHashesToWhatItSays(t *testing.T) {
	w := open(t)
	w.fill(t, 3)
	stored, err := w.store.Entry(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	got := w.get("/v1/log/2")
	want := fmt.Sprintf(`{"header":{"entryIndex":2,"semanticsEpoch":3,"transitionFn":%q,"interpreter":%q,"prevEntryHash":%q,"writtenBy":"host:test"},`+
		`"entryHash":%q,"transitionRef":%q,"stateRoot":%q,"world":%q}`, stored.TransitionFn, stored.Interpreter, stored.Prev,
		stored.ComputeHash(), stored.Transition, stored.StateRoot, w.head.World)
	if got.Code != 200 || got.Body.String() != want {
		t.Fatalf("status %d\n%s\nwant\n%s", got.Code, got.Body, want)
	}
	wantRefusal(t, "beyond", w.get("/v1/log/3"), 404, "NotFound", "log entry not found")
}

func TestObjects(t *testing.T) {
	w := open(t)
	w.fill(t, 1)
	path := "/v1/objects/" + string(w.subject.Ref())
	flat := fmt.Sprintf(`{"hash":%q,"interfaceHash":%q,"semanticId":"test/subject/v1","provenance":"test","labels":[`+
		`{"semanticId":"test/subject/v1","provenance":"test"},{"semanticId":"test/other/v1","provenance":"test:again"}]`,
		w.subject.Ref(), store.RefOf([]byte("test/subject/v1")))
	for query, want := range map[string]string{
		"":               flat + "}",
		"?payload=false": flat + "}",
		"?payload=true":  flat + `,"payload":"` + base64.StdEncoding.EncodeToString(w.subject.Bytes()) + `"}`,
	} {
		if got := w.get(path + query); got.Code != 200 || got.Body.String() != want {
			t.Errorf("%q: status %d\n%s\nwant\n%s", query, got.Code, got.Body, want)
		}
	}
}

func TestAnEmptyPayloadIsShown(t *testing.T) {
	w := open(t)
	w.fill(t, 1)
	empty := store.NewObject(record.Result, "test", nil)
	if err := w.store.Keep(t.Context(), []store.Object{empty}); err != nil {
		t.Fatal(err)
	}
	if got := w.get("/v1/objects/" + string(empty.Ref()) + "?payload=true"); !strings.Contains(got.Body.String(), `"payload":""`) {
		t.Fatalf("status %d, %s", got.Code, got.Body)
	}
}

// TestCausesStayInTheLog reads from a store that has been closed.
func TestCausesStayInTheLog(t *testing.T) {
	w := open(t)
	w.fill(t, 1)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/head", "/v1/log", "/v1/log/0", "/v1/objects/" + string(w.subject.Ref())} {
		w.log.Reset()
		wantRefusal(t, path, w.get(path), 500, "Internal", "internal store failure")
		if !strings.Contains(w.log.String(), `"error":`) {
			t.Errorf("%s: the log says nothing: %s", path, w.log)
		}
	}
}

func TestTokenFileReplacesALinkAndFollowsNone(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(outside, []byte("untouched"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, rest.TokenFile)
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	token := rest.NewToken()
	if err := token.WriteFile(dir); err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(outside); string(kept) != "untouched" {
		t.Errorf("the link's target holds %q", kept)
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a regular file of mode 0600", info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files in the directory, want the token's alone", len(files))
	}
	text, _ := os.ReadFile(path)
	if shown := fmt.Sprintf("%v %+v %#v %s", token, token, token, token); strings.Contains(shown, strings.TrimSpace(string(text))) {
		t.Errorf("printing shows the token: %s", shown)
	}
}
