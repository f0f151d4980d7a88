package fsck_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

// world is a small real store: every kind of row, written as the daemon writes them.
type world struct {
	store.Store
	t           testing.TB
	ctx         context.Context
	path        string
	host        store.Object
	source      store.Object
	interpreter store.Object
	registry    store.Object
	session     store.Object
	minted      record.SessionRecord
	now         int64
	calls       int
}

const episode = store.EpisodeID("ep-1")

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), path: filepath.Join(t.TempDir(), "world.db"), now: 1_000}
	w.reopen()
	return w.begin()
}

// begin writes a genesis and the first session.
func (w *world) begin() *world {
	w.t.Helper()
	w.host = w.object(record.HostAct, []byte("genesis"))
	w.source = w.object(record.Source, []byte("def main(text): return text"))
	w.interpreter = w.object(record.Interpreter, []byte("an interpreter"))
	w.registry = w.object(record.Registry, w.revision(1, "").Bytes())
	genesis := w.object(record.Genesis, record.GenesisRecord{Registry: w.registry.Ref(), At: w.now, Nonce: strings.Repeat("0f", 16)}.Bytes())
	_, err := w.Begin(w.ctx, store.Act{
		Objects: []store.Object{w.host, w.source, w.interpreter, w.registry, genesis},
		Draft:   w.draft(genesis), At: w.now,
		Changes: []store.Change{store.MoveRegistry{Name: record.RegistryName, To: w.registry.Ref()}},
	})
	w.ok(err)
	w.mint(1)
	return w
}

func (w *world) reopen() {
	s, err := sqlite.Open(w.ctx, w.path, sqlite.Options{})
	w.ok(err)
	w.Store = s
	w.t.Cleanup(func() { s.Close() })
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("unexpected error: %v", err)
	}
}

func (w *world) object(semanticID string, b []byte) store.Object {
	return store.NewObject(semanticID, "host/test", b)
}

func (w *world) draft(about store.Object) store.Draft {
	return store.Draft{SemanticsEpoch: 1, TransitionFn: w.host.Ref(), Interpreter: w.interpreter.Ref(),
		WrittenBy: "host:test", Transition: about.Ref(), StateRoot: about.Ref()}
}

func (w *world) revision(n int64, parent store.Ref) record.RegistryRevision {
	schema := json.RawMessage(`{"type":"object"}`)
	one := record.Triple{Effect: "Workspace.Read", Scope: "worktree", Cost: 1}
	return record.RegistryRevision{Revision: n, Parent: parent, Entries: []record.Descriptor{{
		ID: "tools.read", Title: "read", Description: "reads", TransitionFn: w.source.Ref(), Interpreter: w.interpreter.Ref(),
		SemanticsEpoch: 1, InputSchema: schema, OutputSchema: schema, Access: one, DeclaredEffects: []record.Triple{one},
	}}}
}

func (w *world) act(about store.Object, changes ...store.Change) {
	w.t.Helper()
	_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{about}, Draft: w.draft(about), Changes: changes, At: w.now})
	w.ok(err)
}

// mint makes session n of the episode; later calls use the first.
func (w *world) mint(n int) store.CredentialID {
	w.t.Helper()
	r := record.SessionRecord{
		Credential: store.CredentialID(fmt.Sprintf("%064x", n)), Episode: episode, CreatedAt: w.now, ExpiresAt: w.now + 1000,
		Grants: []record.SessionGrant{{Effect: "Workspace.Read", Scope: "worktree", Budget: 6}, {Effect: "Workspace.Write", Scope: "worktree", Budget: 1}},
	}
	o := w.object(record.Session, r.Bytes())
	w.act(o, store.MintSession{Session: store.Session{Credential: r.Credential, Object: o.Ref(), Episode: episode, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt}})
	if n == 1 {
		w.session, w.minted = o, r
	}
	return r.Credential
}

func (w *world) revoke(id store.CredentialID) {
	w.t.Helper()
	s, err := w.Session(w.ctx, id)
	w.ok(err)
	o := w.object(record.Revocation, record.RevocationRecord{Session: s.Object, At: w.now}.Bytes())
	w.act(o, store.RevokeSession{Credential: id, Revocation: o.Ref()})
}

