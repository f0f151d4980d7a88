package crash

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"world/ci/crash/scene"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/fault"
	"world/fault/stop"
	"world/store"
	"world/store/postgres/pgtest"
	"world/store/record"
)

// engines are both of them.
var engines = []string{"sqlite", "postgres"}

// cut kills a process at a point of one call and returns the call.
func (w *world) cut(t *testing.T, owner string, point stop.Point) scene.Call {
	t.Helper()
	c := w.one()
	w.owners[owner] = true
	p := start(t, scene.Script{Store: w.where, Owner: owner, Marks: w.marks, Sessions: w.sessions, Patience: patience,
		Callers: [][]scene.Call{{c}}}, string(point)+"@1")
	if !p.killed() {
		t.Fatalf("not killed %s", point)
	}
	w.hear(p.said())
	return c
}

// TestReport_smg2441 loses the connection, and here the whole process, after an
// effect ran: smg-project/smg#2441 saw the reconnect replay it. The call is
// indeterminate, nobody runs it again, and the successor says so whenever asked.
func TestReport_smg2441(t *testing.T) {
	build(t)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 1)
			c := w.cut(t, "one", stop.AfterEffect)
			for range 2 {
				said := w.lives(scene.Script{Store: w.where, Owner: "one", Callers: [][]scene.Call{{c}, {w.one()}}})
				if n := len(said); n != 5 {
					t.Errorf("%+v", said)
				}
			}
			for _, end := range w.calls[c.Task].ends {
				if end.Say != "lost" {
					t.Errorf("sent again: %+v", end)
				}
			}
			w.settle()
			if v := w.judge(nil); v.open != 1 || v.intents != 3 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestReport_dbos716 breaks the database at every step of a start that finds work
// cut short: dbos-transact-py#716 saw a blip there strand the work in silence. The
// start is made again, and what was cut is listed and answered each time.
func TestReport_dbos716(t *testing.T) {
	build(t)
	w := begin(t, "postgres", 1)
	stride := int64(1)
	if *kills < 1000 {
		stride = 6
	}
	broken := 0
	for n := 1 + source(t.Name()).Int64N(stride); ; n += stride {
		c := w.cut(t, "one", stop.AfterIntent)
		var seen atomic.Int64
		_, url := pgtest.Front(t, w.where, func(pgtest.Request) pgtest.Verdict {
			if seen.Add(1) == n {
				return pgtest.CutBefore
			}
			return pgtest.Pass
		})
		w.lives(scene.Script{Store: url, Owner: "one", Callers: [][]scene.Call{{c}}})
		if end := w.calls[c.Task].ends; len(end) != 1 || end[0].Say != "lost" {
			t.Errorf("request %d broken: %+v", n, end)
		}
		w.settle()
		if v := w.judge(nil); v.open != broken+1 {
			t.Errorf("request %d broken: %+v after %d", n, v, broken+1)
		}
		if broken++; seen.Load() < n {
			break
		}
	}
	if broken < 4 {
		t.Errorf("%d steps: too few to prove anything", broken)
	}
}

// TestReport_river1258 counts what runs for ever: riverqueue/river#1258 had thousands.
// What kills left behind is listed by age at once, and after an operator's word on
// each, nothing is.
func TestReport_river1258(t *testing.T) {
	build(t)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 1)
			const left = 3
			for range left {
				w.cut(t, "one", stop.InHandler)
			}
			w.settle()
			w.with("operator", func(ctx context.Context, s store.Store) {
				open, err := s.Indeterminate(ctx, 500)
				ok(t, err)
				if len(open) != left {
					t.Fatalf("%d are listed, %d were left", len(open), left)
				}
				for n, i := range open {
					if n > 0 && (i.At < open[n-1].At || i.Ordinal <= open[n-1].Ordinal) {
						t.Errorf("%s is listed after %s", i.Name(), open[n-1].Name())
					}
					w.reconcile(ctx, s, i)
				}
				if open, err = s.Indeterminate(ctx, 500); err != nil || len(open) != 0 {
					t.Errorf("after a word on each: %v, %v", open, err)
				}
			})
		})
	}
}

// reconcile closes an intent by an operator's word.
func (w *world) reconcile(ctx context.Context, s store.Store, i store.Intent) {
	w.t.Helper()
	lease, err := s.Lease(ctx, i.Episode)
	ok(w.t, err)
	now := time.Now().Unix()
	word := store.NewObject(record.Reconciliation, "host:test", record.ReconciliationRecord{
		Intent: i.Name(), Verdict: "abandoned", Note: "nobody knows", By: "test", At: now}.Bytes())
	draft, err := registry.HostDraft(ctx, s, "reconcile", word.Ref())
	ok(w.t, err)
	_, err = s.Act(ctx, store.Act{Objects: []store.Object{word}, Draft: draft, At: now, Changes: []store.Change{
		store.ReconcileIntent{Episode: i.Episode, Ordinal: i.Ordinal, Reconciliation: word.Ref(), Lease: lease}}})
	ok(w.t, err)
}

