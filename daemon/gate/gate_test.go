package gate_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"world/canon"
	"world/daemon/gate"
	"world/fault"
)

var limits = gate.Limits{Bytes: 4096, Depth: 8, Values: 64, Batch: 3}

// pass sends a body through the gate and returns the answer, and what came
// through, nil when nothing did.
func pass(body io.Reader) (*httptest.ResponseRecorder, []byte) {
	var through []byte
	handler := gate.RPC(limits, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
	}))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/mcp", body))
	return w, through
}

func TestWellFormedMessagesPassUntouched(t *testing.T) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		` {"id":"a b","method":"tools/call","jsonrpc":"2.0","params":{"name":"x"},"extra":[1]} ` + "\n",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":-9007199254740991,"result":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"m","params":[]}`,
		`{"jsonrpc":"2.0","id":7,"method":"m","params":{"emoji":"\ud83d\ude00"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","method":"b"}]`,
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"1","method":"a"}]`,
	} {
		if w, through := pass(strings.NewReader(body)); w.Code != http.StatusTeapot || string(through) != body {
			t.Errorf("%s: status %d, through %q", body, w.Code, through)
		}
	}
}

func TestRefusals(t *testing.T) {
	const ok = `"jsonrpc":"2.0","method":"m"`
	nested := strings.Repeat(`{"a":`, 8) + "1" + strings.Repeat("}", 8)
	for _, c := range []struct {
		name, body string
		status     int
		code       int
		id         string
		says       string
	}{
		{"empty", ``, 400, -32700, "null", "missing"},
		{"not json", `hello`, 400, -32700, "null", "byte 0"},
		{"trailing data", `{` + ok + `,"id":1} {}`, 400, -32700, "null", "data after"},
		{"duplicate member", `{` + ok + `,"id":1,"id":2}`, 400, -32700, "null", `duplicate member "id"`},
		{"duplicate by escape", `{` + ok + `,"id":1,"\u0069d":2}`, 400, -32700, "null", "duplicate"},
		{"duplicate deep inside", `{` + ok + `,"id":1,"params":{"a":{"k":1,"k":2}}}`, 400, -32700, "null", `"k"`},
		{"bad utf-8", `{` + ok + `,"id":"` + "\xff" + `"}`, 400, -32700, "null", "UTF-8"},
		{"lone surrogate", `{` + ok + `,"id":"\ud83d"}`, 400, -32700, "null", "surrogate"},
		{"raw NUL", `{` + ok + ",\"id\":\"a\x00\"}", 400, -32700, "null", "control"},
		{"byte order mark", "\ufeff" + `{` + ok + `}`, 400, -32700, "null", "byte 0"},
		{"too deep", `{` + ok + `,"id":1,"params":` + nested + `}`, 400, -32600, "null", "deep"},
		{"too many values", `{` + ok + `,"id":1,"params":[` + strings.Repeat("1,", 64) + `1]}`, 400, -32600, "null", "64 JSON values"},
		{"too many bytes", `{` + ok + `,"id":"` + strings.Repeat("x", 4096) + `"}`, 413, -32600, "null", "4096 bytes"},
		{"a scalar", `7`, 400, -32600, "null", "not a number"},
		{"no version", `{"method":"m","id":1}`, 400, -32600, "1", "jsonrpc"},
		{"version as a number", `{"jsonrpc":2.0,"method":"m","id":"q"}`, 400, -32600, `"q"`, "jsonrpc"},
		{"null id", `{` + ok + `,"id":null}`, 400, -32600, "null", "id is"},
		{"fraction id", `{` + ok + `,"id":1.5}`, 400, -32600, "null", "id is"},
		{"id beyond a double", `{` + ok + `,"id":9007199254740992}`, 400, -32600, "null", "id is"},
		{"object id", `{` + ok + `,"id":{}}`, 400, -32600, "null", "id is"},
		{"long id", `{` + ok + `,"id":"` + strings.Repeat("x", 257) + `"}`, 400, -32600, "null", "id is"},
		{"NUL in the id", `{` + ok + `,"id":"a\u0000"}`, 400, -32600, "null", "id is"},
		{"empty method", `{"jsonrpc":"2.0","id":3,"method":""}`, 400, -32600, "3", "method"},
		{"method as a number", `{"jsonrpc":"2.0","id":3,"method":4}`, 400, -32600, "3", "method"},
		{"line break in the method", `{"jsonrpc":"2.0","id":3,"method":"a\nb"}`, 400, -32600, "3", "method"},
		{"params as text", `{` + ok + `,"id":3,"params":"x"}`, 400, -32600, "3", "params"},
		{"empty batch", `[]`, 400, -32600, "null", "1 to 3"},
		{"long batch", `[{` + ok + `},{` + ok + `},{` + ok + `},{` + ok + `}]`, 400, -32600, "null", "1 to 3"},
		{"nested batch", `[[{` + ok + `}]]`, 400, -32600, "null", "not an array"},
		{"one id twice", `[{` + ok + `,"id":4},{` + ok + `,"id":4}]`, 400, -32600, "4", "one id"},
	} {
		w, through := pass(strings.NewReader(c.body))
		var answer struct {
			Version string `json:"jsonrpc"`
			ID      json.RawMessage
			Error   struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Errorf("%s: answer %q is not JSON: %v", c.name, w.Body, err)
		}
		if through != nil || w.Code != c.status || answer.Version != "2.0" || answer.Error.Code != c.code ||
			string(answer.ID) != c.id || !strings.Contains(answer.Error.Message, c.says) {
			t.Errorf("%s: status %d, answer %s, through %q; want %d, code %d, id %s, %q",
				c.name, w.Code, w.Body, through, c.status, c.code, c.id, c.says)
		}
	}
}

func TestABodyThatStopsArriving(t *testing.T) {
	w, through := pass(io.MultiReader(strings.NewReader(`{"jsonrpc":`), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if w.Code != http.StatusRequestTimeout || through != nil || strings.Contains(w.Body.String(), "EOF") {
		t.Fatalf("status %d, answer %s, through %q", w.Code, w.Body, through)
	}
}

// TestValuesBoundBeforeBuilding holds the bound to strings full of separators,
// which are one value however many they hold.
func TestValuesBoundBeforeBuilding(t *testing.T) {
	body := `{"a":"` + strings.Repeat(`,[{\"\\`, 200) + `"}`
	if _, err := gate.Parse([]byte(body), limits); err != nil {
		t.Fatalf("separators inside a string: %v", err)
	}
	if _, err := gate.Parse([]byte(`[`+strings.Repeat(`"",`, 64)+`""]`), limits); !fault.Is(err, fault.Limit) {
		t.Fatalf("66 values: %v, want limit", err)
	}
}

// FuzzGate holds that what passes means one thing: Go's own decoder accepts it
// and reads the same value, and a refusal is always a JSON-RPC error.
func FuzzGate(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,-0.5e3,"\u0041\ud83d\ude00",null,true]}}`,
		`[{"jsonrpc":"2.0","id":"x","method":"a"},{"jsonrpc":"2.0","method":"b"}]`,
		`{"jsonrpc":"2.0","id":1,"id":2}`, `[`, `"\ud83d"`, "{}\x00", `{"a":{"a":{"a":{"a":[[[[[1]]]]]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		w, through := pass(bytes.NewReader(body))
		if w.Code != http.StatusTeapot {
			v, err := canon.Parse(w.Body.Bytes(), canon.Limits{})
			if _, ok := v.Get("error"); err != nil || !ok || through != nil {
				t.Fatalf("refusal %q, through %q", w.Body, through)
			}
			return
		}
		if !bytes.Equal(through, body) {
			t.Fatalf("through %q of %q", through, body)
		}
		var ours, theirs any
		mine, err := canon.Canonical(body, canon.Limits{Pairs: true})
		if err != nil || !json.Valid(body) {
			t.Fatalf("%q passed and is not JSON: %v", body, err)
		}
		if errOurs, errTheirs := json.Unmarshal(mine, &ours), json.Unmarshal(body, &theirs); errOurs != nil || errTheirs != nil {
			if errOurs == nil || errTheirs == nil { // a number beyond a double is refused of both
				t.Fatalf("%q: %v here, %v there", body, errOurs, errTheirs)
			}
			return
		}
		a, _ := json.Marshal(ours)
		b, _ := json.Marshal(theirs)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q reads as %s here and as %s there", body, a, b)
		}
	})
}
