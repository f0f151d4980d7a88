package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"world/ci/crash/scene"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/engine"
	"world/store/postgres/pgtest"
	"world/store/record"
)

// scarce is the budget of reads that all callers of an episode fight over.
const scarce = 3

// world is one world that several generations of victims live in.
type world struct {
	t        testing.TB
	where    string // as scene.Script.Store
	marks    string
	sessions []session.Live
	calls    map[string]*call // by task
	owners   map[string]bool
	settled  bool // no victim holds a lease any more
	made     int  // calls drawn so far
}

// call is what is known of one call from outside.
type call struct {
	scene.Call
	episode store.EpisodeID
	sent    bool
	at      int64        // when it was sent first
	again   bool         // by a successor
	ends    []scene.Line // how it ended, once for each process that was asked
}

// id is the call's invocation id.
func (c *call) id() store.InvocationID {
	return store.NewInvocationID(store.SurfaceMCP, c.episode, c.Task)
}

// begin makes a world of so many episodes on an engine, "sqlite" or "postgres".
func begin(t testing.TB, engine string, episodes int) *world {
	t.Helper()
	if engine == "postgres" {
		return beginAt(t, pgtest.Shared(t).Fresh(t), episodes)
	}
	return beginAt(t, filepath.Join(t.TempDir(), "world.db"), episodes)
}

// beginAt makes a world of so many episodes at a place, as scene.Script.Store.
func beginAt(t testing.TB, where string, episodes int) *world {
	t.Helper()
	w := &world{t: t, where: where, marks: filepath.Join(t.TempDir(), "marks"), calls: map[string]*call{}, owners: map[string]bool{}}
	w.with("driver", func(ctx context.Context, s store.Store) {
		_, err := registry.Bootstrap(ctx, s, coordtest.Builtins(), coordtest.Interpreter, time.Now().Unix())
		ok(t, err)
		for i := range episodes {
			w.mint(ctx, s, store.EpisodeID(fmt.Sprintf("ep-%d", i)), day, 1<<40, scarce)
		}
	})
	return w
}

// day is the life of a session that no test outlives, in seconds.
const day = 86400

// mint adds a session of an episode with budgets of writes and reads.
func (w *world) mint(ctx context.Context, s store.Store, episode store.EpisodeID, seconds, writes, reads int64) {
	w.t.Helper()
	office := session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
	m, err := office.Mint(ctx, session.Terms{Episode: episode, TTL: seconds, Grants: []record.SessionGrant{
		coordtest.Grant(coordtest.Write, coordtest.Scope, writes), coordtest.Grant(coordtest.Read, coordtest.Scope, reads),
	}}, time.Now().Unix())
	ok(w.t, err)
	w.sessions = append(w.sessions, session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential})
}

// with opens the store in this process for a while.
func (w *world) with(owner string, do func(ctx context.Context, s store.Store)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var s store.Store
	until(w.t, "the store is free", func() bool {
		var err error
		s, err = scene.Open(ctx, w.where, owner)
		if fault.Is(err, fault.Locked) && !isDatabase(w.where) {
			return false // a child that a killed daemon was about to start has the lock until it runs
		}
		ok(w.t, err)
		return true
	})
	defer s.Close()
	do(ctx, s)
}

// reading opens the store for reading alone, beside whoever writes to it.
func (w *world) reading(do func(ctx context.Context, s store.Store)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	place, err := engine.Parse(w.where)
	ok(w.t, err)
	s, err := place.Open(ctx, engine.Options{ReadOnly: true})
	ok(w.t, err)
	defer s.Close()
	do(ctx, s)
}

// draw makes a new call of one session: most of them write once, some compete for
// reads, cost three, or have no effect at all.
func (w *world) draw(random *rand.Rand, session int) scene.Call {
	w.made++
	c := scene.Call{Session: session, Transition: coordtest.Act, Task: taskName(w.made), Args: scene.One}
	switch random.IntN(8) {
	case 0:
		c.Args = `{"effect":"Workspace.Read"}`
	case 1:
		c.Args = `{"cost":3}`
	case 2:
		c.Transition, c.Args = coordtest.Echo, fmt.Sprintf(`{"n":%d}`, w.made)
	case 3:
		c.Args = `{"after":true}`
	}
	w.know(c)
	return c
}

// busy is a script of callers that make so many new calls each, of sessions that are
// drawn for each caller.
func (w *world) busy(owner string, callers, each int, random *rand.Rand, session func() int) scene.Script {
	w.owners[owner] = true
	script := scene.Script{Store: w.where, Owner: owner, Marks: w.marks, Sessions: w.sessions, Patience: patience, Callers: make([][]scene.Call, callers)}
	for i := range script.Callers {
		for range each {
			script.Callers[i] = append(script.Callers[i], w.draw(random, session()))
		}
	}
	return script
}

// taskName names the nth call drawn in a world.
func taskName(n int) string { return fmt.Sprintf("t%d", n) }

func (w *world) know(c scene.Call) *call {
	w.calls[c.Task] = &call{Call: c, episode: w.sessions[c.Session].Record.Episode}
	return w.calls[c.Task]
}

// hear takes over what a process said.
func (w *world) hear(lines []scene.Line) {
	w.t.Helper()
	for _, l := range lines {
		switch l.Say {
		case "ready", "full", "waits":
		case "sent":
			if c := w.calls[l.Task]; !c.sent {
				c.sent, c.at = true, l.At
			}
		default:
			w.calls[l.Task].ends = append(w.calls[l.Task].ends, l)
		}
		if l.Say == "refused" {
			w.t.Errorf("%s was refused: %s: %s", l.Task, l.Kind, l.Detail)
		}
	}
}

// unanswered returns the calls that were sent and whose answer nobody heard.
func (w *world) unanswered() []scene.Call {
	var left []scene.Call
	for n := 1; n <= w.made; n++ {
		if c := w.calls[taskName(n)]; c.sent && len(c.ends) == 0 {
			again := c.Call
			again.Again = true
			left = append(left, again)
		}
	}
	return left
}
