package fsck_test

import (
	"context"
	"strings"
	"testing"

	"world/store"
	"world/store/fsck"
)

// forger shows an audit other rows than there are, as whole ones: what a forger
// could write who knows how rows are digested. It changes each row that its
// function takes, or leaves it out.
type forger struct {
	store.Store
	change func(row any) (keep bool)
}

type forgedAudit struct {
	store.Audit
	change func(row any) bool
}

func (f forger) Audit(ctx context.Context) (store.Audit, error) {
	a, err := f.Store.Audit(ctx)
	return forgedAudit{a, f.change}, err
}

// forge visits the rows as the forger has them.
func forge[T any](a forgedAudit, visit func(store.Row[T]) error) func(store.Row[T]) error {
	return func(r store.Row[T]) error {
		if !a.change(&r.Value) {
			return nil
		}
		return visit(r)
	}
}

func (a forgedAudit) Objects(ctx context.Context, v func(store.Row[store.StoredObject]) error) error {
	return a.Audit.Objects(ctx, forge(a, v))
}
func (a forgedAudit) Entries(ctx context.Context, v func(store.Row[store.Entry]) error) error {
	return a.Audit.Entries(ctx, forge(a, v))
}
func (a forgedAudit) Claims(ctx context.Context, v func(store.Row[store.Claim]) error) error {
	return a.Audit.Claims(ctx, forge(a, v))
}
func (a forgedAudit) Intents(ctx context.Context, v func(store.Row[store.Intent]) error) error {
	return a.Audit.Intents(ctx, forge(a, v))
}
func (a forgedAudit) Ledgers(ctx context.Context, v func(store.Row[store.Ledger]) error) error {
	return a.Audit.Ledgers(ctx, forge(a, v))
}
func (a forgedAudit) Sessions(ctx context.Context, v func(store.Row[store.Session]) error) error {
	return a.Audit.Sessions(ctx, forge(a, v))
}
func (a forgedAudit) Registries(ctx context.Context, v func(store.Row[store.HeadMove]) error) error {
	return a.Audit.Registries(ctx, forge(a, v))
}
func (a forgedAudit) Leases(ctx context.Context, v func(store.Row[store.Lease]) error) error {
	return a.Audit.Leases(ctx, forge(a, v))
}
func (a forgedAudit) Head(ctx context.Context) (store.Row[store.Head], error) {
	r, err := a.Audit.Head(ctx)
	a.change(&r.Value)
	return r, err
}
func (a forgedAudit) LastTime(ctx context.Context) (store.Row[int64], error) {
	r, err := a.Audit.LastTime(ctx)
	a.change(&r.Value)
	return r, err
}

// on makes a forger's function of one for a single kind of row.
func on[T any](change func(v *T) bool) func(any) bool {
	return func(row any) bool {
		v, mine := row.(*T)
		return !mine || change(v)
	}
}

// set changes rows and keeps them all.
func set[T any](change func(v *T)) func(any) bool {
	return on(func(v *T) bool { change(v); return true })
}

