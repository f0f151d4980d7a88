package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"world/broker"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
	"world/store/record"
)

// said is an answer as an agent's client gives it on.
type said struct {
	isError bool
	text    string
	task    string // world/invocationId
	entry   float64
	output  struct {
		Error struct{ Kind, Message string }
		World struct {
			Effects []struct{ ID, Status, Denial, Intent, Record string }
			Plan    string
		}
		Done json.RawMessage
	}
	replayed bool
}

func call(t *testing.T, c *sdk.ClientSession, tool, task string, args map[string]any) said {
	t.Helper()
	s, err := try(t.Context(), c, tool, task, args)
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	return s
}

func try(ctx context.Context, c *sdk.ClientSession, tool, task string, args map[string]any) (said, error) {
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	if task != "" {
		params.Meta = sdk.Meta{"world/invocationId": task}
	}
	result, err := c.CallTool(ctx, params)
	if err != nil {
		return said{}, err
	}
	s := said{isError: result.IsError, text: result.Content[0].(*sdk.TextContent).Text}
	s.task, _ = result.Meta["world/invocationId"].(string)
	s.entry, _ = result.Meta["world/logIndex"].(float64)
	s.replayed, _ = result.Meta["world/replayed"].(bool)
	raw, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &s.output)
	}
	return s, err
}