func (w *world) reconcile(ordinal int64) {
	w.t.Helper()
	lease, err := w.Lease(w.ctx, episode)
	w.ok(err)
	o := w.object(record.Reconciliation, record.ReconciliationRecord{Intent: store.IntentName(episode, ordinal),
		Verdict: "abandoned", Note: "nobody knows", By: "operator", At: w.now}.Bytes())
	w.act(o, store.ReconcileIntent{Episode: episode, Ordinal: ordinal, Reconciliation: o.Ref(), Lease: lease})
}

// call makes one call that plans an effect, or none, and lets it end in a way: a
// status of record, "open" for an intent left without outcome, "pure".
func (w *world) call(effect law.Effect, ends string) store.InvocationID {
	w.t.Helper()
	w.calls++
	w.now++
	id := store.NewInvocationID(store.SurfaceMCP, episode, fmt.Sprint("task-", w.calls))
	input := w.object(record.Input, fmt.Appendf(nil, `{"n":%d}`, w.calls))
	planned := w.object(record.Plan, fmt.Appendf(nil, `{"plan":%d}`, w.calls))
	ledger, err := w.Ledger(w.ctx, episode)
	w.ok(err)
	claim := store.Claim{Invocation: id, Episode: episode, Transition: "tools.read", TransitionFn: w.source.Ref(),
		Input: input.Ref(), Session: w.session.Ref(), At: w.now}
	rec := record.InvocationRecord{InvocationID: id, EpisodeID: episode, SkillID: "tools.read", TransitionFn: w.source.Ref(),
		Interpreter: w.interpreter.Ref(), SemanticsEpoch: 1, Input: input.Ref(), Plan: planned.Ref(), Registry: w.registry.Ref(),
		Session: w.session.Ref(), Ordinal: ledger.Next, Now: w.now}
	f := store.Finish{Claim: claim, At: w.now}
	if ends == "pure" {
		f.Objects = append(f.Objects, input, planned)
		return w.finish(f, rec)
	}

	q := record.EffectRequest{Effect: effect, Scope: "worktree", Cost: 1, Now: w.now, Payload: []byte(`{"path":"a"}`)}
	request := w.object(record.Request, q.Bytes())
	grants := w.minted.Law()
	for i := range grants {
		grants[i].Budget = law.Seed(grants[i].Budget, ledger.Of(grants[i].Effect, grants[i].Scope))
	}
	d := law.Decide(grants, q.Law())
	x := record.EffectOutcome{ID: "e1", Status: ends, Grant: d.Grant, Request: request.Ref()}
	if d.Verdict != law.Allowed {
		x.Status = record.StatusDenied
		r := w.object(record.Effect, record.DeniedEffect(q, d, request.Ref()).Bytes())
		x.Record = r.Ref()
		rec.Effects = []record.EffectOutcome{x}
		f.Objects = append(f.Objects, input, planned, request, r)
		return w.finish(f, rec)
	}

	lease, err := w.Lease(w.ctx, episode)
	w.ok(err)
	intent, err := w.Intend(w.ctx, store.Intention{Claim: claim, Objects: []store.Object{input, planned, request}, Effect: effect,
		Scope: "worktree", Cost: 1, Budget: w.minted.Grants[d.Grant].Budget, Request: request.Ref(), Lease: lease})
	w.ok(err)
	if ends == "open" {
		return id
	}
	f.Intent, f.Lease = &intent, lease
	f.Outcome = store.Outcome{At: w.now + 1}
	x.Intent = intent.Name()
	detail := w.object(record.Failure, fmt.Appendf(nil, "it went wrong %d", w.calls))
	switch ends {
	case record.StatusOK:
		detail = w.object(record.Result, fmt.Appendf(nil, `{"result":%d}`, w.calls))
		f.Outcome.Status = store.StatusSucceeded
	case record.StatusFailed:
		x.Detail, f.Outcome.Status = detail.Ref(), store.StatusFailed
	case record.StatusIndeterminate:
		x.Detail, f.Outcome.Status = detail.Ref(), store.StatusIndeterminate
	}
	f.Outcome.Detail = detail.Ref()
	f.Objects = append(f.Objects, detail)
	if ends != record.StatusIndeterminate {
		result := detail.Ref()
		if ends == record.StatusFailed {
			result = ""
		}
		r := w.object(record.Effect, record.RunEffect(q, d, request.Ref(), result).Bytes())
		x.Record, f.Outcome.Record = r.Ref(), r.Ref()
		f.Objects = append(f.Objects, r)
	}
	rec.Effects = []record.EffectOutcome{x}
	return w.finish(f, rec)
}

