package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"world/broker/law"
	"world/canon"
	"world/coordinator/plan"
	"world/fault"
)

var declared = []law.Triple{{Effect: "Workspace.Write", Scope: "worktree", Cost: 1}, {Effect: "Net.Send", Scope: "a\"b", Cost: 0}}

// text builds a plan from its members; "" leaves a member as it lawfully is.
func text(effects, finish, result string) string {
	or := func(s, standard string) string {
		if s == "" {
			return standard
		}
		return s
	}
	return fmt.Sprintf(`{"plan":"world/effect-plan/v1","effects":%s,"finish":%s,"result":%s}`,
		or(effects, "["+effect("", "", "", "", "")+"]"), or(finish, "false"), or(result, "null"))
}

func effect(id, name, scope, cost, payload string) string {
	or := func(s, standard string) string {
		if s == "" {
			return standard
		}
		return s
	}
	return fmt.Sprintf(`{"id":%s,"effect":%s,"scope":%s,"cost":%s,"payload":%s}`,
		or(id, `"e1"`), or(name, `"Workspace.Write"`), or(scope, `"worktree"`), or(cost, "1"), or(payload, "{}"))
}

func one(id, name, scope, cost, payload string) string {
	return text("["+effect(id, name, scope, cost, payload)+"]", "", "")
}

// padded is a payload whose canonical form has n bytes.
func padded(n int) string { return `{"p":"` + strings.Repeat("x", n-len(`{"p":""}`)) + `"}` }

