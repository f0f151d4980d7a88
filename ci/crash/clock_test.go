package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/evidence"
	"world/fault"
	"world/store"
)

// TestClockBackwards makes calls while the wall clock jumps to and fro, over
// restarts: recorded time never goes back, and a session that ended by it stays so
// though the clock says that it has hours to live (D4).
func TestClockBackwards(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, 1)
			w.owners["clock"] = true
			w.with("clock", func(ctx context.Context, s store.Store) { w.mint(ctx, s, "other", 10*day, 100, 0) })
			c := &clocked{w: w, random: source(t.Name()), base: time.Now().Unix(), latest: w.sessions[len(w.sessions)-1].Record.CreatedAt}
			for range 3 {
				w.with("clock", c.live)
			}
			c.ends = w.sessions[0].Record.ExpiresAt
			for range 3 {
				w.with("clock", c.die)
			}
			w.settle()
			if v := w.judge(nil); c.dead != 12 || v.intents != 27 {
				t.Errorf("%d calls found the session ended, want 12; %+v", c.dead, v)
			}
		})
	}
}

// clocked is a world under a clock that jumps.
type clocked struct {
	w            *world
	random       *rand.Rand
	base, latest int64 // unix seconds: about which the clock jumps, and the greatest recorded
	ends         int64 // when the first session ends, once somebody has seen that
	dead         int
}

// live makes eight calls of the first session at random times of its life.
func (c *clocked) live(ctx context.Context, s store.Store) {
	for range 8 {
		c.call(ctx, s, 0, c.base+c.random.Int64N(day)-day/2)
	}
}

// die makes one call of the other session after the first has ended, and then
// calls of the first at times at which it lived.
func (c *clocked) die(ctx context.Context, s store.Store) {
	c.call(ctx, s, 1, c.ends)
	for range 4 {
		c.call(ctx, s, 0, c.base+c.random.Int64N(day/2))
	}
}

// call makes a call of a session when the wall clock says wall.
func (c *clocked) call(ctx context.Context, s store.Store, session int, wall int64) {
	t := c.w.t
	t.Helper()
	marks := &markFile{c.w}
	calls := coordinator.New(coordinator.Options{
		Store: s, Runner: coordtest.Runner{}, Log: zerolog.Nop(), Clock: func() time.Time { return time.Unix(wall, 0) },
		Handlers: coordtest.Handlers{coordtest.Write: marks, coordtest.Read: marks},
	})
	snapshot, err := calls.Snapshot(ctx, c.w.sessions[session])
	ok(t, err)
	one := c.w.one()
	one.Session = session
	c.w.know(one)
	reply, err := calls.Invoke(ctx, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: one.Transition, Task: one.Task, Args: []byte(one.Args)})
	if session == 0 && c.ends > 0 {
		if !fault.Is(err, fault.NotFound) { // it sees nothing any more
			t.Fatalf("the clock went back to %d, and a session that ended at %d acts: %+v, %v", wall, c.ends, reply, err)
		}
		c.dead++
		return
	}
	ok(t, err)
	said, err := evidence.Load(ctx, s, reply.Entry)
	ok(t, err)
	if want := max(c.latest, wall); said.Record.Now != want || reply.Failed {
		t.Fatalf("the clock says %d after %d: recorded %d, failed %v", wall, c.latest, said.Record.Now, reply.Failed)
	}
	c.latest = said.Record.Now
}

// markFile is a handler that leaves its marks as a victim does.
type markFile struct{ w *world }

func (m *markFile) Handle(_ context.Context, job broker.Job) broker.Result {
	file, err := os.OpenFile(m.w.marks, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return coordtest.Fail("no file to mark")
	}
	defer file.Close()
	fmt.Fprintln(file, job.Intent)
	return coordtest.Succeed(`{}`)
}
