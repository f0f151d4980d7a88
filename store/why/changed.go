package why

import (
	"encoding/json"

	"world/store"
)

// maxChanged is how many changes of one effect a trail names.
const maxChanged = 20

// changed tells what an effect's result says that it changed in a worktree: the
// content of each file before and after, by hash. Results that tell of none are
// most. The bytes are those of the result, which was hashed and held already.
func (w *walker) changed(result []byte) {
	var told struct {
		Changes []struct {
			Path, Kind    string
			Before, After store.Ref
		}
		Omitted int
	}
	if json.Unmarshal(result, &told) != nil {
		return // it is not of the shape that has changes
	}
	for i, c := range told.Changes {
		if i == maxChanged {
			w.add(Step{Part: "changed", Says: sprintf("and %d more", len(told.Changes)-i+told.Omitted)})
			return
		}
		line := sprintf("%s %s", c.Path, c.Kind)
		if c.Before != "" || c.After != "" {
			line += sprintf(": %s → %s", orNothing(c.Before), orNothing(c.After))
		}
		w.add(Step{Part: "changed", Says: line})
	}
	if told.Omitted > 0 {
		w.add(Step{Part: "changed", Says: sprintf("and %d more", told.Omitted)})
	}
}

func orNothing(ref store.Ref) string {
	if ref == "" {
		return "nothing"
	}
	return string(ref)
}
