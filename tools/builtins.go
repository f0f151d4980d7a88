package tools

import (
	_ "embed"
	"encoding/json"

	"world/broker/law"
	"world/coordinator/registry"
	"world/store/record"
)

// Sources of the transitions. Starlark loads nothing, so what they share is put
// before each.
var (
	//go:embed transitions/prelude.star
	prelude string
	//go:embed transitions/ailang-read.star
	readSource string
	//go:embed transitions/ailang-write.star
	writeSource string
	//go:embed transitions/ailang-edit.star
	editSource string
)

// Effects of the coding tools. All of them act on the scope Worktree.
const (
	WorkspaceRead  law.Effect = "Workspace.Read"
	WorkspaceWrite law.Effect = "Workspace.Write"

	Worktree law.Scope = "worktree"
)

// outputSchema admits any result object; the coordinator adds "world" to each.
const outputSchema = `{"properties":{"world":{"type":"object"}},"required":["world"],"type":"object"}`

// Builtins returns the coding transitions in the order of their ids.
func Builtins() []registry.Builtin {
	path := text("File, relative to the root of the worktree, such as \"src/main.py\".")
	return []registry.Builtin{
		{
			ID: "ailang-edit", Title: "Edit (sandboxed)", Source: source(editSource),
			Description: "Replace one piece of text in a text file of the worktree. old_text must occur exactly once: " +
				"copy it from the file as it is, white space included, with enough of its surroundings to be unique. " +
				"An empty new_text deletes it. Answers {\"ok\":true}, or {\"ok\":false,\"refused\":why} with the file unchanged.",
			InputSchema: schema(map[string]any{
				"path":     path,
				"old_text": text("The text to replace. It must occur exactly once in the file."),
				"new_text": text("The text to put in its place; empty to delete."),
			}, "path", "old_text", "new_text"),
			OutputSchema: json.RawMessage(outputSchema),
			Access:       triple(WorkspaceWrite, 0), Declared: []record.Triple{triple(WorkspaceWrite, 1)},
		},
		{
			ID: "ailang-read", Title: "Read (sandboxed)", Source: source(readSource),
			Description: "Read a text file of the worktree, whole, up to 8 MiB of UTF-8. " +
				"Answers {\"ok\":true,\"content\":text}, or {\"ok\":false,\"refused\":why}.",
			InputSchema:  schema(map[string]any{"path": path}, "path"),
			OutputSchema: json.RawMessage(outputSchema),
			Access:       triple(WorkspaceRead, 0), Declared: []record.Triple{triple(WorkspaceRead, 1)},
		},
		{
			ID: "ailang-write", Title: "Write (sandboxed)", Source: source(writeSource),
			Description: "Create a text file in the worktree or replace its whole content. The folder must exist. " +
				"Prefer ailang-edit to change part of a file. Files that steer git, agents or continuous integration " +
				"(.git, .github, .claude, .gitmodules and the like) are read-only. " +
				"Answers {\"ok\":true}, or {\"ok\":false,\"refused\":why} with the file unchanged.",
			InputSchema: schema(map[string]any{
				"path": path, "content": text("The whole new content, at most 1 MiB."),
			}, "path", "content"),
			OutputSchema: json.RawMessage(outputSchema),
			Access:       triple(WorkspaceWrite, 0), Declared: []record.Triple{triple(WorkspaceWrite, 1)},
		},
	}
}

func source(own string) []byte { return []byte(prelude + own) }

func triple(effect law.Effect, cost int64) record.Triple {
	return record.Triple{Effect: effect, Scope: Worktree, Cost: cost}
}

func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// schema returns the canonical schema of an arguments object that admits nothing else.
func schema(properties map[string]any, required ...string) json.RawMessage {
	b, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		panic("tools: a schema does not marshal: " + err.Error())
	}
	return b
}
