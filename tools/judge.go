package tools

import (
	"strings"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/store"
)

// judge turns the end of a run into one of the three ways an effect ends. What
// certainly did not happen failed; what may have happened and did not say so
// readably is indeterminate, except for a read, which leaves nothing behind.
func (h *Handler) judge(effect law.Effect, r confine.Result, worktree, digest string) broker.Result {
	unknown := func(detail string) broker.Result {
		if writes[effect] && r.Started {
			return broker.Result{Status: store.StatusIndeterminate, Detail: detail}
		}
		return broker.Result{Status: store.StatusFailed, Detail: detail}
	}
	switch {
	case r.Bound != confine.Unbounded:
		return unknown("the tool was ended: " + string(r.Bound))
	case r.Exit == 1 && len(r.Stdout) == 0:
		// The contract: no response could be formed, so nothing was done.
		return broker.Result{Status: store.StatusFailed, Detail: "the tool could not form a response"}
	case r.Exit != 0:
		return unknown("the tool broke off without a response")
	}
	answer, problem := readAnswer(r.Stdout)
	if problem != "" {
		return unknown("the tool's response " + problem)
	}
	if content, ok := answer.Get("content"); effect == WorkspaceRead && succeeded(answer) && (!ok || content.Kind() != canon.String) {
		answer = answer.With("content", canon.NewString("")) // the contract leaves out what is empty
	}
	if text, ok := textOf(answer, "refused"); ok {
		answer = answer.With("refused", canon.NewString(withoutPath(text, worktree)))
	}
	output := answer.With("tool", canon.NewString(string(h.ref))).With("policy_digest", canon.NewString(digest)).Bytes()
	if len(output) > maxAnswer {
		return unknown("the tool's response is too large; read a smaller file")
	}
	return broker.Result{Status: store.StatusSucceeded, Output: output}
}

// reserved are members that only the host adds to an answer.
var reserved = []string{"world", "tool", "policy_digest"}

// readAnswer parses a response, which must say whether it is ok, and how not.
func readAnswer(stdout []byte) (answer canon.Value, problem string) {
	v, err := canon.Parse(stdout, canon.Limits{Bytes: int(toolLimits.Output), Pairs: true})
	if err != nil || v.Kind() != canon.Object {
		return v, "is not one JSON object"
	}
	for _, name := range reserved {
		if _, ok := v.Get(name); ok {
			return v, "carries the reserved key " + name
		}
	}
	member, _ := v.Get("ok")
	ok, isBool := member.Bool()
	if !isBool {
		return v, "does not say whether it is ok"
	}
	_, refused := textOf(v, "refused")
	if _, ran := v.Get("argv"); !ok && !refused && !ran {
		return v, "does not say why it is not ok"
	}
	return v, ""
}

func succeeded(answer canon.Value) bool {
	member, _ := answer.Get("ok")
	ok, _ := member.Bool()
	return ok
}

func textOf(v canon.Value, name string) (string, bool) {
	member, ok := v.Get(name)
	if !ok {
		return "", false
	}
	return member.Text()
}

// withoutPath takes the worktree's place on the host out of a message.
func withoutPath(text, worktree string) string {
	text = strings.ReplaceAll(text, worktree+"/", "")
	return strings.ReplaceAll(text, worktree, ".")
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