// TestReport_authentik23876 kills who holds the right to write: goauthentik/
// authentik#23876 saw a lock outlive its holder in a pool. A second writer of a file
// is refused while the first lives and let in when it is dead; of a database, one
// under the same name replaces the first, whose every later write is refused.
func TestReport_authentik23876(t *testing.T) {
	build(t)
	w := begin(t, "sqlite", 1)
	endless := scene.Script{Store: w.where, Marks: w.marks, Sessions: w.sessions, Patience: patience, Callers: make([][]scene.Call, 1)}
	for range 5000 {
		endless.Callers[0] = append(endless.Callers[0], w.one())
	}
	p := start(t, endless, "before-intent@5000")
	<-p.ready
	if s, err := scene.Open(t.Context(), w.where, ""); !fault.Is(err, fault.Locked) {
		t.Errorf("beside a living writer: %v, %v", s, err)
	}
	ok(t, p.cmd.Process.Kill())
	if !p.killed() {
		t.Fatal("it ended by itself")
	}
	w.hear(p.said())
	w.settled = true
	w.judge(nil)

	w = begin(t, "postgres", 1)
	w.with("one", func(ctx context.Context, first store.Store) {
		ok(t, first.Keep(ctx, []store.Object{store.NewObject("world/test/v1", "test", []byte("by the first"))}))
		w.with("one", func(ctx context.Context, second store.Store) {
			err := first.Keep(ctx, []store.Object{store.NewObject("world/test/v1", "test", []byte("by the replaced"))})
			if !fault.Is(err, fault.Locked) {
				t.Errorf("the replaced one writes: %v", err)
			}
			ok(t, second.Keep(ctx, []store.Object{store.NewObject("world/test/v1", "test", []byte("by the second"))}))
		})
	})
}

// TestReport_PageSpace1073 writes, reads and hashes again what databases like to
// change: 2witstudios/PageSpace#1073 hashed what it had in memory and verified what
// JSONB gave back. Bytes come back as they went in, whatever they look like.
func TestReport_PageSpace1073(t *testing.T) {
	random := source(t.Name())
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 0)
			w.with("", func(ctx context.Context, s store.Store) {
				var objects []store.Object
				for range 150 {
					objects = append(objects, store.NewObject("world/test/v1", "test", awkward(random)))
				}
				ok(t, s.Keep(ctx, objects))
				for _, o := range objects {
					got, err := s.Object(ctx, o.Ref())
					ok(t, err)
					if !bytes.Equal(got.Bytes(), o.Bytes()) || store.RefOf(got.Bytes()) != o.Ref() {
						t.Errorf("%q came back as %q", o.Bytes(), got.Bytes())
					}
				}
			})
		})
	}
}

// TestReport_toolhive5306 mints a session anew for an episode whose old one runs out:
// stacklok/toolhive#5306 bound what was known to the bytes of a token, and lost it
// when that was rotated. Here spend belongs to the episode, and each credential
// ends at its own time.
// Report 5 of reference/reports.md: binding to raw token bytes breaks on rotation.
func TestReport_toolhive5306(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 0)
			w.with("one", func(ctx context.Context, s store.Store) {
				const short = 3600 // seconds
				w.mint(ctx, s, "ep", short, 5, 0)
				w.mint(ctx, s, "ep", day, 5, 0)
				c := &clocked{w: w, random: source(t.Name()), latest: w.sessions[0].Record.CreatedAt}
				start := w.sessions[0].Record.CreatedAt
				for range 2 {
					c.call(ctx, s, 0, start+1)
				}
				c.call(ctx, s, 1, start+2)
				c.ends = w.sessions[0].Record.ExpiresAt
				c.call(ctx, s, 1, c.ends)
				c.call(ctx, s, 0, c.ends)
				ledger, err := s.Ledger(ctx, "ep")
				if spent := ledger.Of(coordtest.Write, coordtest.Scope); err != nil || spent != 4 || c.dead != 1 {
					t.Errorf("%d units are spent by both sessions, %d calls after the first ended: %v", spent, c.dead, err)
				}
			})
			w.owners["one"] = true
			w.settle()
			w.judge(nil)
		})
	}
}

// TestReport_pisubagents1769 lets four sessions of one episode, each of whose grants
// would cover every call, spend at one time: nicobailon/pi-subagents#1769 saw
// children run past the cap of their parent. They share what the episode has.
// Report 10 of reference/reports.md: child runs escape the parent's cap.
func TestReport_pisubagents1769(t *testing.T) {
	const sessions, calls, budget = 4, 6, 9
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 0)
			w.with("driver", func(ctx context.Context, s store.Store) {
				for range sessions {
					w.mint(ctx, s, "parent", day, budget, 0)
				}
			})
			w.owners["one"] = true
			script := scene.Script{Store: w.where, Owner: "one", Callers: make([][]scene.Call, sessions)}
			for i := range script.Callers {
				for range calls {
					c := w.one()
					c.Session = i
					w.know(c)
					script.Callers[i] = append(script.Callers[i], c)
				}
			}
			w.lives(script)
			denied := 0
			for _, c := range w.calls {
				if len(c.ends) == 1 && c.ends[0].Denied {
					denied++
				}
			}
			w.settle()
			w.judge(func(ctx context.Context, s store.Store) {
				ledger, err := s.Ledger(ctx, "parent")
				if spent := ledger.Of(coordtest.Write, coordtest.Scope); err != nil || spent != budget || denied != sessions*calls-budget {
					t.Errorf("%d spent and %d denied of %d calls, %v", spent, denied, sessions*calls, err)
				}
			})
		})
	}
}

// awkward draws a document that a database's own JSON type would not keep.
func awkward(random *rand.Rand) []byte {
	parts := []string{`null`, `{}`, `{"a":null}`, `{"b":1,"a":1}`, `{"a":1,"a":2}`, `1.0`, `1e2`, `9007199254740993`, `-0`, `"\u0000"`, `"é"`, `"e\u0301"`, "\"\u2028\"", `[ ]`, "\t1\n", "\xff\x00"}
	var b bytes.Buffer
	for range 1 + random.IntN(5) {
		fmt.Fprintf(&b, "%s,", parts[random.IntN(len(parts))])
	}
	fmt.Fprint(&b, random.Uint64())
	return b.Bytes()
}
