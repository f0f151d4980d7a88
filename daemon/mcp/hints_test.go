package mcp

import (
	"testing"

	"world/broker/law"
	"world/store/record"
)

// TestHintsFollowFromEffects: a tool is read-only when nothing it declares could write.
func TestHintsFollowFromEffects(t *testing.T) {
	for _, c := range []struct {
		effects []law.Effect
		looks   bool
	}{
		{nil, true},
		{[]law.Effect{"Workspace.Read"}, true},
		{[]law.Effect{"Ailang.Check"}, true},
		{[]law.Effect{"Ailang.Discover", "Workspace.Read"}, true},
		{[]law.Effect{"Workspace.Write"}, false},
		{[]law.Effect{"Workspace.Read", "Workspace.Write"}, false},
		{[]law.Effect{"Ailang.Run", "Ailang.RunEnv"}, false},
		{[]law.Effect{"Ailang.CLI"}, false},
		{[]law.Effect{"Read"}, false},
		{[]law.Effect{".Read"}, false},
		{[]law.Effect{"Workspace.ReadWrite"}, false},
		{[]law.Effect{"Workspace.Write.Read"}, false},
		{[]law.Effect{"Workspace.read"}, false},
	} {
		d := record.Descriptor{Title: "Title"}
		for _, effect := range c.effects {
			d.DeclaredEffects = append(d.DeclaredEffects, record.Triple{Effect: effect, Scope: "s", Cost: 1})
		}
		h := hintsOf(d)
		if h.ReadOnlyHint != c.looks || h.IdempotentHint != c.looks || h.DestructiveHint == nil || *h.DestructiveHint == c.looks || h.OpenWorldHint != nil || h.Title != "Title" {
			t.Errorf("%v: %+v, destructive %v", c.effects, h, h.DestructiveHint)
		}
	}
}
