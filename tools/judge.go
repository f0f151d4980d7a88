package tools

import (
	"strings"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/store"
	"world/tools/policytool"
)

// judge turns the end of a run into one of the three ways an effect ends. What
// certainly did not happen failed; what may have happened and did not say so
// readably is indeterminate, except for a read, which leaves nothing behind, and for
// what lay in a layer, of which the jail says what was kept.
func (h *Handler) judge(effect law.Effect, q request, r confine.Result, layered bool, worktree, digest string) broker.Result {
	failed := func(detail string) broker.Result {
		return broker.Result{Status: store.StatusFailed, Detail: detail + alsoChanged(r)}
	}
	unknown := func(detail string) broker.Result {
		if told := layered && r.Applied != confine.MaybeApplied; served[effect].writes && r.Started && !told {
			return broker.Result{Status: store.StatusIndeterminate, Detail: detail}
		}
		return failed(detail)
	}
	switch {
	case r.Applied == confine.MaybeApplied:
		return unknown("the tool ended, and its changes to the worktree may have been taken over in part")
	case r.Refused != "":
		return unknown("what the tool changed was refused: " + reasoned(r.Refused, worktree))
	case r.Bound != confine.Unbounded:
		return unknown("the tool was ended: " + string(r.Bound))
	case r.Exit == 1 && len(r.Stdout) == 0:
		// The contract: no response could be formed, so nothing was done; a layer tells whether.
		detail := "the tool could not form a response"
		if _, line := lastLine(string(r.Stderr)); strings.HasPrefix(line, policytool.Verb+": ") {
			detail += ": " + reasoned(line, worktree)
		}
		return failed(detail)
	case r.Exit != 0:
		return unknown("the tool broke off without a response")
	}
	answer, problem := readAnswer(r.Stdout)
	if problem != "" {
		return unknown("the tool's response " + reasoned(problem, worktree))
	}
	if answer = complete(q, answer); layered {
		if !succeeded(answer) && alsoChanged(r) != "" {
			return unknown("the tool's answer says that nothing was done")
		}
		answer = withChanges(answer, r)
	}
	for _, name := range []string{"refused", "stdout", "stderr"} {
		if text, ok := textOf(answer, name); ok {
			answer = answer.With(name, canon.NewString(withoutPath(text, worktree)))
		}
	}
	output := answer.With("tool", canon.NewString(string(h.served(q)))).With("policy_digest", canon.NewString(digest)).Bytes()
	if len(output) > maxAnswer {
		return unknown("the tool's response is too large; read a smaller file")
	}
	return broker.Result{Status: store.StatusSucceeded, Output: output}
}

// withChanges puts what the jail saw a tool change in the place of what the tool says of
// it; nothing is said of nothing.
func withChanges(answer canon.Value, r confine.Result) canon.Value {
	for _, m := range reported(r) {
		_, claims := answer.Get(m.Name)
		if n, _ := m.Value.Int64(); claims || n > 0 || len(m.Value.Items()) > 0 {
			answer = answer.With(m.Name, m.Value)
		}
	}
	return answer
}

// complete puts back what the contract leaves out because it is empty.
func complete(q request, answer canon.Value) canon.Value {
	if _, ran := answer.Get("argv"); ran {
		for _, name := range []string{"stdout", "stderr"} {
			if _, ok := textOf(answer, name); !ok {
				answer = answer.With(name, canon.NewString(""))
			}
		}
		if _, ok := answer.Get("exit_code"); !ok {
			answer = answer.With("exit_code", canon.NewInt(0))
		}
	}
	if !succeeded(answer) {
		return answer
	}
	for _, fill := range q.always() {
		if given, _ := answer.Get(fill.Name); given.Kind() != fill.Value.Kind() {
			answer = answer.With(fill.Name, fill.Value)
		}
	}
	return answer
}

// always are the members that an answer has though they are empty, as its description
// says.
func (q request) always() []canon.Member {
	none := canon.NewInt(0)
	switch flags, part := q.value.Get("flags"); q.op {
	case "read":
		members := []canon.Member{{Name: "content", Value: canon.NewString("")}}
		if _, bytes := flags.Get("bytes"); bytes {
			members = append(members, canon.Member{Name: "bytes", Value: none})
		} else if part {
			members = append(members, canon.Member{Name: "lines", Value: none})
		}
		return members
	case "list":
		return []canon.Member{{Name: "entries", Value: canon.NewArray(nil)}}
	case "search":
		return []canon.Member{{Name: "matches", Value: canon.NewArray(nil)}, {Name: "files", Value: none}, {Name: "skipped", Value: none}}
	}
	return nil
}

// served is the ref of the binary that serves a request.
func (h *Handler) served(q request) store.Ref {
	if h.program(q) == nil {
		return h.jail.Stage().Ref
	}
	return h.ref
}

// reserved are members that only the host adds to an answer.
var reserved = []string{"world", "tool", "policy_digest"}

// readAnswer parses a response, which must say whether it is ok, and how not, each
// thing as the contract says and none against another.
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
	if _, isBool := member.Bool(); !isBool {
		return v, "does not say whether it is ok"
	}
	if name := mistyped(v); name != "" {
		return v, "is not as the contract says: " + name + " is of another type"
	}
	return v, contradicts(v)
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
