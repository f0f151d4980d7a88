package coordinator_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"world/broker/law"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// TestInvalidCalls checks R1: a malformed call is refused and leaves nothing.
func TestInvalidCalls(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	snapshot, err := w.C.Snapshot(t.Context(), writer(w, 1))
	if err != nil {
		t.Fatal(err)
	}
	good := coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: "task", Args: []byte(`{}`)}
	before := head(t, w)
	for name, test := range map[string]struct {
		edit func(*coordinator.Call)
		kind fault.Kind
		text string
	}{
		"surface":        {func(c *coordinator.Call) { c.Surface = "rest" }, fault.Invalid, "surface"},
		"task":           {func(c *coordinator.Call) { c.Task = "a b" }, fault.Invalid, "task id"},
		"long task":      {func(c *coordinator.Call) { c.Task = strings.Repeat("a", 129) }, fault.Invalid, "task id"},
		"no arguments":   {func(c *coordinator.Call) { c.Args = nil }, fault.Invalid, "arguments"},
		"no object":      {func(c *coordinator.Call) { c.Args = []byte(`[]`) }, fault.Invalid, "must be a JSON object"},
		"two values":     {func(c *coordinator.Call) { c.Args = []byte(`{}{}`) }, fault.Invalid, "arguments"},
		"duplicate name": {func(c *coordinator.Call) { c.Args = []byte(`{"a":1,"a":2}`) }, fault.Invalid, "duplicate"},
		"bad UTF-8":      {func(c *coordinator.Call) { c.Args = []byte("{\"a\":\"\xff\"}") }, fault.Invalid, "UTF-8"},
		"too deep": {func(c *coordinator.Call) {
			c.Args = []byte(`{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`)
		}, fault.Limit, "deep"},
		"too large": {func(c *coordinator.Call) {
			c.Args = []byte(`{"a":"` + strings.Repeat("x", coordinator.MaxInput) + `"}`)
		}, fault.Limit, "1048576"},
	} {
		call := good
		test.edit(&call)
		_, err := w.C.Invoke(t.Context(), snapshot, call)
		if fault.KindOf(err) != test.kind || !strings.Contains(fault.Public(err), test.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if head(t, w) != before || len(hand.Jobs()) != 0 {
		t.Error("a refused call left something")
	}
	if _, err := w.Store.Claim(t.Context(), "mcp:ep:task"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a refused call claimed its id: %v", err)
	}
	if _, err := w.C.Invoke(t.Context(), snapshot, good); err != nil {
		t.Errorf("the well-formed call: %v", err)
	}
}

// TestAbsentAndInvisibleAreTheSame checks R2 and R3, and that admission comes
// before anything is told about an id.
func TestAbsentAndInvisibleAreTheSame(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := writer(w, 1)
	w.Must(live, coordtest.Act, "used", `{}`)
	_, absent := w.Invoke(t.Context(), live, "no-such", "used", `{}`)
	_, invisible := w.Invoke(t.Context(), live, coordtest.Peek, "used", `{}`)
	if !fault.Is(absent, fault.NotFound) || absent.Error() != invisible.Error() {
		t.Errorf("absent: %v; invisible: %v", absent, invisible)
	}
	reader := w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Scope, 1))
	if _, err := w.Invoke(t.Context(), reader, coordtest.Act, "used", `{}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("a session that may not see the transition was answered by id: %v", err)
	}
	if reply := w.Must(reader, coordtest.Peek, "", `{"effect":"Workspace.Read"}`); reply.Failed {
		t.Errorf("the visible transition: %+v", reply)
	}
}

// TestVisibleFollowsTheLaw checks listing against grants and time; it is the
// minted budget that counts, so a spent grant still shows its tools.
func TestVisibleFollowsTheLaw(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	names := func(live coordtestLive) string {
		t.Helper()
		snapshot, err := w.C.Snapshot(t.Context(), live)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range snapshot.Visible() {
			ids = append(ids, string(d.ID))
		}
		return strings.Join(ids, " ")
	}
	live := writer(w, 1)
	const writes = "act echo far mainless orphan"
	if got := names(live); got != writes {
		t.Errorf("writer sees %q", got)
	}
	w.Must(live, coordtest.Act, "", `{}`)
	if got := names(live); got != writes {
		t.Errorf("writer with nothing left sees %q", got)
	}
	for want, live := range map[string]coordtestLive{
		writes + " peek": w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 0), coordtest.Grant(coordtest.Read, coordtest.Scope, 0)),
		"peek":           w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Scope, 1)),
		"":               w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Beyond, 1), coordtest.Grant(law.Effect("workspace.write"), coordtest.Scope, 1)),
	} {
		if got := names(live); got != want {
			t.Errorf("sees %q, want %q", got, want)
		}
	}
	w.Pass(3600)
	if got := names(live); got != "" {
		t.Errorf("an expired session sees %q", got)
	}
}

// TestDrawnTaskIDs checks that a call without a task id gets a new one, and that
// one that cannot be drawn is refused.
func TestDrawnTaskIDs(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := writer(w, 5)
	first, second := w.Must(live, coordtest.Act, "", `{}`), w.Must(live, coordtest.Act, "", `{}`)
	if first.Invocation == second.Invocation || len(first.Invocation) != len("mcp:ep:")+32 {
		t.Errorf("drew %s and %s", first.Invocation, second.Invocation)
	}
	hand := &coordtest.Hand{}
	w = world(t, hand, func(o *coordinator.Options) { o.Random = io.LimitReader(strings.NewReader("only this"), 9) })
	if _, err := w.Invoke(t.Context(), writer(w, 1), coordtest.Act, "", `{}`); !fault.Is(err, fault.Internal) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without randomness: %v", err)
	}
	if len(hand.Jobs()) != 0 {
		t.Error("a call without an id ran")
	}
}

// TestSnapshotBeforeGenesis checks R7.
func TestSnapshotBeforeGenesis(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := writer(w, 1)
	empty := newEmptyStore(t)
	c := coordinator.New(coordinator.Options{Store: empty, Runner: coordtest.Runner{}})
	if _, err := c.Snapshot(t.Context(), live); !fault.Is(err, fault.Unavailable) {
		t.Errorf("snapshot of an empty store: %v", err)
	}
}