// TestForgedRows changes rows behind their digests: fsck finds each from the rest.
func TestForgedRows(t *testing.T) {
	w := newWorld(t)
	w.populate()
	other := w.host.Ref()
	nowhere := store.RefOf([]byte("nowhere"))
	for _, tt := range []struct {
		name   string
		want   string
		change func(any) bool
	}{
		{"nothing", "", func(any) bool { return true }},
		{"bytes of an object", "its bytes hash to", set(func(o *store.StoredObject) { o.Bytes = []byte("other") })},
		{"key of an object", "its key is not a ref", set(func(o *store.StoredObject) { o.Ref = "x" })},
		{"object gone", "names an object that is not stored", on(func(o *store.StoredObject) bool { return o.Ref != w.session.Ref() })},
		{"source gone", "transitionFn names an object", on(func(o *store.StoredObject) bool { return o.Ref != w.source.Ref() })},

		{"index", "the entry before it is 2", set(func(e *store.Entry) {
			if e.Index == 3 {
				e.Index = 9
			}
		})},
		{"entry gone", "the entry before it is 2", on(func(e *store.Entry) bool { return e.Index != 3 })},
		{"last entry gone", "the log ends with 14", on(func(e *store.Entry) bool { return e.Index != 15 })},
		{"hash", "its header hashes to", set(func(e *store.Entry) { e.Hash = other })},
		{"author", "its header hashes to", set(func(e *store.Entry) { e.WrittenBy = "somebody" })},
		{"prev", "its prevEntryHash is not", set(func(e *store.Entry) { e.Prev = other })},
		{"world", "its world ref should be", set(func(e *store.Entry) { e.World = other })},
		{"state root", "its world ref should be", set(func(e *store.Entry) { e.StateRoot = other })},
		{"call", "its record is of invocation", set(func(e *store.Entry) {
			if e.Invocation != "" {
				e.Invocation += "x"
			}
		})},
		{"head", "the log ends with", set(func(h *store.Head) { h.Index-- })},
		{"head's world", "the log ends with", set(func(h *store.Head) { h.World = other })},
		{"clock", "it stands at", set(func(at *int64) { *at = 3 })},

		{"claim's input", "its claim is of another call", set(func(c *store.Claim) { c.Input = other })},
		{"claim's session", "names an object that is not stored", set(func(c *store.Claim) { c.Session = nowhere })},
		{"claims gone", "an entry and no claim", on(func(*store.Claim) bool { return false })},
		{"claims of intents gone", "an intent and no claim", on(func(*store.Claim) bool { return false })},
		{"claim too many", "and neither intent nor entry", set(func(c *store.Claim) { c.Invocation += "x" })},

		{"ordinal", "the ordinal before it is", set(func(i *store.Intent) { i.Ordinal += 2 })},
		{"cost", "the intents sum to", set(func(i *store.Intent) { i.Cost = 2 })},
		{"negative cost", "its cost is negative", set(func(i *store.Intent) { i.Cost = -1 })},
		{"intent of a pure call", "its record says nothing of intent effect:ep-1:0", set(func(i *store.Intent) {
			if i.Ordinal == 0 {
				i.Invocation = "mcp:ep-1:task-1"
			}
		})},
		{"intents of one call", "has another intent", set(func(i *store.Intent) { i.Invocation = "mcp:ep-1:task-2" })},
		{"effect", "does not say what the records say", set(func(i *store.Intent) { i.Effect = "Other" })},
		{"request", "does not say what the records say", set(func(i *store.Intent) { i.Request = other })},
		{"record", "does not say what the records say", set(func(i *store.Intent) {
			if i.Outcome.Record != "" {
				i.Outcome.Record = other
			}
		})},
		{"another ending", "does not say what the records say", set(func(i *store.Intent) {
			if i.Outcome.Status == store.StatusFailed {
				i.Outcome.Status = store.StatusSucceeded
			}
		})},
		{"no ending", "its intent no outcome", set(func(i *store.Intent) { i.Outcome = store.Outcome{} })},
		{"half an ending", "parts of an outcome", set(func(i *store.Intent) { i.Outcome.Status = "" })},
		{"an ending of no kind", "is none", set(func(i *store.Intent) { i.Outcome.Status = "skipped" })},
		{"an ending of its own", "the log no entry", set(func(i *store.Intent) {
			if i.Outcome.Status == "" {
				i.Outcome = store.Outcome{Status: store.StatusFailed, Record: other, Detail: other}
			}
		})},
		{"indeterminate with a record", "is indeterminate and has a record", set(func(i *store.Intent) {
			if i.Outcome.Status == store.StatusIndeterminate {
				i.Outcome.Record = other
			}
		})},
		{"reconciled and ended", "it has an outcome and is reconciled", set(func(i *store.Intent) { i.Reconciled = other })},
		{"word taken back", "whose row does not say so", set(func(i *store.Intent) { i.Reconciled = "" })},
		{"intents gone", "is missing", on(func(*store.Intent) bool { return false })},
		{"last intent gone", "intents sum to", on(func(i *store.Intent) bool { return i.Ordinal != 5 })},

		{"total", "the intents sum to", set(func(l *store.Ledger) { l.Spent[0].Total++ })},
		{"next ordinal", "the next ordinal is", set(func(l *store.Ledger) { l.Next++ })},
		{"totals gone", "its totals are missing", on(func(*store.Ledger) bool { return false })},
		{"totals of nobody", "the episode has no intents", set(func(l *store.Ledger) { l.Episode = "ep-9" })},
		{"epoch", "an intent is of", set(func(l *store.Lease) { l.Epoch = 0 })},
		{"lease gone", "and the episode has intents", on(func(*store.Lease) bool { return false })},

		{"session's end", "it is not as the log minted", set(func(s *store.Session) { s.ExpiresAt++ })},
		{"revocation taken back", "it is not as the log minted", set(func(s *store.Session) { s.Revocation = "" })},
		{"sessions gone", "the log minted 3", on(func(*store.Session) bool { return false })},
		{"registry", "the log moved it to", set(func(m *store.HeadMove) { m.To = other })},
		{"registry nowhere", "head names an object that is not stored", set(func(m *store.HeadMove) { m.To = nowhere })},
		{"registry gone", "is missing", on(func(*store.HeadMove) bool { return false })},
	} {
		r, err := fsck.Run(t.Context(), forger{w, tt.change}, fsck.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var all strings.Builder
		for _, f := range r.Findings {
			all.WriteString(f.String() + "\n")
		}
		if tt.want == "" && !r.Clean() || !strings.Contains(all.String(), tt.want) {
			t.Errorf("%s: want a finding %q, got\n%s", tt.name, tt.want, all.String())
		}
	}
}
