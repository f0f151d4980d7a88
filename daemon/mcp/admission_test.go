package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"world/broker/law"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/store"
	"world/store/record"
)

// names lists a session's tools by the SDK's client.
func names(t *testing.T, c *sdk.ClientSession) []string {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestASessionListsExactlyWhatItsGrantsAllow(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	both := h.mint(3600, "both", coordtest.Grant(coordtest.Write, coordtest.Scope, 1), coordtest.Grant(coordtest.Read, coordtest.Scope, 1))
	for _, revision := range revisions {
		for token, want := range map[string][]string{
			both: {"act", "echo", "far", "mainless", "orphan", "peek"},
			h.mint(3600, "reads", coordtest.Grant(coordtest.Read, coordtest.Scope, 0)):    {"peek"},
			h.mint(3600, "other", coordtest.Grant(coordtest.Write, coordtest.Beyond, 99)): {},
		} {
			if got := names(t, h.connect(token, revision)); !slices.Equal(got, want) {
				t.Errorf("%s: listed %v, want %v", revision, got, want)
			}
		}
	}
}

// pure is a transition without effects, seen by one access triple.
func pure(id store.TransitionID, effect law.Effect, scope law.Scope, cost int64) registry.Builtin {
	schema := json.RawMessage(`{"type":"object"}`)
	return registry.Builtin{
		ID: id, Title: string(id), Description: "fixture", InputSchema: schema, OutputSchema: schema,
		Source: []byte("def main(text):\n    return \"{}\"\n# " + string(id) + "\n"),
		Access: record.Triple{Effect: effect, Scope: scope, Cost: cost},
	}
}

func TestToolsStandInByteOrderOfTheirIDs(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	ids := []store.TransitionID{"a.b", "a/b", "a0", "aa", "a_b", "a-b"}
	var builtins []registry.Builtin
	for _, id := range ids {
		builtins = append(builtins, pure(id, coordtest.Write, coordtest.Scope, 0))
	}
	slices.SortFunc(builtins, func(a, b registry.Builtin) int { return strings.Compare(string(a.ID), string(b.ID)) })
	h.publish(builtins...)
	// Escaped names sort otherwise: a0 before a_db.
	want := []string{"a-b", "a_db", "a_sb", "a0", "a_ub", "aa"}
	if got := names(t, h.connect(h.writer(1), revisions[0])); !slices.Equal(got, want) {
		t.Fatalf("listed %v, want %v", got, want)
	}
}

// TestReport_mcptoolbox2755 holds, for random grants and every registered
// transition: it is listed exactly when a call to it is admitted, by the SDK's
// client and by raw requests of either revision, and exactly when the law allows
// its access triple on the minted grants.
// Report 1 of reference/reports.md: the list is scoped, but a call finds any tool by its name.
func TestReport_mcptoolbox2755(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	effects, scopes := []law.Effect{"E1", "E2"}, []law.Scope{"s1", "s2"}
	var builtins []registry.Builtin
	for _, effect := range effects {
		for _, scope := range scopes {
			for cost := range int64(3) {
				id := store.TransitionID(strings.ToLower(fmt.Sprintf("%s.%s/%d", effect, scope, cost)))
				builtins = append(builtins, pure(id, effect, scope, cost))
			}
		}
	}
	h.publish(builtins...)
	grant := gopter.CombineGens(gen.OneConstOf(effects[0], effects[1], law.Effect("E3")), gen.OneConstOf(scopes[0], scopes[1]), gen.Int64Range(0, 2)).
		Map(func(v []any) record.SessionGrant {
			return coordtest.Grant(v[0].(law.Effect), v[1].(law.Scope), v[2].(int64))
		})
	sessions, seen, hidden := 0, 0, 0
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 40
	properties := gopter.NewProperties(parameters)
	properties.Property("listed exactly when callable", prop.ForAll(func(drawn []record.SessionGrant) string {
		grants := []record.SessionGrant{coordtest.Grant("None", "none", 0)}
		for _, g := range drawn {
			if !slices.ContainsFunc(grants, func(o record.SessionGrant) bool { return o.Effect == g.Effect && o.Scope == g.Scope }) {
				grants = append(grants, g)
			}
		}
		sessions++
		token := h.mint(3600, store.EpisodeID(fmt.Sprintf("ep-%d", sessions)), grants...)
		revision := revisions[sessions%2]
		client := h.connect(token, revision)
		listed := names(t, client)
		for _, b := range builtins {
			name := strings.NewReplacer("_", "_u", ".", "_d", "/", "_s").Replace(string(b.ID))
			lawful := slices.ContainsFunc(grants, func(g record.SessionGrant) bool {
				return g.Effect == b.Access.Effect && g.Scope == b.Access.Scope && b.Access.Cost <= g.Budget
			})
			_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: name})
			_, answer := h.rpc(token, revisions[(sessions+1)%2], "tools/call", `"name":"`+name+`"`)
			raw := !strings.Contains(answer, `"error":{"code":`)
			if is := slices.Contains(listed, name); is != lawful || (err == nil) != lawful || raw != lawful {
				return fmt.Sprintf("%s under %v: lawful %v, listed %v, called %v, raw %s", name, grants, lawful, is, err, answer)
			}
			if lawful {
				seen++
			} else {
				hidden++
			}
		}
		return ""
	}, gen.SliceOfN(3, grant)))
	properties.TestingRun(t)
	if seen < 50 || hidden < 50 {
		t.Errorf("%d tools seen and %d hidden: too few to mean anything", seen, hidden)
	}
}

