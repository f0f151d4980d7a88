package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
	"world/store/storetest"
)

// script judges the requests of a proxy: the first that matches, once armed, gets
// the verdict.
type script struct {
	armed   atomic.Bool
	verdict pgtest.Verdict
	met     atomic.Bool
	settled atomic.Bool   // a COMMIT after the lost one has passed
	deliver chan struct{} // told when the first request after that one comes
}

func (s *script) judge(r pgtest.Request) pgtest.Verdict {
	if r.Commit && s.armed.CompareAndSwap(true, false) {
		s.met.Store(true)
		s.settled.Store(false)
		return s.verdict
	}
	if s.met.Load() && s.settled.Swap(s.settled.Load() || r.Commit) {
		select {
		case s.deliver <- struct{}{}:
		default:
		}
	}
	return pgtest.Pass
}

// TestLostCommit loses one COMMIT or its reply under each kind of change. The
// caller never learns of it: what was committed is found, and what was not is
// done again, once.
func TestLostCommit(t *testing.T) {
	for name, verdict := range map[string]pgtest.Verdict{"before": pgtest.CutBefore, "after": pgtest.CutAfter, "late": pgtest.Late} {
		t.Run(name, func(t *testing.T) {
			s := &script{verdict: verdict, deliver: make(chan struct{}, 1)}
			proxy, url := pgtest.Front(t, pgtest.Shared(t).Fresh(t), s.judge)
			go func() { // what was late comes when it is too late
				for {
					select {
					case <-s.deliver:
						proxy.Deliver()
					case <-t.Context().Done():
						return
					}
				}
			}()
			w := begun(t, open(t, url, postgres.Options{Lease: time.Minute}))
			lose := func(what string, change func() error) {
				t.Helper()
				s.met.Store(false)
				s.armed.Store(true)
				if err := change(); err != nil || !s.met.Load() {
					t.Fatalf("%s with a lost COMMIT: %v; lost: %v", what, err, s.met.Load())
				}
				s.armed.Store(false)
			}
			var in store.Intention
			var intent store.Intent
			for round := range 2 { // the second one knows its rows and writes at once
				lose("lease", func() (err error) {
					if round == 1 {
						ok(t, w.GiveUp(w.ctx, in.Lease))
						s.armed.Store(true)
					}
					_, err = w.Lease(w.ctx, episode)
					return err
				})
				lose("intend", func() (err error) {
					in = w.intention(task("call-", round), w.lease())
					intent, err = w.Intend(w.ctx, in)
					return err
				})
				lose("commit", func() error { _, err := w.Commit(w.ctx, w.finish(in, intent)); return err })
				lose("pure call", func() error { _, err := w.Commit(w.ctx, w.pure(task("pure-", round))); return err })
				about := text("world/host-act/v1", fmt.Sprint("about ", round))
				lose("act", func() error {
					_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{about}, Draft: w.draft(about)})
					return err
				})
				lose("keep", func() error { return w.Keep(w.ctx, []store.Object{text("kept", fmt.Sprint("kept ", round))}) })
			}
			entries, spent := w.sound()
			equal(t, "entries", entries, 1+3*2)
			equal(t, "spend", spent, 2)
			ok(t, w.call("afterwards"))
		})
	}
}

// TestUncertain loses a COMMIT reply and then the server: nobody can know, and the
// answer says so. Later the store finds out, and goes on.
func TestUncertain(t *testing.T) {
	for name, verdict := range map[string]pgtest.Verdict{"before": pgtest.CutBefore, "after": pgtest.CutAfter} {
		t.Run(name, func(t *testing.T) {
			var proxy *pgtest.Proxy
			s := &script{verdict: verdict}
			proxy, url := pgtest.Front(t, pgtest.Shared(t).Fresh(t), func(r pgtest.Request) pgtest.Verdict {
				v := s.judge(r)
				if v != pgtest.Pass {
					proxy.Refuse(true)
				}
				return v
			})
			w := begun(t, open(t, url, postgres.Options{Lease: time.Minute}))
			ok(t, w.call("known"))
			in := w.intention("unknown", w.lease())
			ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
			defer cancel()
			s.armed.Store(true)
			_, err := w.Intend(ctx, in)
			wantKind(t, "intent without an answer", err, fault.Uncertain)
			_, err = w.Intend(ctx, in)
			wantKind(t, "next intent", err, fault.Timeout)

			proxy.Refuse(false)
			_, err = w.Intend(w.ctx, in)
			if want := verdict == pgtest.CutAfter; fault.Is(err, fault.Conflict) != want || err != nil && !want {
				t.Fatalf("the same intent again: %v", err)
			}
			_, spent := w.sound()
			equal(t, "spend", spent, 2)
		})
	}
}

