package rows_test

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// stored is a row as a database would give it back.
type stored []any

// Scan implements rows.Scanner.
func (s stored) Scan(dest ...any) error {
	if len(dest) != len(s) {
		return fmt.Errorf("%d columns read as %d", len(s), len(dest))
	}
	for i, d := range dest {
		if c, ok := d.(sql.Scanner); ok {
			if err := c.Scan(s[i]); err != nil {
				return err
			}
			continue
		}
		to, from := reflect.ValueOf(d).Elem(), reflect.ValueOf(s[i])
		if !from.IsValid() || from.Kind() != to.Kind() {
			return errors.New("another type")
		}
		to.Set(from.Convert(to.Type()))
	}
	return nil
}

func ref(n byte) store.Ref { return store.RefOf([]byte{n}) }

var (
	entry = store.Entry{Index: 3, SemanticsEpoch: 1, TransitionFn: ref(1), Interpreter: ref(2), Prev: ref(3), WrittenBy: "host",
		Hash: ref(4), Transition: ref(5), StateRoot: ref(6), World: ref(7), Invocation: "mcp:ep-1:1"}
	claim = store.Claim{Invocation: "mcp:ep-1:1", Episode: "ep-1", Transition: "tools.read", TransitionFn: ref(1), Input: ref(2), Session: ref(3), At: 7}
	open  = store.Intent{Episode: "ep-1", Ordinal: 4, Invocation: "mcp:ep-1:1", Effect: "E", Scope: "s", Cost: 2, Request: ref(1), At: 5, Epoch: 6}
	ended = func() store.Intent {
		i := open
		i.Outcome = store.Outcome{Status: store.StatusSucceeded, Record: ref(2), Detail: ref(3), At: 9}
		return i
	}()
	session  = rows.Session{Seq: 2, Session: store.Session{Credential: "c", Object: ref(1), Episode: "ep-1", CreatedAt: 1, ExpiresAt: 2}}
	head     = entry.Head()
	registry = store.HeadMove{Name: "r", To: ref(1)}
)

// kind is one kind of row: what writes it and what reads it back.
type kind struct {
	name    string
	columns string
	args    []any
	value   any
	scan    func(rows.Scanner) (any, error)
}

func kinds() []kind {
	digest := func(d store.Digest) []byte { return d[:] }
	return []kind{
		{"log 3", rows.EntryColumns, rows.EntryArgs(entry), entry, func(r rows.Scanner) (any, error) { return rows.ScanEntry(r) }},
		{"head", rows.HeadColumns, rows.HeadArgs(head), head, func(r rows.Scanner) (any, error) { return rows.ScanHead(r) }},
		{`claim "mcp:ep-1:1"`, rows.ClaimColumns, rows.ClaimArgs(claim), claim, func(r rows.Scanner) (any, error) { return rows.ScanClaim(r) }},
		{`intent "effect:ep-1:4"`, rows.IntentColumns, rows.IntentArgs(open), open, func(r rows.Scanner) (any, error) { return rows.ScanIntent(r) }},
		{`intent "effect:ep-1:4"`, rows.IntentColumns, rows.IntentArgs(ended), ended, func(r rows.Scanner) (any, error) { return rows.ScanIntent(r) }},
		{"session 2", rows.SessionColumns, rows.SessionArgs(session), session, func(r rows.Scanner) (any, error) { return rows.ScanSession(r) }},
		{`registry "r"`, rows.RegistryColumns, []any{"r", rows.Blob(ref(1)), digest(registry.Digest())}, registry, func(r rows.Scanner) (any, error) { return rows.ScanRegistry(r) }},
		{"clock", rows.ClockColumns, []any{int64(9), digest(store.ClockDigest(9))}, int64(9), func(r rows.Scanner) (any, error) { return rows.ScanClock(r) }},
		{"a label of object " + string(ref(1)), rows.LabelColumns, []any{"s", "p", digest(store.LabelDigest(ref(1), store.Label{SemanticID: "s", Provenance: "p"}))},
			store.Label{SemanticID: "s", Provenance: "p"}, func(r rows.Scanner) (any, error) { return rows.ScanLabel(r, ref(1)) }},
	}
}

func TestRowsReadBack(t *testing.T) {
	for _, k := range kinds() {
		if n := len(strings.Split(k.columns, ", ")); n != len(k.args) {
			t.Errorf("%s: %d columns and %d values", k.name, n, len(k.args))
		}
		if got, err := k.scan(stored(k.args)); err != nil || got != k.value {
			t.Errorf("%s: read back as %v, %v", k.name, got, err)
		}
	}
}

