package policytool

import (
	"maps"
	"slices"
)

// operation is one op: the members and flags it takes and what it does.
type operation struct {
	takes []string
	flags []string // sorted
	cli   bool     // answers as a command would: argv, exit code, stdout
	run   func(t *tree, q Request, digest string) Response
}

func operations() map[string]operation {
	return map[string]operation{
		"summary": {run: summary},
		"read":    {takes: []string{"path"}, flags: []string{"bytes", "limit", "offset"}, run: read},
		"write":   {takes: []string{"path", "content"}, run: writeFile},
		"edit":    {takes: []string{"path", "old_text", "new_text"}, run: edit},
		"list":    {takes: []string{"path"}, flags: []string{"glob", "limit"}, run: list},
		"search": {takes: []string{"path", "query"},
			flags: []string{"glob", "ignore-case", "limit", "literal"}, run: search},

		"check":           {takes: []string{"path"}, flags: []string{"json", "quiet"}, cli: true, run: check},
		"ai_check":        {takes: []string{"path"}, flags: []string{"timeout"}, cli: true, run: aiCheck},
		"builtins_list":   {flags: []string{"json", "module", "query"}, cli: true, run: builtins},
		"builtins_show":   {takes: []string{"module"}, cli: true, run: builtin},
		"examples_search": {takes: []string{"query"}, cli: true, run: searchExamples},
		"examples_list":   {flags: []string{"tags"}, cli: true, run: listExamples},
		"examples_show":   {takes: []string{"module"}, cli: true, run: showExample},
		"examples_tags":   {cli: true, run: exampleTags},
		"docs_search":     {takes: []string{"query"}, flags: []string{"limit"}, cli: true, run: searchGuide},
		"prompt":          {cli: true, run: guide},
		"agent_prompt":    {cli: true, run: guide},
		"policy_check":    {cli: true, run: checkPolicy},
		"version":         {cli: true, run: version},
	}
}

func operationNames() []string { return slices.Sorted(maps.Keys(operations())) }

func summary(t *tree, _ Request, digest string) Response {
	cli := []string{}
	for name, op := range operations() {
		if op.cli {
			cli = append(cli, name)
		}
	}
	slices.Sort(cli)
	return Response{OK: true, Summary: &Summary{
		SecurityMode: t.policy.SecurityMode, PolicyDigest: digest, Sandbox: t.policy.Sandbox,
		Caps: t.policy.AllowedCaps, NetAllow: t.policy.NetAllow, ProcessAllow: []string{}, CLI: cli,
		Ops: operationNames(), TimeoutMS: t.policy.TimeoutMillis,
	}}
}
