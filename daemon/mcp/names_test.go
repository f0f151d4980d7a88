package mcp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"world/store"
)

func TestToolNames(t *testing.T) {
	for id, want := range map[store.TransitionID]string{
		"ailang-read": "ailang-read", "a.b/c_d": "a_db_sc_ud", "a_d": "a_ud", "x": "x",
		"a_": "a_u", "a__d": "a_u_ud",
	} {
		if got, ok := toolName(id); got != want || !ok {
			t.Errorf("toolName(%q) = %q, %v; want %q", id, got, ok, want)
		}
	}
	if name, ok := toolName(store.TransitionID(strings.Repeat("a", 64))); !ok {
		t.Errorf("64 bytes were refused: %q", name)
	}
	if _, ok := toolName(store.TransitionID(strings.Repeat("a", 31) + "." + strings.Repeat("b", 32))); ok {
		t.Error("65 bytes were accepted")
	}
}

// TestToolNamesAreDistinct draws ids from a small alphabet, so that clashes of a
// wrong escape are common.
func TestToolNamesAreDistinct(t *testing.T) {
	lawful := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	id := gen.SliceOfN(6, gen.OneConstOf("a", "d", "s", "u", "_", ".", "/")).Map(func(parts []string) store.TransitionID {
		return store.TransitionID(strings.Join(parts, ""))
	})
	properties := gopter.NewProperties(nil)
	properties.Property("two ids never share a name", prop.ForAll(func(a, b store.TransitionID) bool {
		nameA, _ := toolName(a)
		nameB, _ := toolName(b)
		return (a == b) == (nameA == nameB) && lawful.MatchString(nameA)
	}, id, id))
	properties.TestingRun(t)
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, `{"type":"object"}`},
		{`{"type":"object","properties":{"b":{},"a":{}}}`, `{"properties":{"a":{},"b":{}},"type":"object"}`},
		{`{"type":"array"}`, ""},
		{`{"type":["object"]}`, ""},
		{`{"type":null}`, ""},
		{`{"properties":{"p":{"type":"string","x-mcp-header":"P"}}}`, ""},
		{`{"anyOf":[{"properties":{"p":{"x-mcp-header":1}}}]}`, ""},
		{`{`, ""},
	} {
		got, err := inputSchema([]byte(c.in))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("inputSchema(%s) = %s, %v; want %s", c.in, got, err, c.want)
		}
	}
	got, err := outputSchema([]byte(`{"required":["a"]}`))
	if want := `{"anyOf":[{"required":["a"]},{"required":["error"],"type":"object"}],"type":"object"}`; string(got) != want || err != nil {
		t.Errorf("outputSchema = %s, %v; want %s", got, err, want)
	}
}

func TestACrowdedSessionLeavesRoomForOthers(t *testing.T) {
	c := newCrowd(2)
	for i, want := range []bool{true, true, false} {
		if got := c.enter("a"); got != want {
			t.Fatalf("place %d of two: %v", i, got)
		}
	}
	if !c.enter("b") {
		t.Fatal("another session must get its own places")
	}
	c.leave("a")
	if !c.enter("a") {
		t.Fatal("a place given back must be free")
	}
	c.leave("a")
	c.leave("a")
	c.leave("b")
	if len(c.running) != 0 {
		t.Fatalf("%d sessions remembered with nothing running", len(c.running))
	}
}
