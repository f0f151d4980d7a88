// Package scene is the process that crash tests kill: store, broker and
// coordinator on one world, callers that follow a script, and a handler that
// leaves one mark an effect outside of the store. It says on its output what it
// was asked and what it answered, one line each.
package scene

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/postgres"
	"world/store/sqlite"
)

// Script is what one process does.
type Script struct {
	Store    string // path of a SQLite file, or a database's URL
	Owner    string // of leases, with a database
	Marks    string // file to which the handler adds the name of each intent it acts on
	Sessions []session.Live
	Callers  [][]Call      // each caller makes its calls one after another
	Patience time.Duration // how long a call is sent again that could not be carried out
	FileSize uint64        // largest file in bytes until a call fails for it, 0 for no limit
	Patient  bool          // leases outlast whatever slows the process: nobody else waits for them
	Fresh    time.Duration // how long a call may begin on what was read before it, 0 for a daemon's own
	Spend    bool          // a caller leaves a session when one unit of it is denied: nothing is left
}

// One is the arguments of a call that costs one unit of writes.
const One = `{}`

// Call is one call of a script.
type Call struct {
	Session    int
	Transition store.TransitionID
	Task, Args string
	Again      bool // a predecessor sent it and heard no answer
}

// Line is what the process says, as JSON: that it is ready, that it begins to send
// a task, or how that ended.
type Line struct {
	Say    string // "ready", "sent", "done", "lost", "refused", "waits" to be sent again, or "full" for a disk that was
	Task   string `json:",omitempty"`
	Entry  int64  `json:",omitempty"` // index, when done
	Denied bool   `json:",omitempty"` // by the law
	Stored bool   `json:",omitempty"` // the answer of an earlier run
	Kind   string `json:",omitempty"` // of the fault, when refused
	Detail string `json:",omitempty"`
	At     int64  // nanoseconds of the machine's monotonic clock
}

// short is how long a lease lasts.
const short = 3 * time.Second

// Open opens the store of a world. Leases are short, so that a test need not wait.
func Open(ctx context.Context, where, owner string) (store.Store, error) {
	return open(ctx, where, owner, short)
}

func open(ctx context.Context, where, owner string, lease time.Duration) (store.Store, error) {
	if strings.HasPrefix(where, "postgres:") {
		return postgres.Open(ctx, where, postgres.Options{
			Owner: owner, Lease: lease, Handler: 200 * time.Millisecond, Idle: time.Millisecond, Readers: 2,
		})
	}
	return sqlite.Open(ctx, where, sqlite.Options{})
}

