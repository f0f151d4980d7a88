package coordtest

import (
	"encoding/json"
	"fmt"

	"world/broker/law"
	"world/coordinator/registry"
	"world/store"
	"world/store/record"
)

// The effects and the scope of the fixtures.
const (
	Write  law.Effect = "Workspace.Write"
	Read   law.Effect = "Workspace.Read"
	Scope  law.Scope  = "worktree"
	Beyond law.Scope  = "elsewhere"
)

// act does what its arguments say: it answers args.raw, or the plan in args.plan,
// or plans args.do on the way; its finish phase answers args.finish, or breaks.
const act = `
def main(text):
    call = json.decode(text)
    args = call["args"]
    if "spin" in args:
        for _ in range(1 << 60):
            pass
    if call["phase"] == "finish":
        if "broken" in args:
            fail("finish was told to break")
        return json.encode(args.get("finish") or {"results": call["results"]})
    if "raw" in args:
        return args["raw"]
    if "plan" in args:
        return json.encode(args["plan"])
    effect = args.get("effect") or "Workspace.Write"
    return json.encode({
        "plan": "world/effect-plan/v1", "result": None,
        "finish": "finish" in args or "broken" in args or "after" in args,
        "effects": [{"id": "e1", "effect": effect, "scope": args.get("scope") or "worktree",
                     "cost": int(args.get("cost") or 1), "payload": {"do": args.get("do")}}],
    })
`

// echo is pure: its output is its arguments.
const echo = `
def main(text):
    args = json.decode(text)
    if "broken" in args:
        fail("told to break")
    return args["raw"] if "raw" in args else json.encode({"echo": args})
`

// Names of the fixture transitions.
const (
	Act      store.TransitionID = "act"      // seen by Workspace.Write; declares what follows
	Peek     store.TransitionID = "peek"     // seen by Workspace.Read; plans a read
	Far      store.TransitionID = "far"      // seen by Workspace.Write; plans what its access does not cover
	Orphan   store.TransitionID = "orphan"   // declares an effect that no handler serves
	Echo     store.TransitionID = "echo"     // pure
	Mainless store.TransitionID = "mainless" // follows no calling convention
)

// Builtins returns the fixture transitions.
func Builtins() []registry.Builtin {
	make := func(id store.TransitionID, source string, access law.Effect, declared ...record.Triple) registry.Builtin {
		schema := json.RawMessage(`{"type":"object"}`)
		return registry.Builtin{
			ID: id, Title: string(id), Description: fmt.Sprintf("fixture %s", id), Source: []byte(source),
			InputSchema: schema, OutputSchema: schema,
			Access: record.Triple{Effect: access, Scope: Scope}, Declared: declared,
		}
	}
	one := func(effect law.Effect, scope law.Scope, cost int64) record.Triple {
		return record.Triple{Effect: effect, Scope: scope, Cost: cost}
	}
	return []registry.Builtin{
		make(Act, act, Write, one(Write, Scope, 1), one(Write, Scope, 3), one(Read, Scope, 1)),
		make(Far, act+"\n# far\n", Write, one(Write, Beyond, 1), one("Net.Send", Scope, 1)),
		make(Orphan, act+"\n# orphan\n", Write, one("Nobody.Does", Scope, 1)),
		make(Peek, act+"\n# peek\n", Read, one(Read, Scope, 1)),
		make(Echo, echo, Write),
		make(Mainless, "x = 1\n", Write),
	}
}
