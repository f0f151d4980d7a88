package mcp

import (
	"strings"

	"world/store"
)

// maxName is the longest tool name that clients of the protocol take, in bytes.
const maxName = 64

// escape keeps names within the protocol's letters and still tells apart all ids:
// an underscore always begins one of the three pairs.
var escape = strings.NewReplacer("_", "_u", ".", "_d", "/", "_s")

// toolName is the name of a transition as a tool; false when it would be too long.
func toolName(id store.TransitionID) (string, bool) {
	name := escape.Replace(string(id))
	return name, len(name) <= maxName
}
