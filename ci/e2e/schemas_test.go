package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"world/ci/rig"
)

// lookers are the tools that change nothing, and say so to clients.
var lookers = []string{"ailang-check", "ailang-read", "builtins-search", "examples-search", "workspace-list", "workspace-search"}

// promises are the output schemas of tools as a client that was given them reads them.
type promises map[string]promise

type promise struct {
	schema *jsonschema.Resolved
	names  map[string]*jsonschema.Schema // members of a result
}

// promised reads what each listed tool promises to answer.
func promised(t *testing.T, ctx context.Context, agent *rig.Agent) promises {
	t.Helper()
	tools, err := agent.Listed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	all := promises{}
	for _, tool := range tools {
		raw, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil || len(schema.AnyOf) != 2 {
			t.Fatalf("%s: %v in %s", tool.Name, err, raw)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		all[tool.Name] = promise{resolved, schema.AnyOf[0].Properties}
		if looks := slices.Contains(lookers, tool.Name); tool.Annotations == nil || tool.Annotations.ReadOnlyHint != looks {
			t.Errorf("%s: %+v, read-only is %v", tool.Name, tool.Annotations, looks)
		}
	}
	return all
}

// hold holds an answer to what its tool promises: each member is named, and of its type.
func (p promises) hold(t *testing.T, tool string, output map[string]any) {
	t.Helper()
	if err := p[tool].schema.Validate(output); err != nil {
		t.Errorf("%s answers what its schema does not admit: %v: %.600v", tool, err, output)
	}
	for name := range output {
		if p[tool].names[name] == nil {
			t.Errorf("%s answers %q, of which its schema does not tell", tool, name)
		}
	}
}

// TestSchemasAdmitNothingElse: a schema that admits every answer would promise nothing.
func TestSchemasAdmitNothingElse(t *testing.T) {
	w, ctx := world(t), deadline(t)
	serve(t, ctx, w)
	all := promised(t, ctx, connect(t, ctx, w, session(t, ctx, w, "work", "1")))
	if len(all) != len(codingTools) {
		t.Fatalf("%d tools", len(all))
	}
	for tool, wrong := range map[string]string{
		"ailang-check": `"ok":true,"passed":"yes"`, "ailang-cli": `"ok":true,"exit_code":"0"`, "ailang-edit": `"ok":true,"line":[]`,
		"ailang-read": `"ok":true,"content":1`, "ailang-run": `"admitted":1`, "ailang-write": `"ok":true,"changes":[{"path":"a","kind":"moved"}]`,
		"builtins-search": `"ok":true,"matches":[{"name":"a"}]`, "examples-search": `"ok":true,"stdout":null`,
		"workspace-list": `"ok":true,"entries":[{"path":"a"}]`, "workspace-search": `"ok":true,"cut":1`,
	} {
		for text, admitted := range map[string]bool{`{"world":{},` + wrong + `}`: false, `{"ok":false,"refused":"no","world":{}}`: true, `{"error":{"kind":"x"}}`: true, `{"ok":true}`: false} {
			var output map[string]any
			if err := json.Unmarshal([]byte(text), &output); err != nil {
				t.Fatal(err)
			}
			if err := all[tool].schema.Validate(output); (err == nil) != admitted {
				t.Errorf("%s: %s: %v", tool, text, err)
			}
		}
	}
	clean(t, ctx, w)
}
