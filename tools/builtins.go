package tools

import (
	"embed"
	"encoding/json"
	"fmt"

	"world/broker/law"
	"world/coordinator/registry"
	"world/store"
	"world/store/record"
)

// Limits of what a transition plans. A payload within them is within the plan laws'
// 1 MiB (L4), whatever its characters, so that a limit which is stated holds.
const (
	maxPath = 4096      // bytes
	maxText = 1_000_000 // bytes of JSON text without quotes, all texts of a payload together
)

// Sources of the transitions, by id. Starlark loads nothing, so what they share is
// put before each.
//
//go:embed transitions
var sources embed.FS

// Effects of the coding tools. All of them act on the scope Worktree.
const (
	WorkspaceRead  law.Effect = "Workspace.Read"
	WorkspaceWrite law.Effect = "Workspace.Write"
	AilangCheck    law.Effect = "Ailang.Check"
	AilangRun      law.Effect = "Ailang.Run"
	AilangRunEnv   law.Effect = "Ailang.RunEnv"
	AilangRunNet   law.Effect = "Ailang.RunNet"
	AilangDiscover law.Effect = "Ailang.Discover"
	AilangCLI      law.Effect = "Ailang.CLI"

	Worktree law.Scope = "worktree"
)

// Builtins returns the coding transitions in the order of their ids.
func Builtins() []registry.Builtin {
	described := descriptions()
	builtins := make([]registry.Builtin, len(described))
	for i, d := range described {
		declared := make([]record.Triple, 0, 1+len(d.also))
		for _, effect := range append([]law.Effect{d.effect}, d.also...) {
			declared = append(declared, record.Triple{Effect: effect, Scope: Worktree, Cost: 1})
		}
		builtins[i] = registry.Builtin{
			ID: d.id, Title: d.title, Source: source(d.id), Description: d.text,
			InputSchema: schema(d.arguments, d.required...), OutputSchema: outputSchema(d.id),
			Access: record.Triple{Effect: d.effect, Scope: Worktree}, Declared: declared,
		}
	}
	return builtins
}

// source is a whole transition: its limits, what all share, and its own part.
func source(id store.TransitionID) []byte {
	return fmt.Appendf(nil, "MAX_PATH = %d\nMAX_TEXT = %d\n\n%s%s", maxPath, maxText, text("prelude"), text(string(id)))
}

func text(name string) []byte {
	b, err := sources.ReadFile("transitions/" + name + ".star")
	if err != nil {
		panic("tools: no source of transition " + name)
	}
	return b
}

// schema returns the canonical schema of an arguments object that admits nothing else.
func schema(properties map[string]any, required ...string) json.RawMessage {
	return marshaled(map[string]any{
		"type": "object", "properties": properties, "required": append([]string{}, required...), "additionalProperties": false,
	})
}

func marshaled(schema map[string]any) json.RawMessage {
	b, err := json.Marshal(schema)
	if err != nil {
		panic("tools: a schema does not marshal: " + err.Error())
	}
	return b
}
