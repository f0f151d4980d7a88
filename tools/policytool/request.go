package policytool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"world/canon"
	"world/fault"
)

// MaxRequest is the largest request that is read, in bytes.
const MaxRequest = 64 << 20

// Request is one operation. Members that were absent are not in Given.
type Request struct {
	Op      string
	Path    string
	Content string
	OldText string
	NewText string
	Module  string
	Query   string
	Package string
	Flags   map[string]string
	Given   []string // names of the members that were present, without op, sorted
}

// keys are the members a request may have.
var keys = []string{"content", "flags", "module", "new_text", "old_text", "op", "package", "path", "query"}

// DecodeRequest reads a request strictly: exact names, no unknown and no repeated
// member, nothing after the object, strings everywhere.
func DecodeRequest(raw []byte) (Request, error) {
	bad := func(format string, args ...any) (Request, error) {
		return Request{}, fault.New("policy-tool: request", fault.Invalid, format, args...)
	}
	v, err := canon.Parse(raw, canon.Limits{Bytes: MaxRequest, Depth: 3, Pairs: true})
	if err != nil {
		return bad("request is not JSON: %s", fault.Public(err))
	}
	if v.Kind() != canon.Object {
		return bad("request is not a JSON object: it is %s", v.Kind())
	}
	q := Request{Flags: map[string]string{}}
	texts := map[string]*string{"op": &q.Op, "path": &q.Path, "content": &q.Content, "old_text": &q.OldText, "new_text": &q.NewText,
		"module": &q.Module, "query": &q.Query, "package": &q.Package}
	for _, m := range v.Members() {
		if !slices.Contains(keys, m.Name) {
			return bad("unknown request key %q (keys are exact and case-sensitive: %s)", clip(m.Name), strings.Join(keys, ", "))
		}
		if m.Name != "op" {
			q.Given = append(q.Given, m.Name)
		}
		if m.Name == "flags" {
			if err := q.decodeFlags(m.Value); err != nil {
				return Request{}, err
			}
			continue
		}
		text, ok := m.Value.Text()
		if !ok {
			return bad("request key %q must be a string, not %s", m.Name, m.Value.Kind())
		}
		if target := texts[m.Name]; target != nil {
			*target = text
		}
	}
	if q.Op == "" {
		return bad("request has no op")
	}
	return q, nil
}

func (q *Request) decodeFlags(v canon.Value) error {
	if v.Kind() != canon.Object {
		return fault.New("policy-tool: request", fault.Invalid, "flags must be an object of strings, not %s", v.Kind())
	}
	for _, m := range v.Members() {
		text, ok := m.Value.Text()
		if !ok {
			return fault.New("policy-tool: request", fault.Invalid, "flag %q must be a string, not %s", clip(m.Name), m.Value.Kind())
		}
		q.Flags[m.Name] = text
	}
	return nil
}

// surplus names a member or flag that the operation does not take.
func (q Request) surplus(op operation) string {
	for _, name := range q.Given {
		if name != "flags" && !slices.Contains(op.takes, name) {
			return fmt.Sprintf("op %s does not take %s", q.Op, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.Flags)) {
		if !slices.Contains(op.flags, name) {
			admitted := "none"
			if len(op.flags) > 0 {
				admitted = "--" + strings.Join(op.flags, " --")
			}
			return fmt.Sprintf("op %s does not admit flag --%s (admitted: %s)", q.Op, clip(name), admitted)
		}
	}
	return ""
}

// number reads a flag that is a count from low to high, or standard when absent.
func (q Request) number(flag string, low, high, standard int64) (int64, error) {
	text, ok := q.Flags[flag]
	if !ok {
		return standard, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("flag --%s must be a number from %d to %d", flag, low, high)
	}
	return n, nil
}

// set reads a flag that is set by "" or "true".
func (q Request) set(flag string) (bool, error) {
	text, ok := q.Flags[flag]
	if ok && text != "" && text != "true" {
		return false, fmt.Errorf("flag --%s is boolean: pass \"\" or \"true\" to set it, omit it to leave it off (got %q)", flag, clip(text))
	}
	return ok, nil
}

// clip keeps a name from outside short enough for a message.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
