package tools

import (
	"fmt"
	"slices"
	"strings"

	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/tools/policy"
)

// order is one admitted run.
type order struct {
	path, stdin string
	argsJSON    string
	withArgs    bool
	argv        []string
	caps        []string // sorted; nil when none were named
}

// Bounds of what a run is given, in bytes and items, as the transition states them.
const (
	maxStdin     = 64 << 10
	maxArguments = 32
	maxArgument  = 1024
	maxArgsJSON  = 128_000 // Linux starts no program with one argument of 128 KiB
)

// operatorCaps are the capabilities that an operator enables.
var operatorCaps = []string{"Env", "Net"}

// checkCaps refuses capabilities that cannot be enabled, and Net without an address.
func (h *Handler) checkCaps() error {
	for i, cap := range h.allow {
		if !slices.Contains(operatorCaps, cap) || slices.Contains(h.allow[:i], cap) {
			return fault.New("tools: new handler", fault.Invalid, "the capabilities that can be enabled for runs are %s, each once", strings.Join(operatorCaps, " and "))
		}
	}
	for _, address := range h.netAllow {
		if _, err := policy.ParseNetAllow(address); err != nil {
			return err
		}
	}
	if net := slices.Contains(h.allow, "Net"); net != (len(h.netAllow) > 0) {
		return fault.New("tools: new handler", fault.Invalid, "runs with Net need a list of addresses, and a list needs runs with Net")
	}
	return nil
}

// effectOf is the effect that a run with these capabilities spends.
func effectOf(caps []string) law.Effect {
	switch {
	case slices.Contains(caps, "Env"):
		return AilangRunEnv
	case slices.Contains(caps, "Net"):
		return AilangRunNet
	}
	return AilangRun
}

// admitRun checks a run's payload a second time: the transition did it first, and
// other transitions may plan the same effect.
func (h *Handler) admitRun(effect law.Effect, payload []byte) (o order, problem string) {
	bad := func(format string, args ...any) (order, string) {
		return o, fmt.Sprintf("broker: %s refuses the payload: "+format, append([]any{effect}, args...)...)
	}
	v, err := canon.Parse(payload, canon.Limits{})
	if err != nil || v.Kind() != canon.Object {
		return bad("it is not a JSON object")
	}
	for _, m := range v.Members() {
		ok := true
		switch m.Name {
		case "path":
			o.path, ok = m.Value.Text()
		case "stdin":
			o.stdin, ok = m.Value.Text()
		case "args_json":
			o.argsJSON, ok = m.Value.Text()
			o.withArgs = true
		case "argv":
			o.argv, ok = stringsOf(m.Value)
		case "caps":
			o.caps, ok = stringsOf(m.Value)
		default:
			return bad("unknown key %q", m.Name)
		}
		if !ok {
			return bad("%s is of another type", m.Name)
		}
	}
	switch {
	case !lawfulPath(o.path):
		return bad("path is not that of a file in the worktree")
	case slices.ContainsFunc(o.argv, func(arg string) bool { return strings.ContainsRune(arg, 0) }) || strings.ContainsRune(o.argsJSON, 0):
		return bad("an argument holds NUL")
	case len(o.stdin) > maxStdin || len(o.argsJSON) > maxArgsJSON || len(o.argv) > maxArguments ||
		slices.ContainsFunc(o.argv, func(arg string) bool { return len(arg) > maxArgument }):
		return bad("what the program is given is too long")
	case len(slices.Compact(slices.Sorted(slices.Values(o.caps)))) != len(o.caps) || !slices.IsSorted(o.caps):
		return bad("caps are not sorted and distinct")
	case slices.ContainsFunc(o.caps, func(cap string) bool { return !slices.Contains(policy.RunCaps, cap) }):
		return bad("caps names an unknown capability")
	case slices.Contains(o.caps, "Env") && slices.Contains(o.caps, "Net"):
		return bad("caps names both Env and Net")
	case effectOf(o.caps) != effect:
		return bad("caps %v run as %s, not %s", o.caps, effectOf(o.caps), effect)
	}
	for _, cap := range operatorCaps {
		if slices.Contains(o.caps, cap) && !slices.Contains(h.allow, cap) {
			return o, fmt.Sprintf("capability %q is not enabled by the operator (serve --run-allow-caps)", cap)
		}
	}
	return o, ""
}

// lawfulPath is the path predicate of the transitions (reference/world.md §7.2).
func lawfulPath(path string) bool {
	return path != "" && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "-") && !strings.ContainsRune(path, 0) &&
		!strings.HasSuffix(path, "/") && !slices.Contains(strings.Split(path, "/"), "..")
}

func stringsOf(v canon.Value) ([]string, bool) {
	all := []string{}
	for _, item := range v.Items() {
		text, ok := item.Text()
		if !ok {
			return nil, false
		}
		all = append(all, text)
	}
	return all, v.Kind() == canon.Array
}
