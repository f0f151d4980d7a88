package sqlite

import (
	"fmt"

	"world/store"
)

// Every kind of row has its columns in one place, a function that reads them and
// says whether they are whole, and the arguments that write them.

type scanner interface{ Scan(dest ...any) error }

// blob is a ref as it is kept: 32 bytes, or none for "".
func blob(r store.Ref) []byte {
	if r == "" {
		return []byte{}
	}
	sum := r.Sum()
	return sum[:]
}

// refColumn reads kept refs back.
type refColumn struct{ to *store.Ref }

func ref(to *store.Ref) refColumn { return refColumn{to} }

// Scan implements sql.Scanner.
func (c refColumn) Scan(v any) error {
	b, ok := v.([]byte)
	switch {
	case ok && len(b) == 32:
		*c.to = store.RefFromSum([32]byte(b))
		return nil
	case ok && len(b) == 0 || v == nil:
		*c.to = ""
		return nil
	}
	return fmt.Errorf("a ref column holds %T of the wrong size", v)
}

// whole reads one row into v, digest last, and compares. Where names the row.
func whole[T any](row scanner, v *T, where func(T) string, want func(T) store.Digest, dest ...any) error {
	var got []byte
	if err := row.Scan(append(dest, &got)...); err != nil {
		return damaged("%s does not decode", where(*v))
	}
	return matches(got, want(*v), func() string { return where(*v) })
}

// matches compares a stored digest with the one that the row should have.
func matches(got []byte, want store.Digest, where func() string) error {
	if string(want[:]) != string(got) {
		return damaged("%s does not match its digest", where())
	}
	return nil
}

const entryColumns = "idx, semantics_epoch, transition_fn, interpreter, prev, written_by, hash, transition_ref, state_root, world, invocation, digest"

func scanEntry(row scanner) (e store.Entry, err error) {
	err = whole(row, &e, entryWhere, store.Entry.Digest,
		&e.Index, &e.SemanticsEpoch, ref(&e.TransitionFn), ref(&e.Interpreter), ref(&e.Prev), &e.WrittenBy,
		ref(&e.Hash), ref(&e.Transition), ref(&e.StateRoot), ref(&e.World), &e.Invocation)
	return e, err
}

func entryArgs(e store.Entry) []any {
	d := e.Digest()
	return []any{e.Index, e.SemanticsEpoch, blob(e.TransitionFn), blob(e.Interpreter), blob(e.Prev), e.WrittenBy,
		blob(e.Hash), blob(e.Transition), blob(e.StateRoot), blob(e.World), string(e.Invocation), d[:]}
}

const headColumns = "idx, world, state_root, entry, digest"

func scanHead(row scanner) (h store.Head, err error) {
	err = whole(row, &h, headWhere, store.Head.Digest,
		&h.Index, ref(&h.World), ref(&h.StateRoot), ref(&h.Entry))
	return h, err
}

func headArgs(h store.Head) []any {
	d := h.Digest()
	return []any{h.Index, blob(h.World), blob(h.StateRoot), blob(h.Entry), d[:]}
}

const claimColumns = "invocation, episode, transition, transition_fn, input, session, at, digest"

func scanClaim(row scanner) (c store.Claim, err error) {
	err = whole(row, &c, claimWhere, store.Claim.Digest,
		&c.Invocation, &c.Episode, &c.Transition, ref(&c.TransitionFn), ref(&c.Input), ref(&c.Session), &c.At)
	return c, err
}

func claimArgs(c store.Claim) []any {
	d := c.Digest()
	return []any{string(c.Invocation), string(c.Episode), string(c.Transition),
		blob(c.TransitionFn), blob(c.Input), blob(c.Session), c.At, d[:]}
}

const intentColumns = "episode, ordinal, invocation, effect, scope, cost, request, at, epoch, status, record, detail, outcome_at, reconciled, digest"

