package record

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/store"
)

// RegistryName is the registry head that names the served transitions.
const RegistryName = "world/transitions"

// homePrefix begins the name of each registry head that names a home.
const homePrefix = "world/home/"

// HomeName is the registry head that names the session with which an episode got
// its worktree: that session's home is the episode's (D13).
func HomeName(episode store.EpisodeID) string { return homePrefix + string(episode) }

// HomeOf is the inverse of HomeName; false for a head that names no home.
func HomeOf(name string) (store.EpisodeID, bool) {
	episode, ok := strings.CutPrefix(name, homePrefix)
	return store.EpisodeID(episode), ok
}

// RegistryRevision is one state of the transition registry. Revisions chain by Parent.
type RegistryRevision struct {
	Revision int64        `json:"revision"` // from 1
	Parent   store.Ref    `json:"parent"`   // "" for revision 1
	Entries  []Descriptor `json:"entries"`  // strictly sorted by id, at most 1024
}

// Descriptor publishes one transition: its code and interpreter pinned by hash,
// who may see it, and which effects it may plan.
type Descriptor struct {
	ID              store.TransitionID `json:"id"`
	Title           string             `json:"title"`
	Description     string             `json:"description"`
	TransitionFn    store.Ref          `json:"transitionFn"`
	Interpreter     store.Ref          `json:"interpreter"`
	SemanticsEpoch  int64              `json:"semanticsEpoch"`
	InputSchema     json.RawMessage    `json:"inputSchema"`  // canonical JSON object
	OutputSchema    json.RawMessage    `json:"outputSchema"` // canonical JSON object
	Access          Triple             `json:"access"`
	DeclaredEffects []Triple           `json:"declaredEffects"` // no duplicates
}

// Triple is the wire form of law.Triple.
type Triple struct {
	Effect law.Effect `json:"effect"`
	Scope  law.Scope  `json:"scope"`
	Cost   int64      `json:"cost"` // calls
}

// Law returns the triple as the law reads it.
func (t Triple) Law() law.Triple { return law.Triple(t) }

// Bytes is the revision's byte form.
func (r RegistryRevision) Bytes() []byte { return canon.Encode(r) }

// DecodeRegistry reads a registry revision and checks every descriptor.
func DecodeRegistry(raw []byte) (RegistryRevision, error) {
	r, err := canon.DecodeExact[RegistryRevision](raw, canon.Limits{Bytes: 16 << 20})
	if err != nil {
		return r, err
	}
	return r, r.Check()
}

// Check holds what every registry revision promises.
func (r RegistryRevision) Check() error {
	bad := func(format string, args ...any) error {
		return fault.New("record: registry", fault.Invalid, format, args...)
	}
	if r.Revision < 1 || (r.Revision == 1) != (r.Parent == "") || len(r.Entries) > 1024 {
		return bad("revision %d does not fit its parent or holds over 1024 entries", r.Revision)
	}
	for i, d := range r.Entries {
		if i > 0 && r.Entries[i-1].ID >= d.ID {
			return bad("entry %q is out of order", d.ID)
		}
		if err := d.check(); err != nil {
			return err
		}
	}
	return nil
}

func (d Descriptor) check() error {
	bad := func(what string) error {
		return fault.New("record: registry", fault.Invalid, "transition %q: %s", d.ID, what)
	}
	if _, err := store.ParseTransitionID(string(d.ID)); err != nil {
		return err
	}
	for _, ref := range []store.Ref{d.TransitionFn, d.Interpreter} {
		if _, err := store.ParseRef(string(ref)); err != nil {
			return bad("transitionFn or interpreter is not a ref")
		}
	}
	for _, schema := range []json.RawMessage{d.InputSchema, d.OutputSchema} {
		if v, err := canon.Parse(schema, canon.Limits{Bytes: 64 << 10}); err != nil || v.Kind() != canon.Object {
			return bad("a schema is a JSON object of at most 65536 bytes")
		}
	}
	seen := map[Triple]bool{}
	for _, t := range d.DeclaredEffects {
		if t.Effect == "" || t.Scope == "" || t.Cost < 0 || seen[t] {
			return bad("declared effects are distinct triples with a cost of 0 or more")
		}
		seen[t] = true
	}
	if d.DeclaredEffects == nil || d.SemanticsEpoch < 0 || d.Access.Cost < 0 {
		return bad("a number is out of range or declared effects are absent")
	}
	return nil
}

// GenesisRecord is what the first entry of a store says of it.
type GenesisRecord struct {
	Registry store.Ref `json:"registry"` // first revision
	At       int64     `json:"at"`       // logical unix seconds
	Nonce    string    `json:"nonce"`    // 32 hex digits: no two stores share a genesis
}

// Bytes is the record's byte form.
func (r GenesisRecord) Bytes() []byte { return canon.Encode(r) }

// DecodeGenesis reads a genesis record.
func DecodeGenesis(raw []byte) (GenesisRecord, error) {
	r, err := canon.DecodeExact[GenesisRecord](raw, canon.Limits{Bytes: 64 << 10})
	if err != nil {
		return r, err
	}
	if nonce, err := hex.DecodeString(r.Nonce); err != nil || len(nonce) != 16 || r.At < 0 {
		return r, fault.New("record: genesis", fault.Invalid, "nonce or time out of range")
	}
	_, err = store.ParseRef(string(r.Registry))
	return r, err
}
