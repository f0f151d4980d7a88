package tools

import (
	"slices"

	"world/canon"
)

// said is what a tool binary says of itself in its summary.
type said struct{ ops, cli []string }

// speaksOurs reports whether the tool is world-tool, or a wrapper of it: then it
// serves every operation and every program.
func (s *said) speaksOurs() bool {
	return s == nil || slices.Contains(s.ops, "list") && slices.Contains(s.ops, "search")
}

// ownCommands are the operations of world-tool that work as commands.
var ownCommands = []string{
	"agent_prompt", "ai_check", "builtins_list", "builtins_show", "check", "docs_search", "examples_list", "examples_search",
	"examples_show", "examples_tags", "policy_check", "prompt", "version",
}

// commands are the operations that Ailang.CLI may ask for: what the tool lists,
// without those that run or write, whatever it lists.
func (h *Handler) commands() []string {
	if h.said == nil {
		return ownCommands
	}
	return h.said.cli
}

// never are operations that no effect may ask for as a command.
var never = []string{"read", "write", "edit", "summary", "run", "exec", "repl", "replay", "watch", "select-best", "lock", "design_quorum"}

// readSaid reads a summary's lists.
func readSaid(summary canon.Value) *said {
	s := &said{ops: texts(summary, "ops"), cli: texts(summary, "cli")}
	s.cli = slices.DeleteFunc(s.cli, func(op string) bool { return slices.Contains(never, op) })
	return s
}

func texts(v canon.Value, name string) (all []string) {
	list, _ := v.Get(name)
	for _, item := range list.Items() {
		if text, ok := item.Text(); ok {
			all = append(all, text)
		}
	}
	return all
}
