package plan

import (
	"slices"
	"strconv"
	"strings"

	"world/canon"
	"world/fault"
)

const (
	maxName = 64   // bytes of a hostile name shown in a text
	maxText = 4096 // bytes of a message
)

func shape(reason string) error {
	return fault.New("coordinator: plan", fault.PlanLaw, "effect plan violates shape: %s", reason)
}

func broken(v Verdict, reason string) error {
	return fault.New("coordinator: plan", fault.PlanLaw, "effect plan violates %s: %s", v.Law(), reason)
}

// get returns a member, null when it is absent.
func get(v canon.Value, name string) canon.Value {
	member, _ := v.Get(name)
	return member
}

func has(v canon.Value, name string) bool {
	_, ok := v.Get(name)
	return ok
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }

func quote(s string) string { return strconv.QuoteToASCII(clip(s)) }

// clip keeps a hostile name from filling a text.
func clip(s string) string { return Clip(s, maxName) }

// Clip shortens a text to at most n bytes, 3 or more, of valid UTF-8 without NUL,
// and marks the cut.
func Clip(s string, n int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
	if len(s) <= n {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:n-len(mark)], "") + mark
}
