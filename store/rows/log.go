package rows

import (
	"fmt"

	"world/store"
)

// EntryColumns are the columns of a log entry.
const EntryColumns = "idx, semantics_epoch, transition_fn, interpreter, prev, written_by, hash, transition_ref, state_root, world, invocation, digest"

// Entries reads log entries, one after another.
func Entries() func(Scanner) (store.Entry, error) {
	return reading(EntryWhere, store.Entry.Digest, func(e *store.Entry) []any {
		return []any{&e.Index, &e.SemanticsEpoch, Ref(&e.TransitionFn), Ref(&e.Interpreter), Ref(&e.Prev), &e.WrittenBy,
			Ref(&e.Hash), Ref(&e.Transition), Ref(&e.StateRoot), Ref(&e.World), &e.Invocation}
	})
}

// ScanEntry reads a log entry.
func ScanEntry(row Scanner) (store.Entry, error) { return Entries()(row) }

// EntryArgs are a log entry's values.
func EntryArgs(e store.Entry) []any {
	d := e.Digest()
	return []any{e.Index, e.SemanticsEpoch, Blob(e.TransitionFn), Blob(e.Interpreter), Blob(e.Prev), e.WrittenBy,
		Blob(e.Hash), Blob(e.Transition), Blob(e.StateRoot), Blob(e.World), string(e.Invocation), d[:]}
}

// EntryWhere names an entry's row.
func EntryWhere(e store.Entry) string { return fmt.Sprintf("log %d", e.Index) }

// HeadColumns are the columns of the head.
const HeadColumns = "idx, world, state_root, entry, digest"

// ScanHead reads the head; before lists what comes before its columns.
func ScanHead(row Scanner, before ...any) (h store.Head, err error) {
	err = Whole(row, &h, func(store.Head) string { return "head" }, store.Head.Digest,
		append(before, &h.Index, Ref(&h.World), Ref(&h.StateRoot), Ref(&h.Entry))...)
	return h, err
}

// HeadArgs are the head's values.
func HeadArgs(h store.Head) []any {
	d := h.Digest()
	return []any{h.Index, Blob(h.World), Blob(h.StateRoot), Blob(h.Entry), d[:]}
}

// ClockColumns are the columns of the greatest logical time.
const ClockColumns = "at, digest"

// ScanClock reads the greatest logical time.
func ScanClock(row Scanner) (at int64, err error) {
	err = Whole(row, &at, func(int64) string { return "clock" }, store.ClockDigest, &at)
	return at, err
}

// SessionColumns are the columns of a session.
const SessionColumns = "seq, credential, object, episode, created_at, expires_at, revocation, digest"

// Session is a session with its place in mint order.
type Session struct {
	Seq int64
	store.Session
}

// Digest guards the row.
func (r Session) Digest() store.Digest { return r.Session.Digest(r.Seq) }

// ScanSession reads a session.
func ScanSession(row Scanner) (r Session, err error) {
	s := &r.Session
	err = Whole(row, &r, SessionWhere, Session.Digest,
		&r.Seq, &s.Credential, Ref(&s.Object), &s.Episode, &s.CreatedAt, &s.ExpiresAt, Ref(&s.Revocation))
	return r, err
}

// SessionArgs are a session's values.
func SessionArgs(r Session) []any {
	d := r.Digest()
	return []any{r.Seq, string(r.Credential), Blob(r.Object), string(r.Episode), r.CreatedAt, r.ExpiresAt, Blob(r.Revocation), d[:]}
}

// SessionWhere names a session's row.
func SessionWhere(r Session) string { return fmt.Sprintf("session %d", r.Seq) }

// RegistryColumns are the columns of a registry head.
const RegistryColumns = "name, object, digest"

// ScanRegistry reads a registry head.
func ScanRegistry(row Scanner) (m store.HeadMove, err error) {
	err = Whole(row, &m, RegistryWhere, store.HeadMove.Digest, &m.Name, Ref(&m.To))
	return m, err
}

// RegistryWhere names a registry head's row.
func RegistryWhere(m store.HeadMove) string { return fmt.Sprintf("registry %q", m.Name) }
