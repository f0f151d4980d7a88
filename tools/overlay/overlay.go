// Package overlay judges what a program left in its private layer over a worktree,
// and applies it. It runs inside the jail, in the first stage, when the program and
// all that it started are dead.
//
// It promises that all of a layer is applied or nothing of it: the layer is read
// whole, through os.Root, and held to the path law of the file operations before
// the worktree is touched. What is not a regular file, a directory, a relative link
// that stays inside, or a deletion, and what would change or delete a protected
// name at any depth, refuses the layer. New content is written aside first, so that
// a full disk refuses it too. Attributes beyond permission bits are not applied; set
// user id and its like are cut off, and the owner can always read and write what is
// taken over. A kill between the first rename and the last
// leaves a part, which the first stage reports as unknown.
//
// It does not promise that nobody but the episode changes the worktree meanwhile.
//
// Source: DESIGN D27; reference/world.md §7.5.
package overlay

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"world/confine"
	"world/fault"
	"world/store"
	"world/tools/policy"
)

// Kind says what became of a path. Append only: reports are kept.
type Kind string

const (
	Created   Kind = "created"   // a regular file where there was none
	Changed   Kind = "changed"   // other content in a regular file
	Mode      Kind = "mode"      // other permissions and nothing else
	Directory Kind = "directory" // a new directory
	Link      Kind = "link"      // a link, in the place of nothing or of something else
	Deleted   Kind = "deleted"   // a file, a link or a directory with all below it
)

// Change is one path that was changed. What a path was before is told whatever it
// became, and each file and link below a directory that is gone has a change of its own.
type Change struct {
	Path         string    `json:"path"`
	Kind         Kind      `json:"kind"`
	Before       store.Ref `json:"before,omitempty"`        // content before, of a readable regular file
	After        store.Ref `json:"after,omitempty"`         // content now, of a regular file
	TargetBefore string    `json:"target_before,omitempty"` // of what was a link
	Target       string    `json:"target,omitempty"`        // of what is a link now
}

// Report is what was changed, in the order of the paths.
type Report struct {
	Changes []Change `json:"changes"`
	Omitted int      `json:"omitted"` // changes that are not listed
}

// Bounds of a report, and of a layer beside those of the layer itself.
const (
	MaxListed  = 200                     // changes named in a report
	maxReport  = confine.MaxChanges - 64 // bytes of all changes in it, with the commas between them
	maxPath    = 4096                    // bytes of a path
	maxRemoved = 200_000                 // entries deleted with the directories they are in
	maxHashed  = 64 << 20                // bytes of files deleted with their directories that are hashed; as much as a run may write
)

var _ confine.Applier = Apply

// Apply is the Applier of the coding tools; the law is a policy file.
func Apply(ctx context.Context, t confine.TakeOver) ([]byte, error) {
	rules, err := policy.Parse(t.Law)
	if err != nil {
		return nil, fmt.Errorf("the policy is unreadable: %s", fault.Public(err))
	}
	j := &judge{ctx: ctx, law: rules.Law(), layer: t.Layer, worktree: t.Worktree, opened: map[uint64]fs.FileMode{}, bound: t.Bytes, bytes: t.Bytes}
	if err := t.Layer.Chmod(".", 0o700); err != nil {
		return nil, broken(".", err)
	}
	if err := j.directory(".", shown); err != nil {
		return nil, err
	}
	aside, err := j.setAside()
	if err != nil {
		return nil, err
	}
	if !t.Begin() {
		j.clear(aside)
		return nil, ctx.Err()
	}
	if err := j.carryOut(aside); err != nil {
		return nil, err
	}
	j.clear(aside)
	return json.Marshal(j.report())
}

// report lists as many changes as fit, and first those of what was there before: new
// names are as many and as long as a program likes, and must not hide what it changed.
func (j *judge) report() Report {
	var listed []int
	room := maxReport
	for _, old := range []bool{true, false} {
		for i, s := range j.steps {
			if s.ofOld() != old || len(listed) == MaxListed {
				continue
			}
			if size := s.size(); size <= room {
				room -= size
				listed = append(listed, i)
			}
		}
	}
	slices.Sort(listed)
	r := Report{Changes: []Change{}, Omitted: j.unlisted + len(j.steps) - len(listed)}
	for _, i := range listed {
		r.Changes = append(r.Changes, j.steps[i].Change)
	}
	return r
}

// ofOld reports whether something was at the path before.
func (c Change) ofOld() bool {
	return c.Kind == Changed || c.Kind == Mode || c.Kind == Deleted || c.Before != "" || c.TargetBefore != ""
}

// size is how much of a report a change takes, in bytes.
func (c Change) size() int {
	text, err := json.Marshal(c)
	if err != nil {
		panic("overlay: a change of texts has no JSON: " + err.Error())
	}
	return len(text) + len(",")
}