// TestEveryColumnIsGuarded changes each column of each kind of row in turn, first
// to another value and then to one of no use at all.
func TestEveryColumnIsGuarded(t *testing.T) {
	for _, k := range kinds() {
		columns := strings.Split(k.columns, ", ")
		for i, v := range k.args {
			for _, bad := range []any{other(v), nil, struct{}{}} {
				row := append(stored{}, k.args...)
				if row[i] = bad; reflect.DeepEqual(bad, v) {
					t.Fatalf("%s: %s is not changed", k.name, columns[i])
				}
				if b, ok := v.([]byte); ok && len(b) == 0 && bad == nil {
					continue // no bytes are no bytes
				}
				_, err := k.scan(row)
				if !fault.Is(err, fault.Corrupt) {
					t.Errorf("%s: %s is %v, and it reads as %v", k.name, columns[i], bad, err)
				} else if _, numbered := bad.(int64); numbered && i > 1 && !strings.Contains(fault.Detail(err), k.name) {
					t.Errorf("%s: the error does not name the row: %v", k.name, err)
				}
			}
		}
	}
}

// other is a value of the same type.
func other(v any) any {
	switch v := v.(type) {
	case int64:
		return v + 1
	case string:
		return v + "x"
	case []byte:
		if len(v) == 0 {
			return make([]byte, 32)
		}
		b := append([]byte{}, v...)
		b[len(b)-1] ^= 1
		return b
	}
	panic(fmt.Sprintf("a column of %T", v))
}

// TestOneAfterAnother reads a row of no use between two good ones through the same
// values: nothing of a row is taken for another's.
func TestOneAfterAnother(t *testing.T) {
	next := rows.Entries()
	good := stored(rows.EntryArgs(entry))
	bad := append(stored{"no number"}, good[1:]...)
	second := entry
	second.Index, second.Invocation = 4, ""
	for i, step := range []struct {
		row  stored
		want store.Entry
		says string
	}{
		{good, entry, ""},
		{bad, store.Entry{}, "log 0 does not decode"},
		{rows.EntryArgs(second), second, ""},
		{good[:3], store.Entry{}, "log 0 does not decode"},
		{good, entry, ""},
	} {
		got, err := next(step.row)
		if got != step.want || (err != nil) != (step.says != "") || fault.Detail(err) != step.says {
			t.Errorf("row %d reads as %+v, %v", i, got, err)
		}
	}
}

func TestObjects(t *testing.T) {
	o := store.NewObject("s", "p", []byte("bytes"))
	d := store.ObjectDigest(o.Ref(), o.Label())
	row := stored{true, rows.Blob(o.Ref()), "s", "p", o.Bytes(), d[:]}
	var before bool
	got, err := rows.ScanObject(row, &before)
	if err != nil || !before || got.Ref != o.Ref() || string(got.Bytes) != "bytes" || len(got.Labels) != 1 || got.Labels[0] != o.Label() {
		t.Fatalf("read back as %+v, %v", got, err)
	}
	for i, bad := range []any{nil, other(row[1]), "another", "another", nil, other(d[:])} {
		if bad == nil {
			continue // what comes before, and the bytes, are guarded by others
		}
		changed := append(stored{}, row...)
		changed[i] = bad
		if _, err := rows.ScanObject(changed, &before); !fault.Is(err, fault.Corrupt) {
			t.Errorf("column %d changed: %v", i, err)
		}
	}
}

func TestRefs(t *testing.T) {
	for _, r := range []store.Ref{"", ref(1)} {
		got := store.Ref("before")
		if err := rows.Ref(&got).Scan(rows.Blob(r)); err != nil || got != r {
			t.Errorf("%q reads back as %q, %v", r, got, err)
		}
		if err := rows.Ref(&got).ScanBytes(rows.Blob(r)); err != nil || got != r {
			t.Errorf("the bytes of %q read back as %q, %v", r, got, err)
		}
	}
	for _, bad := range []any{make([]byte, 31), make([]byte, 33), "text", int64(7)} {
		var got store.Ref
		if err := rows.Ref(&got).Scan(bad); err == nil {
			t.Errorf("%v reads as %q", bad, got)
		}
	}
}
