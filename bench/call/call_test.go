// Package call measures one allowed call through the broker, with every object,
// hash and JSON of its evidence, beside the least that any write-ahead journal
// does: two bare inserts, each durable on its own.
package call

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/broker/law"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

const (
	effect law.Effect = "Workspace.Read"
	scope  law.Scope  = "worktree"
	now               = 1_900_000_000
)

// noop is a handler that has nothing to do.
type noop struct{}

func (noop) Handle(context.Context, broker.Job) broker.Result {
	return broker.Result{Status: store.StatusSucceeded, Output: []byte(`{"ok":true,"content":"hello, world\n"}`)}
}

// block is how many calls of one kind run before the other's turn.
const block = 50

// BenchmarkCall makes b.N calls of each kind, in turns, so that whatever else the
// machine does meets both. The ratio is what counts: the calls a second of the
// broker over those of the bare journal; and that of the medians, which says less
// about the machine.
func BenchmarkCall(b *testing.B) {
	ctx := context.Background()
	w := begin(b, ctx)
	journal := bare(b) // after the store, whose way of syncing holds for the process
	var brokered, least times
	timed := func(all *times, n int, call func() error) {
		for range n {
			start := time.Now()
			if err := call(); err != nil {
				b.Fatal(err)
			}
			*all = append(*all, time.Since(start))
		}
	}
	b.ResetTimer()
	for left := b.N; left > 0; left -= block {
		n := min(left, block)
		timed(&brokered, n, func() error { return w.call(ctx) })
		timed(&least, n, journal)
	}
	brokered.report(b, "brokered")
	least.report(b, "bare")
	b.ReportMetric(least.sum().Seconds()/brokered.sum().Seconds(), "ratio")
	b.ReportMetric(least.within(50).Seconds()/brokered.within(50).Seconds(), "p50-ratio")
}

// times is how long each call of one kind took.
type times []time.Duration

func (t times) sum() (all time.Duration) {
	for _, d := range t {
		all += d
	}
	return all
}

// within is what so many of a hundred calls kept within. Times must be sorted.
func (t times) within(percent int) time.Duration { return t[len(t)*percent/100] }

// report gives the rate, and the times that half and all but a hundredth of the
// calls kept within.
func (t times) report(b *testing.B, kind string) {
	slices.Sort(t)
	b.ReportMetric(float64(len(t))/t.sum().Seconds(), kind+"/s")
	b.ReportMetric(float64(t.within(50).Microseconds()), kind+"-p50-µs")
	b.ReportMetric(float64(t.within(99).Microseconds()), kind+"-p99-µs")
}

// bare returns what makes two durable inserts of one row each.
func bare(b *testing.B) func() error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE journal (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO journal (body) VALUES (?)")
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 200)
	return func() error {
		for range 2 {
			if _, err := insert.Exec(body); err != nil {
				return err
			}
		}
		return nil
	}
}

// world is a store with a genesis, a session and a broker.
type world struct {
	store   store.Store
	broker  *broker.Broker
	lease   store.Lease
	session record.SessionRecord
	object  store.Object // session object
	source  store.Object
	calls   int
}

func begin(b *testing.B, ctx context.Context) *world {
	s, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	w := &world{
		store: s,
		session: record.SessionRecord{
			Credential: store.CredentialID(fmt.Sprintf("%064d", 0)), Episode: "bench", ExpiresAt: now + 3600,
			Grants: []record.SessionGrant{{Effect: effect, Scope: scope, Budget: 1 << 40}},
		},
		source: store.NewObject(record.Source, "bench", []byte("source")),
	}
	w.object = store.NewObject(record.Session, "bench", w.session.Bytes())
	draft := store.Draft{TransitionFn: w.source.Ref(), Interpreter: w.source.Ref(), WrittenBy: "bench", Transition: w.object.Ref(), StateRoot: w.object.Ref()}
	minted := store.MintSession{Session: store.Session{Credential: w.session.Credential, Object: w.object.Ref(), Episode: "bench", ExpiresAt: w.session.ExpiresAt}}
	if _, err := s.Begin(ctx, store.Act{Objects: []store.Object{w.source, w.object}, Draft: draft, At: now, Changes: []store.Change{minted}}); err != nil {
		b.Fatal(err)
	}
	if w.lease, err = s.Lease(ctx, "bench"); err != nil {
		b.Fatal(err)
	}
	w.broker = broker.New(broker.Options{
		Store: s, Handlers: map[law.Effect]broker.Handler{effect: noop{}},
		Clock: func() time.Time { return time.Unix(now, 0) }, Log: zerolog.Nop(),
	})
	return w
}

// call is one call from the decision to the log entry.
func (w *world) call(ctx context.Context) error {
	w.calls++
	triple := law.Triple{Effect: effect, Scope: scope, Cost: 1}
	payload := fmt.Appendf(nil, `{"op":"read","path":"file-%d.txt"}`, w.calls)
	input := store.NewObject(record.Input, "bench", fmt.Appendf(nil, `{"path":"file-%d.txt"}`, w.calls))
	plan := store.NewObject(record.Plan, "bench", fmt.Appendf(nil,
		`{"effects":[{"cost":1,"effect":%q,"id":"e1","payload":%s,"scope":%q}],"finish":false,"plan":"world/effect-plan/v1","result":null}`, effect, payload, scope))
	if live, err := w.store.Session(ctx, w.session.Credential); err != nil || live.Revocation != "" {
		return fmt.Errorf("the session is not live: %v", err)
	}
	ledger, err := w.store.Ledger(ctx, "bench")
	if err != nil {
		return err
	}
	claim := store.Claim{
		Invocation: store.NewInvocationID(store.SurfaceMCP, "bench", fmt.Sprint(w.calls)), Episode: "bench",
		Transition: "ailang-read", TransitionFn: w.source.Ref(), Input: input.Ref(), Session: w.object.Ref(), At: now,
	}
	invoker, err := w.broker.Bind(broker.Call{Session: w.session, Claim: claim, Lease: w.lease, Ledger: ledger}, []law.Triple{triple})
	if err != nil {
		return err
	}
	e, err := invoker.Request(ctx, triple, payload, input, plan)
	if err != nil {
		return err
	}
	output := store.NewObject(record.Output, "bench", fmt.Appendf(nil, `{"content":"hello, world\n","ok":true,"world":{"effects":[{"id":"e1","record":%q}],"plan":%q}}`, e.RecordRef, plan.Ref()))
	invocation := store.NewObject(record.Invocation, "bench", record.InvocationRecord{
		InvocationID: claim.Invocation, EpisodeID: "bench", SkillID: claim.Transition, TransitionFn: w.source.Ref(), Interpreter: w.source.Ref(),
		Input: input.Ref(), Output: output.Ref(), Plan: plan.Ref(), Effects: []record.EffectOutcome{e.Effect("e1")},
		Registry: w.source.Ref(), Session: w.object.Ref(), Ordinal: e.Ordinal, Now: now,
	}.Bytes())
	_, err = w.store.Commit(ctx, store.Finish{
		Claim: claim, Intent: e.Intent, Outcome: e.Outcome, Lease: w.lease, At: now,
		Objects: append(e.Objects, output, invocation),
		Draft: store.Draft{TransitionFn: w.source.Ref(), Interpreter: w.source.Ref(), WrittenBy: "coordinator:mcp",
			Transition: invocation.Ref(), StateRoot: output.Ref()},
	})
	return err
}
