package fsck_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"world/fault"
	"world/store"
	"world/store/fsck"
	"world/store/record"
	"world/store/sqlite"
)

func run(t testing.TB, s store.Auditor) fsck.Report {
	t.Helper()
	r, err := fsck.Run(t.Context(), s, fsck.Options{})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return r
}

func TestCleanStore(t *testing.T) {
	w := newWorld(t)
	if r := run(t, w); !r.Clean() {
		t.Fatalf("a new store: %v", r.Findings)
	}
	w.populate()
	r := run(t, w)
	if !r.Clean() {
		t.Fatalf("a populated store: %v", r.Findings)
	}
	if r.Entries != 16 || r.Claims != 10 || r.Intents != 6 || r.Objects < 50 {
		t.Fatalf("too little was looked at: %+v", r)
	}
	recent, err := fsck.Recent(t.Context(), w)
	if err != nil || !recent.Clean() || recent.Entries != 16 || recent.Intents != 6 {
		t.Fatalf("recent: %+v, %v", recent, err)
	}
	w.ok(w.Close())
	s, err := sqlite.Open(t.Context(), w.path, sqlite.Options{ReadOnly: true})
	w.ok(err)
	defer s.Close()
	if r := run(t, s); !r.Clean() {
		t.Fatalf("the same store from outside: %v", r.Findings)
	}
}

func TestEmptyStore(t *testing.T) {
	w := &world{t: t, ctx: t.Context(), path: t.TempDir() + "/world.db"}
	w.reopen()
	if r := run(t, w); !r.Clean() || r.Objects != 0 {
		t.Fatalf("an empty store: %+v", r)
	}
	if r, err := fsck.Recent(t.Context(), w); err != nil || !r.Clean() {
		t.Fatalf("recent: %+v, %v", r, err)
	}
}

