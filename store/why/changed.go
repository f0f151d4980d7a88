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
			TargetBefore  string `json:"target_before"`
			Target        string
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
		was, is := content(c.Before, c.TargetBefore), content(c.After, c.Target)
		if was != absent || is != absent {
			line += sprintf(": %s → %s", was, is)
		}
		w.add(Step{Part: "changed", Says: line})
	}
	if told.Omitted > 0 {
		w.add(Step{Part: "changed", Says: sprintf("and %d more", told.Omitted)})
	}
}

const absent = "nothing"

// content is what a path was or is: a file's content by its hash, or a link.
func content(ref store.Ref, target string) string {
	switch {
	case ref != "":
		return string(ref)
	case target != "":
		return sprintf("a link to %q", target)
	}
	return absent
}
