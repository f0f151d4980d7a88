package mcp

import (
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"world/store/record"
)

// lookers are the last words of effects that change nothing.
var lookers = []string{"Check", "Discover", "Read"}

// hintsOf are what a client may tell its user of a tool before a call. They follow from
// the effects that the transition declares and from nothing it says of itself: one that
// declares none, or only those that look, cannot change anything. Of any other the worst
// is said, that it may destroy, and that a second call may do more than the first; and of
// none that its world is closed.
func hintsOf(d record.Descriptor) *sdk.ToolAnnotations {
	looks := !slices.ContainsFunc(d.DeclaredEffects, func(t record.Triple) bool {
		family, verb, ok := strings.Cut(string(t.Effect), ".")
		return !ok || family == "" || !slices.Contains(lookers, verb)
	})
	destroys := !looks
	return &sdk.ToolAnnotations{Title: d.Title, ReadOnlyHint: looks, DestructiveHint: &destroys, IdempotentHint: looks}
}
