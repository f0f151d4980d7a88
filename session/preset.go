package session

import (
	"world/broker/law"
	"world/fault"
	"world/store/record"
)

// Preset names a list of grants that is written out in full at mint (D32).
type Preset string

// SeTools grants the coding transitions on the worktree.
const SeTools Preset = "se-tools"

// DefaultBudget is the budget of each grant of a preset, in calls.
const DefaultBudget = 50

var presets = map[Preset][]law.Effect{
	SeTools: {
		"Workspace.Read", "Workspace.Write",
		"Ailang.Check", "Ailang.Run", "Ailang.Discover", "Ailang.CLI",
	},
}

// WorktreeScope is the scope of every grant on an episode's worktree.
const WorktreeScope law.Scope = "worktree"

// Expand writes a preset out, each grant with the same budget in calls.
func (p Preset) Expand(budget int64) ([]record.SessionGrant, error) {
	effects, ok := presets[p]
	if !ok {
		return nil, fault.New("session: expand preset", fault.Invalid, "no preset of that name; there is %s", SeTools)
	}
	grants := make([]record.SessionGrant, len(effects))
	for i, effect := range effects {
		grants[i] = record.SessionGrant{Effect: effect, Scope: WorktreeScope, Budget: budget}
	}
	return grants, CheckGrants(grants)
}
