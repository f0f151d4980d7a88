package record

import (
	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/store"
)

// EndingRecord is the evidence that an episode has ended: what was spent, what its
// worktree had become, and what was done with that (D19).
type EndingRecord struct {
	Episode  store.EpisodeID `json:"episode"`
	Spent    []SpentOn       `json:"spent"`    // sorted by effect, then scope
	Worktree Disposal        `json:"worktree"` // what is to become of it
	Changed  *Changes        `json:"changed"`  // null without a worktree, and for one that could not be compared
	By       string          `json:"by"`
	At       int64           `json:"at"` // logical unix seconds
}

// SpentOn is an episode's spend on one (effect, scope).
type SpentOn struct {
	Effect law.Effect `json:"effect"`
	Scope  law.Scope  `json:"scope"`
	Total  int64      `json:"total"` // calls
}

// Changes count how a worktree differs from the commit that it was made from.
type Changes struct {
	Commit  string `json:"commit"`
	Files   int64  `json:"files"`   // changed, added or deleted
	Added   int64  `json:"added"`   // lines, of text files
	Deleted int64  `json:"deleted"` // lines, of text files
}

// Disposal is what becomes of an ended episode's worktree. Append only.
type Disposal string

const (
	NoWorktree Disposal = "none"
	Kept       Disposal = "kept"
	Removed    Disposal = "removed"
)

// Bytes is the record's byte form.
func (r EndingRecord) Bytes() []byte { return canon.Encode(r) }

// DecodeEnding reads the record of an end.
func DecodeEnding(raw []byte) (EndingRecord, error) {
	r, err := canon.DecodeExact[EndingRecord](raw, canon.Limits{Bytes: 1 << 20})
	if err != nil {
		return r, err
	}
	return r, r.check()
}

func (r EndingRecord) check() error {
	bad := func(what string) error { return fault.New("record: ending", fault.Invalid, "%s", what) }
	if _, err := store.ParseEpisodeID(string(r.Episode)); err != nil {
		return err
	}
	if r.At < 0 || r.Spent == nil {
		return bad("time out of range or spend absent")
	}
	for i, s := range r.Spent {
		if s.Effect == "" || s.Scope == "" || s.Total < 0 {
			return bad("a spend has an effect, a scope and a total of 0 or more")
		}
		if i > 0 && !inOrder(r.Spent[i-1], s) {
			return bad("spend is out of order")
		}
	}
	switch c := r.Changed; {
	case r.Worktree != NoWorktree && r.Worktree != Kept && r.Worktree != Removed:
		return bad("a worktree is none, kept or removed")
	case c != nil && r.Worktree == NoWorktree:
		return bad("changes are those of a worktree")
	case c != nil && (c.Commit == "" || c.Files < 0 || c.Added < 0 || c.Deleted < 0):
		return bad("changes name their commit and count from 0")
	}
	return nil
}

func inOrder(a, b SpentOn) bool {
	return a.Effect < b.Effect || a.Effect == b.Effect && a.Scope < b.Scope
}