// TestReport_mcpg3332 lifts a token and calls a tool that its list does not show:
// a typed refusal, no plan, nothing recorded, nothing spent, and the answer is
// that for a tool which does not exist, byte for byte but for the name.
// Report 2 of reference/reports.md: an agent calls a hidden tool with the token and no client.
func TestReport_mcpg3332(t *testing.T) {
	hand := &coordtest.Hand{}
	h := open(t, hand, nil)
	token := h.mint(3600, "reads", coordtest.Grant(coordtest.Read, coordtest.Scope, 5))
	before := h.state("reads")
	for _, revision := range revisions {
		answers := map[string]string{}
		for _, name := range []string{"echo", "nope", "orphan", "absent", "act"} {
			for _, args := range []string{"", `,"arguments":{}`, `,"arguments":{"do":1}`, `,"arguments":7`,
				`,"arguments":{},"_meta":{"world/invocationId":"x"}`} {
				if revision == revisions[0] && strings.Contains(args, "_meta") {
					continue // its _meta is there already
				}
				status, answer := h.rpc(token, revision, "tools/call", `"name":"`+name+`"`+args)
				key := fmt.Sprint(status, strings.ReplaceAll(answer, name, "NAME"))
				answers[key] = name + args
			}
		}
		if len(answers) != 1 {
			t.Errorf("%s: %d different answers: %v", revision, len(answers), answers)
		}
		for answer := range answers {
			if !strings.Contains(answer, `"code":-32602`) || !strings.Contains(answer, `unknown tool \"NAME\"`) {
				t.Errorf("%s: the refusal is %s", revision, answer)
			}
		}
	}
	if after := h.state("reads"); after != before {
		t.Errorf("refused calls left a trace:\n%s\n%s", before, after)
	}
	if jobs := hand.Jobs(); len(jobs) != 0 {
		t.Errorf("refused calls reached the handler: %v", jobs)
	}
	if status, answer := h.rpc(token, revisions[0], "tools/call", `"name":"peek","arguments":{"effect":"Workspace.Read"}`); status != 200 || h.state("reads") == before {
		t.Errorf("control: a listed tool answers %d %s and leaves no trace", status, answer)
	}
}

// TestATransitionThatCannotBeAToolIsNeitherListedNorCalled holds both sides of
// what the protocol cannot carry.
func TestATransitionThatCannotBeAToolIsNeitherListedNorCalled(t *testing.T) {
	h := open(t, &coordtest.Hand{}, nil)
	long := pure(store.TransitionID(strings.Repeat("a", 32)+"."+strings.Repeat("b", 32)), coordtest.Write, coordtest.Scope, 0)
	header := pure("header", coordtest.Write, coordtest.Scope, 0)
	header.InputSchema = json.RawMessage(`{"properties":{"p":{"type":"string","x-mcp-header":"P"}},"type":"object"}`)
	array := pure("zarray", coordtest.Write, coordtest.Scope, 0)
	array.InputSchema = json.RawMessage(`{"type":"array"}`)
	h.publish(long, header, pure("plain", coordtest.Write, coordtest.Scope, 0), array)
	token := h.writer(1)
	if got := names(t, h.connect(token, revisions[1])); !slices.Equal(got, []string{"plain"}) {
		t.Errorf("listed %v, want plain alone", got)
	}
	for _, name := range []string{"header", "zarray", strings.Repeat("a", 32) + "_d" + strings.Repeat("b", 32)} {
		if _, answer := h.rpc(token, revisions[1], "tools/call", `"name":"`+name+`"`); !strings.Contains(answer, "unknown tool") {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if !strings.Contains(h.log.String(), "cannot be a tool") {
		t.Error("the log does not say that transitions were left out")
	}
}