// TestHungServer lets the server fall silent in the middle of a change. The store
// goes on elsewhere before its callers give up, and a connection that answers lives
// longer than one silence may last.
func TestHungServer(t *testing.T) {
	const step = time.Second
	s := &script{verdict: pgtest.Stall}
	_, url := pgtest.Front(t, pgtest.Shared(t).Fresh(t), s.judge)
	w := begun(t, open(t, url, postgres.Options{Lease: time.Minute, Step: step}))
	calls := 0
	for began := time.Now(); time.Since(began) < 3*step/2; calls++ {
		_, err := w.Commit(w.ctx, w.pure(task("alive-", calls)))
		ok(t, err)
	}
	for round := range 2 { // the second one knows its rows and writes at once
		s.met.Store(false)
		s.armed.Store(true)
		ok(t, w.call(task("silenced-", round)))
		equal(t, "fell silent", s.met.Load(), true)
		ok(t, w.call(task("after-", round)))
	}
	_, spent := w.sound()
	equal(t, "spend", spent, 4)
}

// TestWarnedCommit lets the server warn while it commits, as it does when it gives
// up waiting for a replica. That is no acknowledgement: the store begins a new term
// and acknowledges only what a later commit has made durable.
func TestWarnedCommit(t *testing.T) {
	cluster := pgtest.Shared(t)
	url := cluster.Fresh(t)
	w := begun(t, open(t, url, postgres.Options{Owner: "warned"}))
	term := func() (n int64) {
		t.Helper()
		value := query[string](t, url, "SELECT value FROM world.meta WHERE key = 'writer warned'")
		var life string
		var done int64
		if _, err := fmt.Sscanf(value, "life %s term %d done %d", &life, &n, &done); err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		return n
	}
	ok(t, w.Keep(w.ctx, []store.Object{text("x", "before")}))
	calm := term()
	ok(t, w.Keep(w.ctx, []store.Object{text("x", "calm")}))
	equal(t, "term after a calm commit", term(), calm)
	cluster.Exec(t, url, "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''not replicated''; RETURN NULL; END'; "+
		"CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON world.objects DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()")
	ok(t, w.Keep(w.ctx, []store.Object{text("x", "warned")}))
	equal(t, "term after a warned commit", term(), calm+1)
	_, err := w.Object(w.ctx, text("x", "warned").Ref())
	ok(t, err)
}

// TestEveryRequest cuts the connection at the Nth request of a course of calls, for
// N from 1 until nothing is cut any more. Whatever is cut, what was acknowledged is
// there, nothing is there twice, and the course comes to its end.
func TestEveryRequest(t *testing.T) {
	for name, verdict := range map[string]pgtest.Verdict{"before": pgtest.CutBefore, "after": pgtest.CutAfter} {
		t.Run(name, func(t *testing.T) {
			direct := pgtest.Shared(t).Fresh(t)
			calm := begun(t, open(t, direct, postgres.Options{}))
			var calls int64
			for n := int64(1); ; n++ {
				var seen atomic.Int64
				_, url := pgtest.Front(t, direct, func(pgtest.Request) pgtest.Verdict {
					if seen.Add(1) == n {
						return verdict
					}
					return pgtest.Pass
				})
				s, err := postgres.Open(t.Context(), url, postgres.Options{})
				if err != nil {
					wantKind(t, "open", err, fault.Unavailable)
					continue
				}
				w := see(t, s)
				for round := range 2 {
					if err := w.call(task("cut-", n, "-", round)); err != nil {
						t.Fatalf("request %d cut, call %d: %v", n, round, err)
					}
					calls++
				}
				ok(t, s.Close())
				if _, spent := calm.sound(); spent != calls {
					t.Fatalf("request %d cut: spend %d after %d calls", n, spent, calls)
				}
				if seen.Load() < n {
					t.Logf("%d requests were cut, one by one", n-1)
					if n < 15 {
						t.Fatal("so few requests prove little")
					}
					return
				}
			}
		})
	}
}

// TestRestart crashes the server again and again under two processes of eight
// callers each that spend one budget: exact counts, and a history that obeys the
// model of a budget.
func TestRestart(t *testing.T) {
	cluster := pgtest.Shared(t)
	url := cluster.Fresh(t)
	opts := postgres.Options{Lease: 3 * time.Second, Handler: time.Second, Idle: time.Millisecond}
	w := begun(t, open(t, url, opts))
	other := open(t, url, opts)
	done := make(chan struct{})
	var crashes sync.WaitGroup
	crashes.Go(func() {
		for n := int64(100); n <= 300; n += 100 {
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				if l, err := other.Ledger(w.ctx, episode); err == nil && l.Next >= n {
					cluster.Restart(t)
					break
				}
			}
		}
	})
	storetest.SpendTogether(t, w.ctx, []store.Store{w.Store, other}, 600)
	close(done)
	crashes.Wait()
	w.sound()
}