func TestProgressAndContext(t *testing.T) {
	w := newWorld(t)
	var many []store.Object
	for i := range 20_001 {
		many = append(many, w.object("x", []byte{byte(i), byte(i >> 8)}))
	}
	w.ok(w.Keep(w.ctx, many))
	var seen []int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := fsck.Run(ctx, w, fsck.Options{Progress: func(kind string, rows int64) {
		if kind != "objects" {
			t.Errorf("progress of %s", kind)
		}
		seen = append(seen, rows)
	}})
	if err != nil || !r.Clean() || len(seen) != 2 || seen[1] != 20_000 {
		t.Fatalf("progress %v, %v, %v", seen, r.Findings, err)
	}
	_, err = fsck.Run(ctx, w, fsck.Options{Progress: func(string, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a run that is cancelled: %v", err)
	}
}

// TestForgery writes what the store's contract allows and the rules of evidence
// do not: digests and chain are right, and fsck must see that the story is not.
func TestForgery(t *testing.T) {
	request := func(w *world, now int64) (record.EffectRequest, store.Object) {
		q := record.EffectRequest{Effect: "Workspace.Read", Scope: "worktree", Cost: 1, Now: now, Payload: []byte("{}")}
		return q, w.object(record.Request, q.Bytes())
	}
	// forge commits a denied call after spoiling its parts.
	forge := func(w *world, spoil func(rec *record.InvocationRecord, r *record.EffectRecord, claim *store.Claim)) {
		q, asked := request(w, w.now)
		input := w.object(record.Input, []byte(`{"forged":true}`))
		claim := store.Claim{Invocation: "mcp:ep-1:forged", Episode: episode, Transition: "tools.read",
			TransitionFn: w.source.Ref(), Input: input.Ref(), Session: w.session.Ref(), At: w.now}
		rec := record.InvocationRecord{InvocationID: claim.Invocation, EpisodeID: episode, SkillID: "tools.read",
			TransitionFn: w.source.Ref(), Interpreter: w.interpreter.Ref(), SemanticsEpoch: 1, Input: input.Ref(),
			Registry: w.registry.Ref(), Session: w.session.Ref(), Ordinal: 6, Now: w.now}
		denied := record.EffectRecord{Effect: q.Effect, Scope: q.Scope, Cost: 1, BudgetBefore: 1, BudgetAfter: 1, Denial: "denied:expired", RequestRef: asked.Ref()}
		spoil(&rec, &denied, &claim)
		r := w.object(record.Effect, denied.Bytes())
		if rec.Effects == nil {
			rec.Effects = []record.EffectOutcome{{ID: "e1", Status: record.StatusDenied, Grant: 0, Request: asked.Ref(), Record: r.Ref()}}
		}
		w.finish(store.Finish{Claim: claim, Objects: []store.Object{input, asked, r}, At: w.now}, rec)
	}
	type (
		rec   = record.InvocationRecord
		eff   = record.EffectRecord
		claim = store.Claim
	)
	for _, tt := range []struct {
		name  string
		want  string
		write func(w *world)
	}{
		{"nothing forged", "", func(w *world) { forge(w, func(*rec, *eff, *claim) {}) }},
		{"denied by another label", "its record says", func(w *world) {
			forge(w, func(_ *rec, r *eff, _ *claim) { r.Denial = "denied:budget" })
		}},
		{"denied with another budget", "its record says", func(w *world) {
			forge(w, func(_ *rec, r *eff, _ *claim) { r.BudgetBefore, r.BudgetAfter = 3, 3 })
		}},
		{"denied as of another ordinal", "its record says", func(w *world) {
			forge(w, func(r *rec, _ *eff, _ *claim) { r.Ordinal = 2 })
		}},
		{"denied at another time", "it was requested at", func(w *world) {
			forge(w, func(r *rec, _ *eff, _ *claim) { r.Now-- })
		}},
		{"decided by another grant", "the law says 0", func(w *world) {
			forge(w, func(r *rec, e *eff, _ *claim) {
				_, asked := request(w, w.now)
				r.Effects = []record.EffectOutcome{{ID: "e1", Status: record.StatusDenied, Grant: 1, Request: asked.Ref(), Record: w.object(record.Effect, e.Bytes()).Ref()}}
			})
		}},
		{"denied what the law allows", "the law says allowed", func(w *world) {
			w.now = 1_500
			forge(w, func(_ *rec, r *eff, _ *claim) { r.Denial = "denied:scope" })
		}},
		{"ran without an intent", "is missing", func(w *world) {
			w.now = 1_500
			q, asked := request(w, w.now)
			result := w.object(record.Result, []byte("{}"))
			ran := w.object(record.Effect, record.EffectRecord{Effect: q.Effect, Scope: q.Scope, Cost: 1, BudgetBefore: 1, Allowed: true, RequestRef: asked.Ref(), ResultRef: result.Ref()}.Bytes())
			w.ok(w.Keep(w.ctx, []store.Object{asked, result, ran}))
			forge(w, func(r *rec, _ *eff, _ *claim) {
				r.Effects = []record.EffectOutcome{{ID: "e1", Status: record.StatusOK, Request: asked.Ref(), Record: ran.Ref(), Intent: "effect:ep-1:6"}}
			})
		}},
		{"record of another call", "its record is of invocation", func(w *world) {
			forge(w, func(r *rec, _ *eff, _ *claim) { r.InvocationID = "mcp:ep-1:other" })
		}},
		{"record of another interpreter", "another transition or interpreter", func(w *world) {
			forge(w, func(r *rec, _ *eff, _ *claim) { r.Interpreter = w.host.Ref() })
		}},
		{"claim of another input", "its claim is of another call", func(w *world) {
			forge(w, func(_ *rec, _ *eff, c *claim) { c.Input = w.host.Ref() })
		}},
		{"session of another episode", "its session is of episode", func(w *world) {
			r := w.minted
			r.Episode, r.Credential = "ep-2", store.CredentialID(strings.Repeat("d", 64))
			o := w.object(record.Session, r.Bytes())
			w.act(o, store.MintSession{Session: store.Session{Credential: r.Credential, Object: o.Ref(), Episode: "ep-2", CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt}})
			forge(w, func(r *rec, _ *eff, c *claim) { r.Session, c.Session = o.Ref(), o.Ref() })
		}},
		{"plan that is not stored", "plan names an object that is not stored", func(w *world) {
			forge(w, func(r *rec, _ *eff, _ *claim) { r.Plan = store.RefOf([]byte("nowhere")) })
		}},
		{"request that is not stored", "request names an object that is not stored", func(w *world) {
			forge(w, func(r *rec, e *eff, _ *claim) {
				r.Effects = []record.EffectOutcome{{ID: "e1", Status: record.StatusDenied, Request: store.RefOf([]byte("nowhere")), Record: w.object(record.Effect, e.Bytes()).Ref()}}
			})
		}},
		{"no record at all", "invocation record cannot be read", func(w *world) {
			claim := store.Claim{Invocation: "mcp:ep-1:bare", Episode: episode, Transition: "tools.read",
				TransitionFn: w.source.Ref(), Input: w.source.Ref(), Session: w.session.Ref()}
			_, err := w.Commit(w.ctx, store.Finish{Claim: claim, Draft: w.draft(w.source)})
			w.ok(err)
		}},
		{"object that does not decode", "does not decode", func(w *world) {
			w.ok(w.Keep(w.ctx, []store.Object{w.object(record.Session, []byte(`{}`))}))
		}},
		{"session without a mint", "the log has no mint of it", func(w *world) {
			s := w.object("x", []byte("not the session record"))
			w.act(s, store.MintSession{Session: store.Session{Credential: store.CredentialID(strings.Repeat("a", 64)), Object: s.Ref(), Episode: episode, ExpiresAt: 1}})
		}},
		{"session unlike its record", "it is not as the log minted", func(w *world) {
			r := w.minted
			r.Credential = store.CredentialID(strings.Repeat("b", 64))
			o := w.object(record.Session, r.Bytes())
			w.act(o, store.MintSession{Session: store.Session{Credential: r.Credential, Object: o.Ref(), Episode: episode, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt + 1}})
		}},
		{"mint without a session", "the log minted", func(w *world) {
			r := w.minted
			r.Credential = store.CredentialID(strings.Repeat("c", 64))
			w.act(w.object(record.Session, r.Bytes()))
		}},
		{"revocation without a row", "it is not as the log minted and revoked it", func(w *world) {
			w.act(w.object(record.Revocation, record.RevocationRecord{Session: w.session.Ref(), At: 1}.Bytes()))
		}},
		{"revocation of nobody", "not minted before it", func(w *world) {
			w.act(w.object(record.Revocation, record.RevocationRecord{Session: w.host.Ref(), At: 1}.Bytes()))
		}},
		{"registry moved without a revision", "the log moved it to", func(w *world) {
			at, err := w.Registry(w.ctx, record.RegistryName)
			w.ok(err)
			w.act(w.object("x", []byte("no revision")), store.MoveRegistry{Name: record.RegistryName, From: at, To: w.host.Ref()})
		}},
		{"registry revision out of turn", "does not follow", func(w *world) {
			w.act(w.object(record.Registry, w.revision(7, w.registry.Ref()).Bytes()))
		}},
		{"registry revision of another parent", "does not follow", func(w *world) {
			w.act(w.object(record.Registry, w.revision(3, w.registry.Ref()).Bytes()))
		}},
		{"second genesis", "in the middle of the log", func(w *world) {
			w.act(w.object(record.Genesis, record.GenesisRecord{Registry: w.registry.Ref(), Nonce: strings.Repeat("1e", 16)}.Bytes()))
		}},
		{"reconciled without a word", "the log does not say so", func(w *world) {
			lease, err := w.Lease(w.ctx, episode)
			w.ok(err)
			o := w.object("x", []byte("no word"))
			w.act(o, store.ReconcileIntent{Episode: episode, Ordinal: 3, Reconciliation: o.Ref(), Lease: lease})
		}},
		{"a word without reconciling", "whose row does not say so", func(w *world) {
			w.act(w.object(record.Reconciliation, record.ReconciliationRecord{Intent: "effect:ep-1:3", Verdict: "failed"}.Bytes()))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.populate()
			tt.write(w)
			r := run(t, w)
			if tt.want == "" {
				if !r.Clean() {
					t.Fatalf("findings: %v", r.Findings)
				}
				return
			}
			for _, f := range r.Findings {
				if strings.Contains(f.String(), tt.want) {
					return
				}
			}
			t.Fatalf("findings %v, none says %q", r.Findings, tt.want)
		})
	}
}

func TestBoundedFindings(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		w.ok(w.Keep(w.ctx, []store.Object{w.object(record.Session, []byte{byte(i)})}))
	}
	r, err := fsck.Run(t.Context(), w, fsck.Options{MaxFindings: 3})
	if err != nil || len(r.Findings) != 3 || r.More != 4 || r.Clean() {
		t.Fatalf("report %+v, %v", r, err)
	}
}

// auditBesideCalls runs five audits while the world makes calls, wants each to
// be clean, and returns the last.
func auditBesideCalls(t *testing.T, w *world) (last fsck.Report) {
	t.Helper()
	audits := make(chan fsck.Report)
	go func() {
		defer close(audits)
		for range 5 {
			r, err := fsck.Run(w.ctx, w, fsck.Options{})
			if err != nil {
				t.Errorf("run: %v", err)
			}
			audits <- r
		}
	}()
	for more := true; more; {
		select {
		case r, open := <-audits:
			if more = open; !more {
				break
			}
			if last = r; !r.Clean() {
				t.Errorf("findings beside a writer: %v", r.Findings)
			}
		default:
			w.call("Workspace.Read", "pure")
		}
	}
	return last
}

// TestBesideWriters audits while calls run: writers cause no finding (D16).
func TestBesideWriters(t *testing.T) {
	w := newWorld(t)
	w.populate()
	w.now = 1_500
	last := auditBesideCalls(t, w)
	if last.Entries <= 16 {
		t.Fatalf("the last audit saw nothing of the writer: %d entries", last.Entries)
	}
}

// refusing is a store that can be audited so many times.
type refusing struct {
	store.Auditor
	left *atomic.Int64
}

func (r refusing) Audit(ctx context.Context) (store.Audit, error) {
	if r.left.Add(-1) < 0 {
		return nil, fault.New("test: audit", fault.Unavailable, "no connection is left")
	}
	return r.Auditor.Audit(ctx)
}

// TestUnread takes the connections away that a check reads on: what it did not read
// is not clean.
func TestUnread(t *testing.T) {
	w := newWorld(t)
	w.populate()
	for connections := range int64(4) {
		var left atomic.Int64
		left.Store(connections)
		r, err := fsck.Run(t.Context(), refusing{w, &left}, fsck.Options{})
		switch {
		case connections == 0 && !fault.Is(err, fault.Unavailable):
			t.Errorf("without a connection: %+v, %v", r, err)
		case connections == 3 && (err != nil || !r.Clean()):
			t.Errorf("with all it needs: %+v, %v", r, err)
		case connections == 1 || connections == 2:
			if err != nil || !slices.ContainsFunc(r.Findings, func(f fsck.Finding) bool { return strings.Contains(f.What, "no connection is left") }) {
				t.Errorf("with %d connections: %+v, %v", connections, r, err)
			}
		}
	}
}

// backwards is a store whose objects lie in another order than they were written.
type backwards struct{ store.Auditor }

func (b backwards) Audit(ctx context.Context) (store.Audit, error) {
	a, err := b.Auditor.Audit(ctx)
	return reversed{a}, err
}

type reversed struct{ store.Audit }

func (r reversed) Objects(ctx context.Context, visit func(store.Row[store.StoredObject]) error) error {
	var all []store.Row[store.StoredObject]
	err := r.Audit.Objects(ctx, func(row store.Row[store.StoredObject]) error { all = append(all, row); return nil })
	for _, row := range slices.Backward(all) {
		if err == nil {
			err = visit(row)
		}
	}
	return err
}

// TestAnyOrder lets entries come before what they lead to: the same is found.
func TestAnyOrder(t *testing.T) {
	w := newWorld(t)
	w.populate()
	forward, back := run(t, w), run(t, backwards{w})
	if !back.Clean() || back.Objects != forward.Objects || back.Entries != forward.Entries || back.Intents != forward.Intents {
		t.Errorf("%+v backwards, %+v forwards", back, forward)
	}
	w.ok(w.Close())
	db, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=foreign_keys(0)")
	w.ok(err)
	_, err = db.Exec("DELETE FROM objects WHERE seq % 5 = 0")
	w.ok(errors.Join(err, db.Close()))
	s, err := sqlite.Open(w.ctx, w.path, sqlite.Options{ReadOnly: true})
	w.ok(err)
	defer s.Close()
	sorted := func(r fsck.Report) (all []string) {
		for _, f := range r.Findings {
			all = append(all, f.String())
		}
		slices.Sort(all)
		return all
	}
	if f, b := sorted(run(t, s)), sorted(run(t, backwards{s})); len(f) < 20 || !slices.Equal(f, b) {
		t.Errorf("with objects missing, found %q forwards and %q backwards", f, b)
	}
}