func TestLawfulPlans(t *testing.T) {
	for name, raw := range map[string]string{
		"one effect":        text("", "", ""),
		"with finish":       text("", "true", ""),
		"no effect":         text("[]", "", "{}"),
		"a result":          text("[]", "", `{"refused":"no","effects":[1]}`),
		"zero cost":         one("", `"Net.Send"`, `"a\"b"`, "0", ""),
		"a cost in decimal": one("", "", "", "1.0", ""),
		"longest id":        one(`"abcdefghij012345"`, "", "", "", ""),
		"largest payload":   one("", "", "", "", padded(plan.MaxPayload)),
		"world inside":      one("", "", "", "", `{"world":1}`),
		"white space":       " " + text("", "", "") + "\n",
		"largest answer":    text("", "", "") + strings.Repeat(" ", plan.MaxAnswer-len(text("", "", ""))),
	} {
		if _, err := plan.Parse([]byte(raw), declared); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParsedPlan(t *testing.T) {
	raw := text(`[{"payload":{"b":1,"a":[]},"cost":1,"scope":"worktree","id":"x9","effect":"Workspace.Write"}]`, "true", "")
	p, err := plan.Parse([]byte(raw), declared)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Finish || len(p.Effects) != 1 || p.Effects[0].ID != "x9" || p.Effects[0].Triple != declared[0] || string(p.Effects[0].Payload) != `{"a":[],"b":1}` {
		t.Errorf("plan %+v", p)
	}
	if want := `{"effects":[{"cost":1,"effect":"Workspace.Write","id":"x9","payload":{"a":[],"b":1},"scope":"worktree"}],"finish":true,"plan":"world/effect-plan/v1","result":null}`; string(p.Bytes) != want {
		t.Errorf("canonical %s", p.Bytes)
	}
	if p.Result.Kind() != canon.Null {
		t.Errorf("result %s", p.Result.Bytes())
	}
	p, err = plan.Parse([]byte(text("[]", "", `{"refused":"no"}`)), declared)
	if err != nil || p.Finish || len(p.Effects) != 0 || string(p.Result.Bytes()) != `{"refused":"no"}` {
		t.Errorf("plan %+v, %v", p, err)
	}
}

func TestUnlawfulPlans(t *testing.T) {
	for raw, want := range map[string]string{
		``:                                    "shape: not well-formed JSON: invalid: a JSON value is missing at byte 0",
		`{}{}`:                                "shape: not well-formed JSON: invalid: data after the JSON value at byte 2",
		`{"a":1,"a":2}`:                       `shape: not well-formed JSON: invalid: duplicate member "a" in the object ending at byte 13`,
		"\"\xff\"":                            "shape: not well-formed JSON: invalid: not valid UTF-8",
		strings.Repeat("[", 65):               "shape: not well-formed JSON: limit: nested too deep at byte 64",
		strings.Repeat(" ", plan.MaxAnswer+1): "shape: not well-formed JSON: limit: 4194305 bytes; the limit is 4194304",
		`[]`:                                  "shape: plan is not a JSON object",
		`null`:                                "shape: plan is not a JSON object",
		`{}`:                                  "shape: plan keys: missing [effects finish plan result], unknown []",
		`{"effects":[],"finish":false,"x":1}`: `shape: plan keys: missing [plan result], unknown ["x"]`,
		`{"plan":1,"j":1,"i":1,"h":1,"g":1,"f":1,"e":1,"d":1,"c":1,"b":1,"a":1}`: `shape: plan keys: missing [effects finish result], unknown ["a" "b" "c" "d" "e" "f" "g" "h"]`,
		`{"x":1,` + text("", "", "")[1:]:                                         `shape: plan keys: missing [], unknown ["x"]`,
		text(`[{"cost":1,"scope":"s"}]`, "", ""):                                 "shape: effects[0] keys: missing [effect id payload], unknown []",
		text("", "", "")[:1] + `"world":{},"plan":1}`:                            `L6: the plan carries the reserved key "world"`,
		strings.Replace(text("", "", ""), "/v1", "/v2", 1):                       `shape: plan discriminator is not "world/effect-plan/v1"`,
		text("", `"true"`, ""):                                                   "shape: finish is not a boolean",
		text("", "0", ""):                                                        "shape: finish is not a boolean",
		text("{}", "", ""):                                                       "shape: effects is not a JSON array",
		text("[1]", "", ""):                                                      "shape: effects[0] is not a JSON object",
		text(`[{"id":"a"}]`, "", ""):                                             "shape: effects[0] keys: missing [cost effect payload scope], unknown []",
		one("1", "", "", "", ""):                                                 "shape: effects[0] id, effect and scope are not all strings",
		one("", "1", "", "", ""):                                                 "shape: effects[0] id, effect and scope are not all strings",
		one("", "", "null", "", ""):                                              "shape: effects[0] id, effect and scope are not all strings",
		one("", "", "", "1.5", ""):                                               "shape: effects[0] cost is not a 64-bit integer",
		one("", "", "", `"1"`, ""):                                               "shape: effects[0] cost is not a 64-bit integer",
		one("", "", "", "9223372036854775808", ""):                               "shape: effects[0] cost is not a 64-bit integer",

		text("["+effect("", "", "", "", "")+","+effect(`"e2"`, "", "", "", "")+"]", "", ""): "L1: 2 effects; a v1 plan carries at most 1",
		one(`""`, "", "", "", ""):                             `L2: effects[0] id "" does not match [a-z0-9]{1,16}`,
		one(`"abcdefghij0123456"`, "", "", "", ""):            `L2: effects[0] id "abcdefghij0123456" does not match [a-z0-9]{1,16}`,
		one(`"E1"`, "", "", "", ""):                           `L2: effects[0] id "E1" does not match [a-z0-9]{1,16}`,
		one(`"e-1"`, "", "", "", ""):                          `L2: effects[0] id "e-1" does not match [a-z0-9]{1,16}`,
		one(`"é"`, "", "", "", ""):                            `L2: effects[0] id "\u00e9" does not match [a-z0-9]{1,16}`,
		one(`"`+strings.Repeat("z", 999)+`"`, "", "", "", ""): `L2: effects[0] id "` + strings.Repeat("z", 61) + `\u2026" does not match [a-z0-9]{1,16}`,

		one("", "", "", "2", ""):           "L3: effects[0] (Workspace.Write, worktree, 2) is not a declared effect",
		one("", "", "", "12", ""):          "L3: effects[0] (Workspace.Write, worktree, 12) is not a declared effect",
		one("", "", "", "-1", ""):          "L3: effects[0] (Workspace.Write, worktree, -1) is not a declared effect",
		one("", "", `"worktree "`, "", ""): "L3: effects[0] (Workspace.Write, worktree , 1) is not a declared effect",
		one("", `"Net.Send"`, "", "", ""):  "L3: effects[0] (Net.Send, worktree, 1) is not a declared effect",
		one("", `"`+strings.Repeat("n", 65)+`"`, `"`+strings.Repeat("s", 65)+`"`, "-1", ""): "L3: effects[0] (" + strings.Repeat("n", 61) + "…, " + strings.Repeat("s", 61) + "…, -1) is not a declared effect",
		one("", "", "", "", "[]"):                       "L4: effects[0] payload is not a JSON object",
		one("", "", "", "9", `"x"`):                     "L4: effects[0] payload is not a JSON object",
		one("", "", "", "9", padded(plan.MaxPayload+1)): "L3: effects[0] (Workspace.Write, worktree, 9) is not a declared effect",
		one("", "", "", "", padded(plan.MaxPayload+1)):  "L4: effects[0] payload is 1048577 canonical bytes; limit is 1048576",

		text("[]", "", ""):               "L7: a plan with zero effects must carry a result object",
		text("", "", "{}"):               "L7: a plan with effects must carry a null result",
		text("[]", "true", "{}"):         "L7: finish requested by a plan with zero effects",
		text("[]", "", "[]"):             "L7: result is neither null nor a JSON object",
		text("", "", "3"):                "L7: result is neither null nor a JSON object",
		text("[]", "", `{"world":null}`): `L6: the result carries the reserved key "world"`,
	} {
		_, err := plan.Parse([]byte(raw), declared)
		if !fault.Is(err, fault.PlanLaw) || err.Error() != "coordinator: plan: plan law: effect plan violates "+want {
			t.Errorf("%.80s: %.200s, want %s", raw, fmt.Sprint(err), want)
		}
	}
}

// TestNothingDeclared checks that a transition that declares nothing plans nothing.
func TestNothingDeclared(t *testing.T) {
	if _, err := plan.Parse([]byte(text("", "", "")), nil); !strings.Contains(fmt.Sprint(err), "L3") {
		t.Errorf("an effect without declarations: %v", err)
	}
	if _, err := plan.Parse([]byte(text("[]", "", "{}")), nil); err != nil {
		t.Errorf("no effect without declarations: %v", err)
	}
}

// FuzzParse holds the parser to its promises for any bytes: a typed error of
// bounded length, or a plan that its own canonical form parses to again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{text("", "", ""), text("[]", "", "{}"), one("", "", "", "-1", `{"a":{"b":[1e3]}}`), text("", "true", ""), `{"world":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := plan.Parse(raw, declared)
		if err != nil {
			if !fault.Is(err, fault.PlanLaw) || len(fault.Detail(err)) > 8192 {
				t.Errorf("error %v", err)
			}
			return
		}
		again, err := plan.Parse(p.Bytes, declared)
		if err != nil || string(again.Bytes) != string(p.Bytes) || again.Finish != p.Finish || len(again.Effects) != len(p.Effects) {
			t.Errorf("%s parses to %s, then %s, %v", raw, p.Bytes, again.Bytes, err)
		}
		for _, e := range p.Effects {
			if !plan.LawfulID(e.ID) || !plan.Declared(declared, e.Triple) || len(e.Payload) > plan.MaxPayload || e.Payload[0] != '{' {
				t.Errorf("an unlawful effect passed: %+v", e)
			}
		}
	})
}