func (w *world) finish(f store.Finish, rec record.InvocationRecord) store.InvocationID {
	w.t.Helper()
	output := w.object(record.Output, fmt.Appendf(nil, `{"output":%d}`, w.calls))
	rec.Output = output.Ref()
	call := w.object(record.Invocation, rec.Bytes())
	f.Objects = append(f.Objects, output, call)
	f.Draft = store.Draft{SemanticsEpoch: 1, TransitionFn: w.source.Ref(), Interpreter: w.interpreter.Ref(),
		WrittenBy: "coordinator:mcp", Transition: call.Ref(), StateRoot: output.Ref()}
	_, err := w.Commit(w.ctx, f)
	w.ok(err)
	return f.Claim.Invocation
}

// populate writes every kind of row and every way a call ends.
func (w *world) populate() {
	w.t.Helper()
	for _, ends := range []string{"pure", record.StatusOK, record.StatusFailed, record.StatusIndeterminate, record.StatusIndeterminate, "open"} {
		w.call("Workspace.Read", ends)
	}
	w.call("Workspace.Write", record.StatusOK)
	w.call("Workspace.Write", record.StatusOK) // denied: budget
	w.call("Net.Send", record.StatusOK)        // denied: no such effect
	w.reconcile(2)
	w.revoke(w.mint(2))
	w.mint(3)
	next := w.object(record.Registry, w.revision(2, w.registry.Ref()).Bytes())
	w.act(next, store.MoveRegistry{Name: record.RegistryName, From: w.registry.Ref(), To: next.Ref()})
	other := store.NewObject("another/part", "host/test", w.source.Bytes())
	w.ok(w.Keep(w.ctx, []store.Object{other}))
	w.now += 5000
	w.call("Workspace.Read", record.StatusOK) // denied: expired
}

// dump reads everything that a store gives back, by every way that it can be
// asked, and ends with the first error.
func dump(ctx context.Context, r store.Reader, refs []store.Ref, ids []store.InvocationID) string {
	var b strings.Builder
	put := func(v any, err error) {
		if err != nil {
			err = fmt.Errorf("%v", fault.KindOf(err))
		}
		fmt.Fprintln(&b, v, err)
	}
	put(r.LastTime(ctx))
	put(r.Head(ctx))
	entries, err := r.Entries(ctx, 0, 500)
	put(entries, err)
	put(r.Entries(ctx, -1<<63, 500))
	for i := range entries {
		put(r.Entry(ctx, int64(i)))
	}
	for _, ref := range refs {
		put(r.Object(ctx, ref))
		put(r.Labels(ctx, ref))
		put(r.EntryAbout(ctx, ref))
	}
	for _, id := range ids {
		put(r.Claim(ctx, id))
		put(r.EntryOf(ctx, id))
		put(r.IntentOf(ctx, id))
	}
	intents, err := r.Intents(ctx, episode, 0, 500)
	put(intents, err)
	for i := range intents {
		put(r.Intent(ctx, episode, int64(i)))
	}
	put(r.Ledger(ctx, episode))
	put(r.Indeterminate(ctx, 500))
	sessions, err := r.Sessions(ctx, "", 500)
	put(sessions, err)
	for i := range 5 {
		put(r.Session(ctx, store.CredentialID(fmt.Sprintf("%064x", i))))
	}
	put(r.Registry(ctx, record.RegistryName))
	return b.String()
}
