package tools

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"world/broker/law"
	"world/coordinator/registry"
	"world/store/record"
	"world/tools/policy"
	"world/tools/policytool"
)

// Limits of what a transition plans. A payload within them is within the plan laws'
// 1 MiB (L4), whatever its characters, so that a limit which is stated holds.
const (
	maxPath = 4096      // bytes
	maxText = 1_000_000 // bytes of JSON text without quotes, all texts of a payload together
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
	path := text(fmt.Sprintf("File, relative to the root of the worktree, such as \"src/main.py\"; at most %d bytes.", maxPath))
	names, files := policy.Protected()
	protected := fmt.Sprintf("Read-only, at any depth and in any case: %s and all below them, and files named %s. ",
		strings.Join(names, ", "), strings.Join(files, ", "))
	return []registry.Builtin{
		{
			ID: "ailang-edit", Title: "Edit (sandboxed)", Source: source(editSource),
			Description: "Replace one piece of text in a text file of the worktree. old_text must occur exactly once: " +
				"copy it from the file as it is, white space included, with enough of its surroundings to be unique. " +
				"An empty new_text deletes it. " + sized("old_text and new_text together", maxText) + requestSize + protected +
				"Answers {\"ok\":true}, or {\"ok\":false,\"refused\":why} with the file unchanged.",
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
			Description: "Read a text file of the worktree, whole, in UTF-8. " + sized("The file", policytool.MaxContent) +
				"A .git cannot be read. Answers {\"ok\":true,\"content\":text}, or {\"ok\":false,\"refused\":why}.",
			InputSchema:  schema(map[string]any{"path": path}, "path"),
			OutputSchema: json.RawMessage(outputSchema),
			Access:       triple(WorkspaceRead, 0), Declared: []record.Triple{triple(WorkspaceRead, 1)},
		},
		{
			ID: "ailang-write", Title: "Write (sandboxed)", Source: source(writeSource),
			Description: "Create a text file in the worktree or replace its whole content. The folder must exist. " +
				"Prefer ailang-edit to change part of a file. " + sized("The content", maxText) + requestSize + protected +
				"Answers {\"ok\":true}, or {\"ok\":false,\"refused\":why} with the file unchanged.",
			InputSchema: schema(map[string]any{
				"path": path, "content": text("The whole new content."),
			}, "path", "content"),
			OutputSchema: json.RawMessage(outputSchema),
			Access:       triple(WorkspaceWrite, 0), Declared: []record.Triple{triple(WorkspaceWrite, 1)},
		},
	}
}

// source is a whole transition: its limits, what all share, and its own part.
func source(own string) []byte {
	return fmt.Appendf(nil, "MAX_PATH = %d\nMAX_TEXT = %d\n\n%s%s", maxPath, maxText, prelude, own)
}

// requestSize is what the surfaces bound before anything is decoded.
const requestSize = "A whole request: at most 4 MiB. "

// sized states a limit as it is counted.
func sized(what string, limit int) string {
	return fmt.Sprintf("%s: at most %d bytes as JSON text, where a quote, backslash, tab or line break counts 2 "+
		"and any other control character up to 6. ", what, limit)
}

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
