package gate

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"world/canon"
	"world/fault"
)

// JSON-RPC 2.0 error codes that the gate answers with.
const (
	codeParse   = -32700
	codeRequest = -32600
)

const (
	maxName = 256       // bytes of a method or of a text id
	maxID   = 1<<53 - 1 // greater numbers do not survive the double that SDKs decode ids to
)

// RPC lets well-formed JSON-RPC 2.0 through to next, whose body is the same
// bytes, and answers everything else with a JSON-RPC error.
func RPC(limits Limits, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, v, err := Read(w, r, limits)
		if err != nil {
			refuseBody(w, err)
			return
		}
		if id, err := checkMessages(v, limits.Batch); err != nil {
			WriteError(w, http.StatusBadRequest, id, codeRequest, fault.Public(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		r.ContentLength = int64(len(raw))
		next.ServeHTTP(w, r)
	})
}

// checkMessages checks one message or a batch. The id it returns with an error
// is that of the message at fault, null where it cannot be told.
func checkMessages(v canon.Value, batch int) (id canon.Value, err error) {
	if v.Kind() != canon.Array {
		return checkMessage(v)
	}
	items := v.Items()
	if len(items) < 1 || len(items) > batch {
		return id, invalid("a batch holds 1 to %d messages", batch)
	}
	seen := map[string]bool{}
	for _, item := range items {
		if id, err = checkMessage(item); err != nil {
			return id, err
		}
		if id.Kind() == canon.Null {
			continue
		}
		if key := string(id.Bytes()); seen[key] {
			return id, invalid("two messages of the batch have one id")
		} else {
			seen[key] = true
		}
	}
	return canon.Value{}, nil
}

// checkMessage checks one message and returns its id, null when it has none.
func checkMessage(v canon.Value) (id canon.Value, err error) {
	if v.Kind() != canon.Object {
		return id, invalid("a message is an object, not %s", v.Kind())
	}
	if given, ok := v.Get("id"); ok {
		if !lawfulID(given) {
			return id, invalid("id is a string of at most %d bytes or an integer within 2^53", maxName)
		}
		id = given
	}
	if version, _ := v.Get("jsonrpc"); version.Kind() != canon.String || textOf(version) != "2.0" {
		return id, invalid(`jsonrpc is not "2.0"`)
	}
	if method, ok := v.Get("method"); ok && !lawfulName(method) {
		return id, invalid("method is a string of 1 to %d bytes without control characters", maxName)
	}
	if params, ok := v.Get("params"); ok && params.Kind() != canon.Object && params.Kind() != canon.Array {
		return id, invalid("params is an object or an array, not %s", params.Kind())
	}
	return id, nil
}

func lawfulID(v canon.Value) bool {
	if v.Kind() == canon.String {
		return lawfulName(v)
	}
	n, ok := v.Int64()
	return ok && n >= -maxID && n <= maxID
}

func lawfulName(v canon.Value) bool {
	text, ok := v.Text()
	control := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
	return ok && text != "" && len(text) <= maxName && !control
}

func textOf(v canon.Value) string {
	text, _ := v.Text()
	return text
}

func invalid(format string, args ...any) error {
	return fault.New("gate: message", fault.Invalid, format, args...)
}

// refuseBody answers an error of Read: 413 for bytes, 408 for a body that stayed
// away, 400 for the rest.
func refuseBody(w http.ResponseWriter, err error) {
	status, code := http.StatusBadRequest, int64(codeRequest)
	switch {
	case tooLarge(err):
		status = http.StatusRequestEntityTooLarge
	case fault.Is(err, fault.Timeout):
		status = http.StatusRequestTimeout
	case fault.Is(err, fault.Invalid):
		code = codeParse
	}
	WriteError(w, status, canon.Value{}, code, fault.Public(err))
}

// WriteError answers one JSON-RPC error. A zero id is null.
func WriteError(w http.ResponseWriter, status int, id canon.Value, code int64, message string) {
	body := canon.NewObject([]canon.Member{
		{Name: "jsonrpc", Value: canon.NewString("2.0")},
		{Name: "id", Value: id},
		{Name: "error", Value: canon.NewObject([]canon.Member{
			{Name: "code", Value: canon.NewInt(code)},
			{Name: "message", Value: canon.NewString(message)},
		})},
	})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}