func scanIntent(row scanner) (i store.Intent, err error) {
	err = whole(row, &i, intentWhere, store.Intent.Digest,
		&i.Episode, &i.Ordinal, &i.Invocation, &i.Effect, &i.Scope, &i.Cost, ref(&i.Request), &i.At, &i.Epoch,
		&i.Outcome.Status, ref(&i.Outcome.Record), ref(&i.Outcome.Detail), &i.Outcome.At, ref(&i.Reconciled))
	return i, err
}

func intentArgs(i store.Intent) []any {
	d := i.Digest()
	return []any{string(i.Episode), i.Ordinal, string(i.Invocation), string(i.Effect), string(i.Scope), i.Cost,
		blob(i.Request), i.At, i.Epoch, string(i.Outcome.Status), blob(i.Outcome.Record), blob(i.Outcome.Detail),
		i.Outcome.At, blob(i.Reconciled), d[:]}
}

const sessionColumns = "seq, credential, object, episode, created_at, expires_at, revocation, digest"

// sessionRow is a session with its place in mint order.
type sessionRow struct {
	seq     int64
	session store.Session
}

func (r sessionRow) digest() store.Digest { return r.session.Digest(r.seq) }

func scanSession(row scanner) (r sessionRow, err error) {
	s := &r.session
	err = whole(row, &r, sessionWhere, sessionRow.digest,
		&r.seq, &s.Credential, ref(&s.Object), &s.Episode, &s.CreatedAt, &s.ExpiresAt, ref(&s.Revocation))
	return r, err
}

func sessionArgs(r sessionRow) []any {
	s, d := r.session, r.digest()
	return []any{r.seq, string(s.Credential), blob(s.Object), string(s.Episode), s.CreatedAt, s.ExpiresAt, blob(s.Revocation), d[:]}
}

const spendColumns = "episode, effect, scope, total, digest"

// spentRow is one running total of an episode.
type spentRow struct {
	episode store.EpisodeID
	spent   store.Spent
}

func (r spentRow) digest() store.Digest { return r.spent.Digest(r.episode) }

func (r spentRow) check(digest []byte) error {
	return matches(digest, r.digest(), func() string { return spentWhere(r) })
}

func scanSpent(row scanner) (r spentRow, err error) {
	err = whole(row, &r, spentWhere, spentRow.digest, &r.episode, &r.spent.Effect, &r.spent.Scope, &r.spent.Total)
	return r, err
}

const registryColumns = "name, object, digest"

func scanRegistry(row scanner) (m store.HeadMove, err error) {
	err = whole(row, &m, registryWhere, store.HeadMove.Digest, &m.Name, ref(&m.To))
	return m, err
}

const leaseColumns = "episode, epoch, digest"

func scanLease(row scanner) (l store.Lease, err error) {
	err = whole(row, &l, leaseWhere, store.Lease.Digest, &l.Episode, &l.Epoch)
	return l, err
}

func scanClock(row scanner) (at int64, err error) {
	err = whole(row, &at, func(int64) string { return "clock" }, store.ClockDigest, &at)
	return at, err
}

// Rows are named alike in errors and in findings.
func headWhere(store.Head) string       { return "head" }
func entryWhere(e store.Entry) string   { return fmt.Sprintf("log %d", e.Index) }
func claimWhere(c store.Claim) string   { return fmt.Sprintf("claim %q", c.Invocation) }
func intentWhere(i store.Intent) string { return fmt.Sprintf("intent %q", i.Name()) }
func sessionWhere(r sessionRow) string  { return fmt.Sprintf("session %d", r.seq) }
func spentWhere(r spentRow) string {
	return fmt.Sprintf("spend %q %q %q", r.episode, r.spent.Effect, r.spent.Scope)
}
func registryWhere(m store.HeadMove) string { return fmt.Sprintf("registry %q", m.Name) }
func leaseWhere(l store.Lease) string       { return fmt.Sprintf("lease %q", l.Episode) }
