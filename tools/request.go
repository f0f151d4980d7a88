package tools

import (
	"fmt"
	"slices"
	"strings"

	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/coordinator/plan"
	"world/tools/lang"
)

// service is what one effect may ask the tool for, and what it may leave behind.
type service struct {
	ops    []string
	cli    bool // the operations that the tool's summary lists as commands
	runs   bool // it runs a program instead
	writes bool // the worktree may have changed afterwards
}

// served lists the effects of the coding tools.
var served = map[law.Effect]service{
	WorkspaceRead:  {ops: []string{"read", "list", "search"}},
	WorkspaceWrite: {ops: []string{"write", "edit"}, writes: true},
	AilangCheck:    {ops: []string{"ai_check"}},
	AilangDiscover: {ops: []string{"builtins_list", "examples_search"}},
	AilangCLI:      {cli: true},
	AilangRun:      {runs: true, writes: true},
	AilangRunEnv:   {runs: true, writes: true},
	AilangRunNet:   {runs: true, writes: true},
}

// request is one admitted operation.
type request struct {
	op, path string
	value    canon.Value // what is sent
}

// maxShown bounds what is shown of a name in a refusal, in bytes.
const maxShown = 64

// admit checks an effect's payload against what the effect may ask for and
// returns the request to send. The tool may read keys case-insensitively, so a key
// that only folds to one it knows is refused.
func (h *Handler) admit(effect law.Effect, payload []byte) (q request, problem string) {
	v, err := canon.Parse(payload, canon.Limits{})
	if err != nil || v.Kind() != canon.Object {
		return q, fmt.Sprintf("broker: %s refuses a payload that is not a JSON object", effect)
	}
	for _, m := range v.Members() {
		if exact, ok := alias(m.Name); ok {
			return q, fmt.Sprintf("broker: %s refuses the payload: key %q aliases %q", effect, m.Name, exact)
		}
	}
	q.value = v
	q.op, _ = textOf(v, "op")
	q.path, _ = textOf(v, "path")
	ops := served[effect].ops
	if served[effect].cli {
		ops = h.commands()
	}
	if !slices.Contains(ops, q.op) {
		return q, fmt.Sprintf("broker: %s refuses op %q: not in this effect's op allowlist (%s)", effect, plan.Clip(q.op, maxShown), plan.Clip(strings.Join(ops, ", "), maxReason))
	}
	flags, _ := v.Get("flags")
	if _, ok := flags.Get("write"); ok && q.op == "fmt" {
		return q, fmt.Sprintf("broker: %s refuses op \"fmt\" with flag \"write\": it writes the worktree", effect)
	}
	if q.op == "builtins_list" && effect == AilangDiscover && h.program(q) != nil && !h.said.speaksOurs() {
		q.value = v.With("flags", canon.NewObject(nil)) // older ones know none; the finish phase filters
	}
	return q, ""
}

// program is the binary that serves a request: nil is the first stage. What another
// tool does not say it does, and programs of languages that it does not know, are
// world-tool's.
func (h *Handler) program(q request) *confine.Image {
	if h.tool == nil || h.said == nil {
		return h.tool
	}
	ours := lang.Of(q.path) == lang.Starlark || lang.Of(q.path) == lang.Python
	_, flagged := q.value.Get("flags")
	part := q.op == "read" && flagged
	if !h.said.speaksOurs() && (ours && isCheck(q.op) || ownOps[q.op] || part) {
		return nil
	}
	return h.tool
}

// ownOps are world-tool's own, as is reading part of a file.
var ownOps = map[string]bool{"list": true, "search": true}

func isCheck(op string) bool { return op == "check" || op == "ai_check" }

// needsMore reports whether world-tool serves a request only as a program: as a verb
// it may neither start python3 nor read a corpus outside the worktree.
func (h *Handler) needsMore(q request) bool {
	return isCheck(q.op) && lang.Of(q.path) == lang.Python || strings.HasPrefix(q.op, "builtins_") ||
		h.examples != "" && strings.HasPrefix(q.op, "examples_")
}

// requestKeys are the members that a tool's request may have.
var requestKeys = []string{"op", "path", "content", "old_text", "new_text", "module", "query", "package", "flags"}

// alias reports a key that equals a request key only when case is folded.
func alias(name string) (exact string, ok bool) {
	for _, key := range requestKeys {
		if name != key && strings.EqualFold(name, key) {
			return key, true
		}
	}
	return "", false
}

// noCorpus answers a search for examples where another tool has none to search.
func (h *Handler) noCorpus(q request) []byte {
	if q.op != "examples_search" || h.examples != "" || h.tool == nil || h.said == nil || h.said.speaksOurs() {
		return nil
	}
	return canon.NewObject([]canon.Member{
		{Name: "ok", Value: canon.NewBool(false)},
		{Name: "refused", Value: canon.NewString("no examples corpus configured: start ailang-worldd serve with --examples-dir DIR")},
		{Name: "tool", Value: canon.NewString(string(h.ref))},
	}).Bytes()
}