// reopen opens the store as whoever starts a daemon does: again, while the
// database cannot be reached.
func reopen(ctx context.Context, script Script) (store.Store, error) {
	lease := short
	if script.Patient {
		lease = time.Minute
	}
	end := time.Now().Add(script.Patience)
	for {
		s, err := open(ctx, script.Store, script.Owner, lease)
		if !fault.Is(err, fault.Unavailable) || time.Now().After(end) {
			return s, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Play follows a script to its end, if nothing kills it before.
func Play(ctx context.Context, script Script, out io.Writer) error {
	if script.FileSize > 0 {
		if err := limitFiles(script.FileSize); err != nil {
			return err
		}
	}
	s, err := reopen(ctx, script)
	if err != nil {
		return err
	}
	defer s.Close()
	return PlayOn(ctx, s, script, out)
}

// PlayOn follows a script on a store that the caller keeps open.
func PlayOn(ctx context.Context, s store.Store, script Script, out io.Writer) error {
	marks, err := os.OpenFile(script.Marks, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer marks.Close()
	p := &play{script: script, out: json.NewEncoder(out), calls: calls(s, marks, script.Fresh)}
	p.limited.Store(script.FileSize > 0)
	p.say(Line{Say: "ready"})
	var callers sync.WaitGroup
	for _, calls := range script.Callers {
		callers.Go(func() {
			spent := map[int]bool{} // sessions
			for _, c := range calls {
				if spent[c.Session] && !c.Again {
					continue
				}
				denied := p.make(ctx, c)
				spent[c.Session] = script.Spend && (spent[c.Session] || denied && c.Args == One)
			}
		})
	}
	callers.Wait()
	return p.calls.Wait(ctx)
}

// calls is a coordinator whose effects leave their marks in a file.
func calls(s store.Store, marks *os.File, fresh time.Duration) *coordinator.Coordinator {
	hand := marker{marks}
	return coordinator.New(coordinator.Options{
		Store: s, Runner: coordtest.Runner{}, Log: zerolog.Nop(), Deadlines: coordinator.Deadlines{Fresh: fresh},
		Handlers: coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand},
	})
}

// Once makes one call, once.
func Once(ctx context.Context, s store.Store, marks string, live session.Live, c Call) (coordinator.Reply, error) {
	file, err := os.OpenFile(marks, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return coordinator.Reply{}, err
	}
	defer file.Close()
	coord := calls(s, file, 0)
	reply, err := invoke(ctx, coord, live, c)
	return reply, errors.Join(err, coord.Wait(ctx))
}

// marker is a handler whose effect is a line in a file.
type marker struct{ file *os.File }

func (m marker) Handle(_ context.Context, job broker.Job) broker.Result {
	if _, err := m.file.WriteString(job.Intent + "\n"); err != nil {
		return coordtest.Lose("the mark may be there or not")
	}
	return coordtest.Succeed(`{"marked":true}`)
}

type play struct {
	script  Script
	calls   *coordinator.Coordinator
	limited atomic.Bool // the disk seems full
	mu      sync.Mutex
	out     *json.Encoder
}

func (p *play) say(l Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.At = Now()
	_ = p.out.Encode(l) // whoever listens may be gone; that ends the process soon enough
}

// Now is the machine's monotonic clock in nanoseconds, one for all processes.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("scene: no monotonic clock: " + err.Error())
	}
	return t.Nano()
}

// make sends a call, with the same id again while it could not be carried out, and
// reports whether the law denied it.
func (p *play) make(ctx context.Context, c Call) (denied bool) {
	p.say(Line{Say: "sent", Task: c.Task})
	end := time.Now().Add(p.script.Patience)
	for waits := false; ; {
		reply, err := p.invoke(ctx, c)
		if err != nil && p.limited.CompareAndSwap(true, false) {
			p.makeRoom(c.Task, err)
		}
		switch {
		case err == nil && reply.Failed && reply.Denial == "":
			p.say(Line{Say: "refused", Task: c.Task, Kind: reply.Kind.String(), Detail: reply.Message})
		case err == nil:
			denied = reply.Denial != ""
			p.say(Line{Say: "done", Task: c.Task, Entry: reply.Entry.Index, Denied: denied, Stored: reply.Replayed})
		case fault.Is(err, fault.Indeterminate):
			p.say(Line{Say: "lost", Task: c.Task, Detail: err.Error()})
		case passing(err) && time.Now().Before(end):
			if !waits {
				waits = true
				p.say(Line{Say: "waits", Task: c.Task, Kind: fault.KindOf(err).String(), Detail: err.Error()})
			}
			time.Sleep(5 * time.Millisecond)
			continue
		default:
			p.say(Line{Say: "refused", Task: c.Task, Kind: fault.KindOf(err).String(), Detail: err.Error()})
		}
		return denied
	}
}

func (p *play) invoke(ctx context.Context, c Call) (coordinator.Reply, error) {
	return invoke(ctx, p.calls, p.script.Sessions[c.Session], c)
}

func invoke(ctx context.Context, calls *coordinator.Coordinator, live session.Live, c Call) (coordinator.Reply, error) {
	snapshot, err := calls.Snapshot(ctx, live)
	if err != nil {
		return coordinator.Reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return calls.Invoke(ctx, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: c.Transition, Task: c.Task, Args: []byte(c.Args)})
}

// passing reports whether the same id may be sent again at once.
func passing(err error) bool {
	switch fault.KindOf(err) {
	case fault.InFlight, fault.LeaseLost, fault.Unavailable, fault.Uncertain, fault.Timeout:
		return true
	}
	return false
}
