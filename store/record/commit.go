package record

import (
	"strings"
	"unicode"

	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/store"
)

// A commit over REST is one effect, brought about by its own log entry (D21).
const (
	CommitSkill  store.TransitionID = "world/commit" // what its claim names; no registry serves it
	CommitEffect law.Effect         = "World.Commit"
	CommitScope  law.Scope          = "world"
	CommitCost   int64              = 1        // calls
	CommitID                        = "commit" // name of the effect within its call
)

const (
	// MaxCommitObjects is how many objects one commit brings at most.
	MaxCommitObjects = 1024

	maxSemanticID  = 256 // bytes
	reservedPrefix = "world/"
	commitAuthor   = "rest:"
)

// CommitTriple is the one effect that a commit asks for.
var CommitTriple = law.Triple{Effect: CommitEffect, Scope: CommitScope, Cost: CommitCost}

// CommitAuthor is what the entry and the objects of an episode's commits say of their origin.
func CommitAuthor(episode store.EpisodeID) string { return commitAuthor + string(episode) }

// IsCommit reports whether an entry was committed over REST: nothing but a commit
// writes in such a name.
func IsCommit(e store.Entry) bool { return strings.HasPrefix(e.WrittenBy, commitAuthor) }

// CommitRecord is what a client asked to be committed. It holds the entry as the
// client computed it, and no payload: the refs bind those. It is the input of the
// commit's claim.
type CommitRecord struct {
	Episode        store.EpisodeID `json:"episodeId"`
	Observed       store.Ref       `json:"observedHead"` // world that the client had seen, "" for none
	Objects        []CommitObject  `json:"objects"`      // never null
	EntryIndex     int64           `json:"entryIndex"`   // and revision of the next world
	SemanticsEpoch int64           `json:"semanticsEpoch"`
	TransitionFn   store.Ref       `json:"transitionFn"`
	Interpreter    store.Ref       `json:"interpreter"`
	PrevEntryHash  store.Ref       `json:"prevEntryHash"`
	WrittenBy      string          `json:"writtenBy"`
	TransitionRef  store.Ref       `json:"transitionRef"`
	EntryHash      store.Ref       `json:"entryHash"` // and log head of the next world
	StateRoot      store.Ref       `json:"stateRoot"`
	World          store.Ref       `json:"world"`
}

// CommitObject is one object that a commit brings.
type CommitObject struct {
	Hash       store.Ref `json:"hash"`
	SemanticID string    `json:"semanticId"`
}

// Bytes is the record's byte form.
func (r CommitRecord) Bytes() []byte {
	if r.Objects == nil {
		r.Objects = []CommitObject{}
	}
	return canon.Encode(r)
}

// DecodeCommit reads a commit and refuses one that no client may make.
func DecodeCommit(raw []byte) (CommitRecord, error) {
	r, err := canon.DecodeExact[CommitRecord](raw, canon.Limits{})
	if err == nil && r.Objects == nil {
		err = fault.New("record: commit", fault.Invalid, "objects are absent")
	}
	if err != nil {
		return r, err
	}
	return r, r.Check()
}

// Entry is the log entry that the client computed.
func (r CommitRecord) Entry(invocation store.InvocationID) store.Entry {
	return store.Entry{
		Index: r.EntryIndex, SemanticsEpoch: r.SemanticsEpoch, TransitionFn: r.TransitionFn, Interpreter: r.Interpreter,
		Prev: r.PrevEntryHash, WrittenBy: r.WrittenBy, Hash: r.EntryHash, Transition: r.TransitionRef,
		StateRoot: r.StateRoot, World: r.World, Invocation: invocation,
	}
}

// Draft is the entry without its place in the chain.
func (r CommitRecord) Draft() store.Draft {
	return store.Draft{
		SemanticsEpoch: r.SemanticsEpoch, TransitionFn: r.TransitionFn, Interpreter: r.Interpreter,
		WrittenBy: r.WrittenBy, Transition: r.TransitionRef, StateRoot: r.StateRoot,
	}
}

// Payload is the payload of the effect request: it names the commit.
func (r CommitRecord) Payload() []byte {
	return canon.NewObject([]canon.Member{
		{Name: "commit", Value: canon.NewString(string(store.RefOf(r.Bytes())))},
	}).Bytes()
}

// CommitResult is the result of the effect when it succeeded: the world that the
// commit's entry selects.
func CommitResult(e store.Entry) []byte {
	return canon.NewObject([]canon.Member{
		{Name: "entryIndex", Value: canon.NewInt(e.Index)},
		{Name: "selectedHead", Value: canon.NewString(string(e.World))},
	}).Bytes()
}

// Check refuses, kind Invalid, what needs no store to be refused: it computes both
// hashes again, and holds the names that are the host's.
func (r CommitRecord) Check() error {
	bad := func(format string, args ...any) error {
		return fault.New("record: commit", fault.Invalid, format, args...)
	}
	if _, err := store.ParseEpisodeID(string(r.Episode)); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		ref  store.Ref
	}{
		{"transitionFn", r.TransitionFn}, {"interpreter", r.Interpreter}, {"prevEntryHash", r.PrevEntryHash},
		{"transitionRef", r.TransitionRef}, {"entryHash", r.EntryHash}, {"stateRoot", r.StateRoot}, {"nextWorld.ref", r.World},
	} {
		if _, err := store.ParseRef(string(f.ref)); err != nil {
			return bad("%s is not a ref: %s", f.name, fault.Detail(err))
		}
	}
	e := r.Entry("")
	switch {
	case !refOrNone(r.Observed):
		return bad("observedHead is neither a ref nor empty")
	case r.EntryIndex < 0 || r.SemanticsEpoch < 0:
		return bad("entryIndex or semanticsEpoch is negative")
	case r.WrittenBy != CommitAuthor(r.Episode):
		return bad("writtenBy of this session's commits is %q", CommitAuthor(r.Episode))
	case e.ComputeHash() != r.EntryHash:
		return bad("entryHash is not that of the header and transitionRef, which is %s", e.ComputeHash())
	case store.WorldRef(r.EntryIndex, r.StateRoot, r.EntryHash) != r.World:
		return bad("nextWorld.ref is not that of revision, stateRoot and logHead, which is %s", store.WorldRef(r.EntryIndex, r.StateRoot, r.EntryHash))
	case len(r.Objects) > MaxCommitObjects:
		return bad("a commit brings at most %d objects", MaxCommitObjects)
	}
	seen := map[CommitObject]bool{}
	for i, o := range r.Objects {
		if err := o.check(); err != nil {
			return bad("objects[%d]: %s", i, fault.Detail(err))
		}
		if seen[o] {
			return bad("objects[%d] is there twice", i)
		}
		seen[o] = true
	}
	return nil
}

func (o CommitObject) check() error {
	if _, err := store.ParseRef(string(o.Hash)); err != nil {
		return err
	}
	control := strings.ContainsFunc(o.SemanticID, func(r rune) bool { return !unicode.IsPrint(r) })
	if o.SemanticID == "" || len(o.SemanticID) > maxSemanticID || control {
		return fault.New("record: commit", fault.Invalid, "a semanticId is 1 to %d bytes of printable text", maxSemanticID)
	}
	if strings.HasPrefix(o.SemanticID, reservedPrefix) {
		return fault.New("record: commit", fault.Invalid, "semantic ids under %s are the host's", reservedPrefix)
	}
	return nil
}
