package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// Digest guards the columns of one row, so that every engine can tell a row
// that it wrote from one that was changed underneath it (D16). It guards
// against damage, not against a forger: fsck re-derives rows for that.
type Digest [sha256.Size]byte

// RowDigest hashes a table's name and its columns, each with its length before it.
// Engines digest rows of their own with it; the rows of the contract have their
// own functions below.
func RowDigest(table string, texts []string, numbers ...int64) Digest {
	var room [1536]byte // few rows are longer, and these take what they need
	b := appendCounted(room[:0], rowDomain, table)
	for _, s := range texts {
		b = appendCounted(b, s, "")
	}
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return sha256.Sum256(b)
}

// rowDomain tells a row's digest from a hash of anything else.
const rowDomain = "world/row/v1/"

// appendCounted appends a text of two parts, with its length before it.
func appendCounted(b []byte, s, rest string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(s)+len(rest)))
	return append(append(b, s...), rest...)
}

// ObjectDigest guards an object's row; the bytes are guarded by their ref.
func ObjectDigest(ref Ref, first Label) Digest {
	return RowDigest("objects", []string{string(ref), first.SemanticID, first.Provenance})
}

// LabelDigest guards a further label of an object.
func LabelDigest(ref Ref, l Label) Digest {
	return RowDigest("labels", []string{string(ref), l.SemanticID, l.Provenance})
}

// Digest guards an entry's row.
func (e Entry) Digest() Digest {
	return RowDigest("log", []string{
		string(e.TransitionFn), string(e.Interpreter), string(e.Prev), e.WrittenBy, string(e.Hash),
		string(e.Transition), string(e.StateRoot), string(e.World), string(e.Invocation),
	}, e.Index, e.SemanticsEpoch)
}

// Digest guards the head's row.
func (h Head) Digest() Digest {
	return RowDigest("head", []string{string(h.World), string(h.StateRoot), string(h.Entry)}, h.Index)
}

// Digest guards a claim's row.
func (c Claim) Digest() Digest {
	return RowDigest("claims", []string{
		string(c.Invocation), string(c.Episode), string(c.Transition),
		string(c.TransitionFn), string(c.Input), string(c.Session),
	}, c.At)
}

// Digest guards an intent's row, outcome and reconciliation included.
func (i Intent) Digest() Digest {
	return RowDigest("intents", []string{
		string(i.Episode), string(i.Invocation), string(i.Effect), string(i.Scope), string(i.Request),
		string(i.Outcome.Status), string(i.Outcome.Record), string(i.Outcome.Detail), string(i.Reconciled),
	}, i.Ordinal, i.Cost, i.At, i.Epoch, i.Outcome.At)
}

// Digest guards the row of one running total.
func (s Spent) Digest(episode EpisodeID) Digest {
	return RowDigest("spend", []string{string(episode), string(s.Effect), string(s.Scope)}, s.Total)
}

// Digest guards a session's row; seq is its place in mint order.
func (s Session) Digest(seq int64) Digest {
	return RowDigest("sessions", []string{
		string(s.Credential), string(s.Object), string(s.Episode), string(s.Revocation),
	}, seq, s.CreatedAt, s.ExpiresAt)
}

// Digest guards the row of a registry head.
func (m HeadMove) Digest() Digest {
	return RowDigest("registry", []string{m.Name, string(m.To)})
}

// Digest guards a lease's row.
func (l Lease) Digest() Digest { return RowDigest("leases", []string{string(l.Episode)}, l.Epoch) }

// ClockDigest guards the row of the greatest logical time.
func ClockDigest(at int64) Digest { return RowDigest("clock", nil, at) }

// MetaDigest guards a row of an engine's own bookkeeping.
func MetaDigest(key, value string) Digest { return RowDigest("meta", []string{key, value}) }
