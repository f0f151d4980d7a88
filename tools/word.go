package tools

import (
	"fmt"
	"slices"
	"strings"

	"world/canon"
	"world/confine"
	"world/coordinator/plan"
	"world/tools/policy"
)

// maxReason bounds a tool's own reason as it is shown, in bytes.
const maxReason = 400

// reasoned is what a tool says of itself, shown to an agent.
func reasoned(text, worktree string) string {
	return plan.Clip(strings.TrimSpace(withoutPath(text, worktree)), maxReason)
}

// memberKinds are the types of what a response may hold, by the contract and by
// world-tool's own operations. Null is taken for absent.
var memberKinds = map[string]canon.Kind{
	"refused": canon.String, "content": canon.String, "argv": canon.Array, "exit_code": canon.Number, "stdout": canon.String,
	"stderr": canon.String, "summary": canon.Object, "cut": canon.Bool, "why": canon.String, "lines": canon.Number, "bytes": canon.Number,
	"next": canon.Number, "created": canon.Bool, "line": canon.Number, "diff": canon.String, "changes": canon.Array,
	"entries": canon.Array, "matches": canon.Array, "files": canon.Number, "skipped": canon.Number,
}

// mistyped names a member of a response that is of another type than the contract
// says, "" for none.
func mistyped(answer canon.Value) string {
	for _, m := range answer.Members() {
		want, known := memberKinds[m.Name]
		if !known || m.Value.Kind() == canon.Null {
			continue
		}
		whole := true
		if want == canon.Number {
			_, whole = m.Value.Int64()
		}
		if m.Value.Kind() != want || !whole || m.Name == "argv" && !areTexts(m.Value) {
			return m.Name
		}
	}
	return ""
}

func areTexts(list canon.Value) bool {
	_, ok := stringsOf(list)
	return ok
}

// contradicts says how a response contradicts itself, "" when it does not.
func contradicts(answer canon.Value) string {
	ok := succeeded(answer)
	refused, isRefused := textOf(answer, "refused")
	argv, _ := answer.Get("argv")
	code, _ := answer.Get("exit_code")
	exit, _ := code.Int64()
	switch {
	case ok && isRefused:
		return "says that it is ok and that it refused: " + refused
	case ok && exit != 0:
		return fmt.Sprintf("says that it is ok and that it ended with exit code %d", exit)
	case !ok && isRefused && refused == "", !ok && !isRefused && argv.Kind() != canon.Array:
		return "does not say why it is not ok"
	case !ok && !isRefused && exit == 0:
		return "says that it ran, ended with exit code 0, and is not ok"
	}
	return ""
}

// otherThan names what a tool says otherwise of a policy than it is, "" for nothing.
// The worktree may be named as agents are shown it.
func otherThan(v canon.Value, p policy.Policy, digest string) string {
	for _, want := range []struct{ name, text string }{{"security_mode", p.SecurityMode}, {"policy_digest", digest}} {
		if got, _ := textOf(v, want.name); got != want.text {
			return want.name
		}
	}
	if at, ok := v.Get("fs_sandbox"); ok {
		if text, _ := at.Text(); withoutPath(text, p.Sandbox) != "." {
			return "fs_sandbox"
		}
	}
	for _, want := range []struct {
		name string
		set  []string
	}{{"caps", p.AllowedCaps}, {"net_allow", p.NetAllow}, {"process_allow", nil}} {
		got, _ := v.Get(want.name)
		set, ok := stringsOf(got)
		if !ok && (got.Kind() != canon.Null || want.name == "caps") || !equalSets(set, want.set) {
			return want.name
		}
	}
	if got, ok := v.Get("timeout_ms"); ok {
		if n, ok := got.Int64(); !ok || n != p.TimeoutMillis {
			return "timeout_ms"
		}
	}
	return ""
}

func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isDenial reports whether a value is a decision that denies, as the contract says.
func isDenial(decision canon.Value) bool {
	ok, isBool := isOK(decision)
	kind, _ := textOf(decision, "error_kind")
	_, worded := textOf(decision, "message")
	for _, name := range []string{"declared_effects", "allowed_caps", "missing_from_policy"} {
		if list, _ := decision.Get(name); list.Kind() != canon.Null && !areTexts(list) {
			return false
		}
	}
	return isBool && !ok && kind != "" && worded
}

// Bounds of what is told of changes in a text.
const (
	toldChanges = 8   // of them
	toldName    = 160 // bytes of each name
)

// alsoChanged tells, by hash, what a run changed whose answer is refused, "" for
// nothing.
func alsoChanged(r confine.Result) string {
	if len(r.Changes) == 0 {
		return ""
	}
	report, err := canon.Parse(r.Changes, canon.Limits{})
	if err != nil {
		return ", and the worktree may have been changed"
	}
	changes, _ := report.Get("changes")
	omitted, _ := report.Get("omitted")
	more, _ := omitted.Int64()
	var told []string
	for _, c := range changes.Items() {
		if len(told) == toldChanges {
			more++
			continue
		}
		path, _ := textOf(c, "path")
		kind, _ := textOf(c, "kind")
		text := plan.Clip(path, toldName) + " " + kind
		for _, name := range []string{"before", "after"} {
			if ref, ok := textOf(c, name); ok {
				text += ", " + name + " " + ref
			}
		}
		told = append(told, text)
	}
	if more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	if len(told) == 0 {
		return ""
	}
	return ", and the worktree was changed: " + strings.Join(told, "; ")
}