// effect reads the record of an answer's one effect from the store.
func (h *house) effect(s said) record.EffectRecord {
	h.t.Helper()
	if len(s.output.World.Effects) != 1 {
		h.t.Fatalf("not one effect: %+v", s)
	}
	object, err := h.Store.Object(h.t.Context(), store.Ref(s.output.World.Effects[0].Record))
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := record.DecodeEffect(object.Bytes())
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func TestAnAllowedCallAnswersItsOutputAndItsRecord(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	token := h.writer(9)
	for i, revision := range revisions {
		s := call(t, h.connect(token, revision), "act", "", map[string]any{"do": "<é> 😀"})
		if s.isError || string(s.output.Done) != `{"do":"\u003cé\u003e 😀"}` || s.output.World.Plan == "" {
			t.Errorf("%s: %+v", revision, s)
		}
		var text struct{ World struct{ Plan string } }
		if json.Unmarshal([]byte(s.text), &text) != nil || text.World.Plan != s.output.World.Plan {
			t.Errorf("%s: the text is not the output: %s", revision, s.text)
		}
		if r := h.effect(s); !r.Allowed || r.BudgetBefore != int64(9-i) || r.BudgetAfter != int64(8-i) {
			t.Errorf("%s: record %+v", revision, r)
		}
		entry, err := h.Store.EntryOf(t.Context(), store.NewInvocationID(store.SurfaceMCP, "ep", s.task))
		if err != nil || float64(entry.Index) != s.entry || entry.WrittenBy != "coordinator:mcp" {
			t.Errorf("%s: the answer's id leads to %+v, %v", revision, entry, err)
		}
	}
}

// TestNotOK walks the ways in which a recorded call does not succeed: each is an
// error with a text that an agent can act on, and evidence in the world block.
func TestNotOK(t *testing.T) {
	hand := &coordtest.Hand{Answer: func(job broker.Job) broker.Result {
		switch {
		case strings.Contains(string(job.Payload), "fail"):
			return coordtest.Fail("the disk is full")
		case strings.Contains(string(job.Payload), "lose"):
			return coordtest.Lose("the tool died")
		}
		return coordtest.Succeed(`{}`)
	}}
	h := open(t, hand, nil)
	c := h.connect(h.writer(3), revisions[0])
	for _, step := range []struct {
		name, tool    string
		args          map[string]any
		status, label string
		says          []string
	}{
		{"scope", "far", map[string]any{"scope": "elsewhere"}, "denied", "denied:scope", []string{"denied:scope", "Workspace.Write=elsewhere", "would help"}},
		{"effect name", "far", map[string]any{"effect": "Net.Send"}, "denied", "denied:effect-name", []string{"denied:effect-name", "Net.Send", "would help"}},
		{"failed", "act", map[string]any{"do": "fail"}, "failed", "", []string{"the disk is full", "stays spent"}},
		{"indeterminate", "act", map[string]any{"do": "lose"}, "indeterminate", "", []string{"not known", "effect:ep:1", "Do not repeat it blindly", "reconcile"}},
		{"ok, the control", "act", nil, "ok", "", nil},
		{"budget", "act", nil, "denied", "denied:budget", []string{"denied:budget", "0 left", "would help"}},
	} {
		s := call(t, c, step.tool, "", step.args)
		if len(s.output.World.Effects) != 1 || s.isError != (step.status != "ok") || s.entry == 0 {
			t.Errorf("%s: %+v", step.name, s)
			continue
		}
		e := s.output.World.Effects[0]
		if e.Status != step.status || e.Denial != step.label || (e.Record == "") != (step.status == "indeterminate") {
			t.Errorf("%s: effect %+v", step.name, e)
		}
		for _, text := range step.says {
			if !strings.Contains(s.text, text) {
				t.Errorf("%s: the text does not say %q: %s", step.name, text, s.text)
			}
		}
		if e.Record != "" && h.effect(s).Denial != step.label {
			t.Errorf("%s: the record says %+v", step.name, h.effect(s))
		}
	}
}

// TestReport_hostinger68 retries after a lost answer: with the same id nothing
// runs twice, with another use of it nothing runs at all, and without an id a
// retry is a second call, as the documentation says.
// Report 11 of reference/reports.md: a retry after a lost reply writes twice.
func TestReport_hostinger68(t *testing.T) {
	for _, revision := range revisions {
		hand := &coordtest.Hand{}
		h := open(t, hand, nil)
		c := h.connect(h.writer(9), revision)
		first := call(t, c, "act", "id-1", map[string]any{"do": "once", "n": 1})
		recorded := h.state("ep")
		again := call(t, c, "act", "id-1", map[string]any{"n": 1.0, "do": "once"})
		if first.isError || first.replayed || !again.replayed || again.text != first.text || again.task != "id-1" || again.entry != first.entry {
			t.Errorf("%s: first %+v\nagain %+v", revision, first, again)
		}
		for name, other := range map[string]said{
			"other arguments": call(t, c, "act", "id-1", map[string]any{"do": "twice"}),
			"another tool":    call(t, c, "echo", "id-1", map[string]any{"do": "once", "n": 1}),
		} {
			if !other.isError || other.output.Error.Kind != fault.Conflict.String() || !strings.Contains(other.text, "mcp:ep:id-1") {
				t.Errorf("%s, %s: %+v", revision, name, other)
			}
		}
		if after := h.state("ep"); after != recorded || len(hand.Jobs()) != 1 {
			t.Errorf("%s: the retries left a trace: %s, then %s, %d jobs", revision, recorded, after, len(hand.Jobs()))
		}
		one, two := call(t, c, "act", "", nil), call(t, c, "act", "", nil)
		if one.task == two.task || one.entry == two.entry || len(hand.Jobs()) != 3 {
			t.Errorf("%s: two calls without an id: %+v and %+v", revision, one, two)
		}
		if found := call(t, c, "act", one.task, nil); !found.replayed || found.entry != one.entry {
			t.Errorf("%s: the drawn id does not find the call: %+v", revision, found)
		}
	}
}

func TestAnIDOfTheWrongShapeRunsNothing(t *testing.T) {
	hand := &coordtest.Hand{}
	h := open(t, hand, nil)
	token := h.writer(9)
	before := h.state("ep")
	for _, id := range []string{`""`, `"a b"`, `"a:b"`, `"a\u0000"`, `7`, `null`, `["x"]`, `"` + strings.Repeat("x", 129) + `"`} {
		_, answer := h.rpc(token, revisions[1], "tools/call", `"name":"act","arguments":{},"_meta":{"world/invocationId":`+id+`}`)
		if !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, `world/invocationId in _meta is a string`) {
			t.Errorf("%s: %s", id, answer)
		}
	}
	if after := h.state("ep"); after != before || len(hand.Jobs()) != 0 {
		t.Errorf("%s, then %s, %d jobs", before, after, len(hand.Jobs()))
	}
	longest := strings.Repeat("x", 128)
	if s := call(t, h.connect(token, revisions[1]), "act", longest, nil); s.isError || s.task != longest {
		t.Errorf("control: %+v", s)
	}
}

func TestArgumentsThatAreNoObjectRunNothing(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	token := h.writer(9)
	before := h.state("ep")
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for _, args := range []string{`[]`, `"x"`, `7`, `true`, deep, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`} {
		_, answer := h.rpc(token, revisions[0], "tools/call", `"name":"act","arguments":`+args)
		if !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, `arguments`) {
			t.Errorf("%.40s: %.300s", args, answer)
		}
	}
	if after := h.state("ep"); after != before {
		t.Errorf("%s, then %s", before, after)
	}
	for _, none := range []string{``, `,"arguments":null`, `,"arguments":{}`} {
		if _, answer := h.rpc(token, revisions[0], "tools/call", `"name":"echo"`+none); !strings.Contains(answer, `"echo":{}`) {
			t.Errorf("no arguments as %q: %s", none, answer)
		}
	}
	if _, answer := h.rpc(token, revisions[0], "tools/call", `"name":"echo","arguments":{"smile":"\ud83d\ude00"}`); !strings.Contains(answer, `"smile":"😀"`) {
		t.Errorf("a character escaped as a pair: %s", answer)
	}
}
