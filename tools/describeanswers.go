package tools

import (
	"encoding/json"
	"maps"

	"world/store"
	"world/tools/overlay"
)

// outputSchema is the schema of what a transition answers: the members that its
// description tells of, each with its type, and "world", which the coordinator adds.
// Other members are admitted, since a tool binary of another version may have some.
func outputSchema(id store.TransitionID) json.RawMessage {
	properties, ok := answers()[id]
	if !ok {
		panic("tools: the answer of transition " + string(id) + " is not described")
	}
	required := []string{"world"}
	if id != "ailang-run" { // a program that ended says so with its exit code, and a refusal with ok
		required = append(required, "ok")
	}
	properties = maps.Clone(properties)
	maps.Copy(properties, map[string]any{
		"ok": typed("boolean"), "refused": typed("string"), "status": typed("string"),
		"tool": typed("string"), "policy_digest": typed("string"), "world": typed("object"),
	})
	return marshaled(map[string]any{"type": "object", "properties": properties, "required": required})
}

// answers are the members of each transition's answer beside those that all have.
func answers() map[store.TransitionID]map[string]any {
	text, whole, flag := typed("string"), typed("integer"), typed("boolean")
	cut := map[string]any{"type": "string", "enum": []string{"limit", "size", "time", "depth", "past_end"}}
	changed := listOf(map[string]any{
		"path": text, "kind": map[string]any{"type": "string", "enum": []overlay.Kind{
			overlay.Created, overlay.Changed, overlay.Mode, overlay.Directory, overlay.Link, overlay.Deleted,
		}},
		"before": text, "after": text, "target_before": text, "target": text,
	}, "path", "kind")
	command := map[string]any{"argv": list("The operation as a command."), "exit_code": whole, "stdout": text, "stderr": text}
	return map[store.TransitionID]map[string]any{
		"ailang-check": {
			"passed": flag, "error_count": whole,
			"errors": listOf(map[string]any{"code": text, "message": text, "file": text, "line": whole, "column": whole}, "message"),
		},
		"ailang-cli":  command,
		"ailang-edit": {"line": whole, "diff": text, "changes": changed},
		"ailang-read": {"content": text, "lines": whole, "bytes": whole, "cut": flag, "why": cut, "next": whole},
		"ailang-run": {
			"admitted": flag, "exit_code": orNull(whole), "stdout": text, "stderr": text, "decision": orNull(typed("object")),
			"limit": orNull(objectOf(map[string]any{"reason": text, "stage": text, "message": text}, "reason", "stage")), "kept": flag, "changes": changed,
			"omitted": whole, "left_out_bytes": whole, "replaced_bytes": whole,
			"policy": typed("object"), "unenforced": list("What the policy bounds and the language gives no hold on."),
		},
		"ailang-write": {"created": flag, "changes": changed},
		"builtins-search": {
			"count": whole, "cut": flag,
			"matches": listOf(map[string]any{"name": text, "effect": text, "module": text}, "name", "effect", "module"),
		},
		"examples-search":  command,
		"workspace-list":   {"entries": listOf(map[string]any{"path": text, "type": text, "size": whole}, "path", "type", "size"), "cut": flag, "why": cut},
		"workspace-search": {"matches": listOf(map[string]any{"path": text, "line": whole, "text": text}, "path", "line", "text"), "files": whole, "skipped": whole, "cut": flag, "why": cut},
	}
}

// typed is the schema of any value of a type.
func typed(kind string) map[string]any { return map[string]any{"type": kind} }

// orNull admits null besides what a schema of one type admits.
func orNull(schema map[string]any) map[string]any {
	schema = maps.Clone(schema)
	schema["type"] = []any{schema["type"], "null"}
	return schema
}

// objectOf is the schema of an object of these members, some of which it always has.
func objectOf(members map[string]any, always ...string) map[string]any {
	return map[string]any{"type": "object", "properties": members, "required": always}
}

// listOf is the schema of a list of such objects.
func listOf(members map[string]any, always ...string) map[string]any {
	return map[string]any{"type": "array", "items": objectOf(members, always...)}
}
