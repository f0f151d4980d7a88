// Package guards takes the guards of the fence out, one after the other, and holds
// that the acts of ci/fence see it: an act names the guard that stops it, and gets
// through when that guard is gone.
//
// It promises that no act can name a guard that nothing here takes out, that each
// removal still fits the code, and that what turns red does so because the act got
// through: neither a build that fails nor a control that fails counts. Where two
// guards stand behind each other both are taken out, and their name says so; nothing
// is promised about each of them alone.
//
// It does not promise that a guard could not be weakened in another way than it is here.
package guards

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Guard names what stops an act: the room, and what in it.
type Guard string

// Edit replaces a piece of text that a file holds exactly once. New text need not be
// good code; it compiles.
type Edit struct {
	File     string // slash-separated, from the top of the repository
	Old, New string
}

// Removal takes one guard out, or several that stand behind each other.
type Removal struct {
	Guard Guard
	Tests string // pattern of the tests of ci/fence that hold acts which name it
	Edits []Edit
	Harm  bool // nothing else is in the way either: the acts do what they mean to
}

// Programs are the packages of the programs that the acts meet.
var Programs = []string{"world/cmd/ailang-worldd", "world/cmd/world-publish", "world/cmd/world-tool"}

// What an act says, for Read to find again.
const (
	attribute = "guard"
	through   = "let it through"
	harm      = ", and harm was done"
	control   = "control: "
)

// Stops says that a test is an act that this guard stops.
func (g Guard) Stops(t testing.TB) {
	t.Helper()
	if _, ok := Of(g); !ok {
		t.Errorf("nothing takes out %q", g)
	}
	t.Attr(attribute, string(g))
}

// LetThrough fails an act that got through, and shows by what.
func (g Guard) LetThrough(t testing.TB, shows string) {
	t.Helper()
	t.Errorf("%s %s: %s", g, through, shows)
}

// Harmed is LetThrough for an act that was told a secret or changed what it must not.
func (g Guard) Harmed(t testing.TB, shows string) {
	t.Helper()
	t.Errorf("%s %s%s: %s", g, through, harm, shows)
}

// Of returns the first removal of a guard.
func Of(g Guard) (Removal, bool) {
	for _, r := range Removals {
		if r.Guard == g {
			return r, true
		}
	}
	return Removal{}, false
}

// Apply returns the text of each file of a repository that the removal changes, by
// its path below root, as it is without the guard. An edit whose text is not there
// exactly once is an error.
func (r Removal) Apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range r.Edits {
		text, ok := files[e.File]
		if !ok {
			raw, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("%s holds %q %d times, and not once", e.File, e.Old, n)
		}
		files[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return files, nil
}
