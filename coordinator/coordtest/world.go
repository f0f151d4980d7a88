// Package coordtest is a small world for tests that make calls: a real SQLite
// store with its genesis, sessions, the real Starlark evaluator in this process,
// handlers under the test's control and a clock that only the test moves.
package coordtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/broker/law"
	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/capsule/starlark"
	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/handover"
	"world/store/record"
	"world/store/sqlite"
)

// Start is where every clock begins, in unix seconds.
const Start = 1_700_000_000

// Interpreter stands for the bytes of the interpreter in genesis.
var Interpreter = []byte("the Starlark evaluator of this test")

// World is one world.
type World struct {
	T        testing.TB
	Path     string // of the store
	Store    store.Store
	C        *coordinator.Coordinator
	Options  coordinator.Options
	Handlers Handlers
	Forged   bool // the test writes what no coordinator would: its journal is not handed over
	clock    atomic.Int64
}

// Handlers maps effects to handlers.
type Handlers = map[law.Effect]broker.Handler

// New begins a world. edit may change the coordinator's options; the store in
// them is real already, and may be wrapped.
func New(t testing.TB, handlers Handlers, edit func(*coordinator.Options)) *World {
	t.Helper()
	w := &World{T: t, Path: filepath.Join(t.TempDir(), "world.db"), Handlers: handlers}
	w.clock.Store(Start)
	w.Open(edit)
	if _, err := registry.Bootstrap(t.Context(), w.Store, Builtins(), Interpreter, Start); err != nil {
		t.Fatalf("bootstrap: %v", err)
	}
	t.Cleanup(w.end)
	return w
}

// end closes the store and hands its journal over, if someone asked for journals.
func (w *World) end() {
	w.Store.Close()
	if w.Forged || os.Getenv(handover.Folder) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := sqlite.Open(ctx, w.Path, sqlite.Options{})
	if err != nil {
		return // the test left it so that nothing opens it
	}
	defer s.Close()
	if err := handover.Offer(ctx, s, w.T.Name()); err != nil {
		w.T.Errorf("hand the journal over: %v", err)
	}
}

// Open opens the store and a coordinator on it, as a daemon does at start.
func (w *World) Open(edit func(*coordinator.Options)) {
	w.T.Helper()
	s, err := sqlite.Open(w.T.Context(), w.Path, sqlite.Options{})
	if err != nil {
		w.T.Fatalf("open the store: %v", err)
	}
	w.Store = s
	w.Options = coordinator.Options{
		Store: s, Runner: Runner{}, Handlers: w.Handlers, Log: zerolog.Nop(),
		Clock: func() time.Time { return time.Unix(w.clock.Load(), 0) },
	}
	if edit != nil {
		edit(&w.Options)
	}
	w.C = coordinator.New(w.Options)
}

// Restart closes the store and opens it again, with a new coordinator.
func (w *World) Restart() {
	w.T.Helper()
	if err := w.Store.Close(); err != nil {
		w.T.Fatalf("close the store: %v", err)
	}
	w.Open(nil)
}

// Pass moves the clock by a number of seconds, back too.
func (w *World) Pass(seconds int64) { w.clock.Add(seconds) }

// Now is the clock's wall time in unix seconds.
func (w *World) Now() int64 { return w.clock.Load() }

// Mint makes a session of an episode for an hour.
func (w *World) Mint(episode store.EpisodeID, grants ...record.SessionGrant) session.Live {
	w.T.Helper()
	return w.MintFor(3600, episode, grants...)
}

// MintFor makes a session that lives a number of seconds.
func (w *World) MintFor(seconds int64, episode store.EpisodeID, grants ...record.SessionGrant) session.Live {
	w.T.Helper()
	m, err := w.Office().Mint(w.T.Context(), session.Terms{Episode: episode, Grants: grants, TTL: seconds}, w.Now())
	if err != nil {
		w.T.Fatalf("mint: %v", err)
	}
	return session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential}
}

// Office mints and revokes in this world.
func (w *World) Office() session.Office {
	return session.Office{Store: w.Store, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, w.Store, verb, about)
	}}
}

// Invoke makes a call over MCP with a snapshot of its own.
func (w *World) Invoke(ctx context.Context, live session.Live, id store.TransitionID, task, args string) (coordinator.Reply, error) {
	snapshot, err := w.C.Snapshot(ctx, live)
	if err != nil {
		return coordinator.Reply{}, err
	}
	return w.C.Invoke(ctx, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: id, Task: task, Args: []byte(args)})
}

// Must makes a call that has to leave a reply.
func (w *World) Must(live session.Live, id store.TransitionID, task, args string) coordinator.Reply {
	w.T.Helper()
	reply, err := w.Invoke(w.T.Context(), live, id, task, args)
	if err != nil {
		w.T.Fatalf("call %s %s: %v", id, args, err)
	}
	return reply
}

// Grant is EFFECT=SCOPE:BUDGET.
func Grant(effect law.Effect, scope law.Scope, budget int64) record.SessionGrant {
	return record.SessionGrant{Effect: effect, Scope: scope, Budget: budget}
}

// Runner runs every program in this process by the verb that the jail runs, with
// the same frames and exit codes, whatever its interpreter is.
type Runner struct{}

// Run implements capsule.Runner.
func (Runner) Run(ctx context.Context, p capsule.Program, input []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, fault.Wrap("coordtest: run", fault.Timeout, ctx.Err(), "the call ended before the capsule did")
	}
	var out, diag bytes.Buffer
	switch code := starlark.Serve(nil, bytes.NewReader(capsule.EncodeRequest(p.Source, input)), &out, &diag); code {
	case capsule.ExitDone:
		return out.Bytes(), nil
	case capsule.ExitInvalid:
		return nil, fault.New("coordtest: run", fault.Invalid, "the program has no main from one string to one string")
	case capsule.ExitLimit:
		return nil, fault.New("coordtest: run", fault.Limit, "the capsule reached its limit: steps or output")
	case capsule.ExitFailed:
		return nil, fault.New("coordtest: run", fault.Failed, "the program failed")
	default:
		return nil, fault.New("coordtest: run", fault.Internal, "")
	}
}
