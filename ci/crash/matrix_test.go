package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"world/ci/crash/scene"
	"world/fault/stop"
	"world/store"
	"world/store/postgres/pgtest"
)

// midCommit is the moment at which a COMMIT is on the wire: the proxy knows it,
// and no line of the code does.
const midCommit stop.Point = "mid-commit"

// lane is one column of the matrix: an engine with what befalls it.
type lane struct {
	name    string
	engine  string
	restart bool // the database crashes and recovers while the victims run
	cut     bool // connections are cut in the middle of COMMIT
	callers int
}

func lanes() []lane {
	var all []lane
	for _, callers := range []int{1, 8} {
		all = append(all,
			lane{name: "sqlite", engine: "sqlite", callers: callers},
			lane{name: "postgres up", engine: "postgres", callers: callers},
			lane{name: "postgres restarted", engine: "postgres", restart: true, callers: callers},
			lane{name: "connection cut", engine: "postgres", cut: true, callers: callers})
	}
	return all
}

func (l lane) String() string { return fmt.Sprintf("%s, %d callers", l.name, l.callers) }

// points are those at which a lane kills.
func (l lane) points() []stop.Point {
	if l.cut {
		return append(stop.Points(), midCommit)
	}
	return stop.Points()
}

const (
	episodesEach = 3  // of a victim
	callsEach    = 24 // new calls a caller has at most
	worldRounds  = 10 // rounds in one world, so that judging it stays cheap
)

// patience is how long a victim sends a call again that cannot be carried out: a
// database recovers in a second, and on a machine that has no time for it in many.
const patience = 2 * time.Minute

// TestKillMatrix kills a process at each named point of a call, over each engine
// and under each fault, with one caller and with eight; its successor on the same
// world sends again what was not answered. Every round is judged.
func TestKillMatrix(t *testing.T) {
	build(t)
	cells := 0
	for _, l := range lanes() {
		cells += len(l.points())
	}
	rounds := (*kills + cells - 1) / cells
	var seen tally
	for _, l := range lanes() {
		t.Run(l.String(), func(t *testing.T) {
			met := l.run(t, rounds)
			t.Logf("%+v", met)
			if want := rounds * len(l.points()); met.kills != want {
				t.Errorf("%d kills, want %d", met.kills, want)
			}
			seen.add(met)
		})
	}
	t.Logf("in all %+v", seen)
	for what, n := range map[string]int{
		"intents without an outcome": seen.open, "calls answered from the store": seen.stored, "calls answered as indeterminate": seen.lost,
		"calls that were cut before their intent and done by a successor": seen.anew, "denials": seen.denied, "COMMITs cut": seen.cuts,
	} {
		if n == 0 && rounds > 2 {
			t.Errorf("no %s: the matrix proves less than it says", what)
		}
	}
}

// tally is what a lane met, so that it can be seen to have met everything.
type tally struct {
	kills, cuts                int
	intents, open, replayed    int
	stored, lost, anew, denied int // ends of calls; the first three of calls sent again
}

func (t *tally) add(u tally) {
	for mine, theirs := range map[*int]int{&t.kills: u.kills, &t.cuts: u.cuts, &t.intents: u.intents, &t.open: u.open,
		&t.replayed: u.replayed, &t.stored: u.stored, &t.lost: u.lost, &t.anew: u.anew, &t.denied: u.denied} {
		*mine += theirs
	}
}

// ends counts how the calls of a world ended.
func (t *tally) ends(w *world) {
	for _, c := range w.calls {
		for _, end := range c.ends {
			switch {
			case end.Denied:
				t.denied++
			case end.Say == "lost":
				t.lost++
			case end.Stored:
				t.stored++
			case c.again:
				t.anew++
			}
		}
	}
}

// run kills in one lane, round by round.
func (l lane) run(t *testing.T, rounds int) (met tally) {
	random := source(l.String())
	var w *world
	for round := range rounds {
		if round%worldRounds == 0 {
			w = begin(t, l.engine, episodesEach*len(l.points()))
		}
		for _, slots := range l.generations() {
			for _, v := range l.play(t, w, random, slots) {
				met.kills++
				met.cuts += int(v.cut.Load())
			}
		}
		if round%worldRounds == worldRounds-1 || round == rounds-1 {
			w.settle()
			v := w.judge(nil)
			met.add(tally{intents: v.intents, open: v.open, replayed: v.replayed})
			met.ends(w)
		}
		if t.Failed() {
			t.Fatalf("round %d of -seed %d", round, *seed)
		}
	}
	return met
}

// generations puts the points into generations of victims that live at one time: a
// file has one writer, a database as many as there are points.
func (l lane) generations() [][]int {
	var together []int
	var apart [][]int
	for i := range l.points() {
		together = append(together, i)
		apart = append(apart, []int{i})
	}
	if l.engine == "sqlite" {
		return apart
	}
	return [][]int{together}
}

// victim is one process that is to die.
type victim struct {
	*process
	slot    int
	point   stop.Point
	cuts    map[int64]pgtest.Verdict // by number of the COMMIT after it is ready
	proxy   *pgtest.Proxy
	commits atomic.Int64
	cut     atomic.Int64 // how many of them
	live    atomic.Pointer[process]
}

// play runs one generation to its death, and judges what it leaves.
func (l lane) play(t *testing.T, w *world, random *rand.Rand, slots []int) []*victim {
	t.Helper()
	w.settled = false
	var all []*victim
	for _, slot := range slots {
		all = append(all, l.raise(t, w, random, slot))
	}
	if l.restart {
		l.crash(t, all, random.IntN(3*len(all)*l.callers))
	}
	for _, v := range all {
		if !v.killed() {
			t.Errorf("%s: the victim was not killed at %s", l, v.point)
		}
		if v.proxy != nil {
			v.proxy.Deliver() // what was late comes when its sender is dead
		}
		w.hear(v.said())
	}
	w.judge(func(ctx context.Context, s store.Store) {
		for _, v := range all {
			l.judgeLost(ctx, s, w, v)
			if l.callers == 1 && v.point != midCommit {
				w.expect(ctx, s, v.point, v.cutCall(w))
			}
		}
	})
	return all
}

// judgeLost holds that a call is answered as indeterminate only when a process died
// over it, or its effect ran and a slow machine did not record how it ended in time:
// a COMMIT that is merely cut is settled, and what it was for goes on.
func (l lane) judgeLost(ctx context.Context, s store.Store, w *world, v *victim) {
	w.t.Helper()
	for _, line := range v.told("lost") {
		c := w.calls[line.Task]
		if c.again || l.restart { // a database that was away may have outlasted a lease
			continue
		}
		intent, err := s.IntentOf(ctx, c.id())
		ok(w.t, err)
		if !w.acted(intent.Name()) {
			w.t.Errorf("%s: %s is called indeterminate, nobody died over it, and its effect never ran: %s", l, line.Task, line.Detail)
		}
	}
}

// raise starts the victim of a slot: it sends again what its predecessor left
// unanswered, and then new calls until it dies.
func (l lane) raise(t *testing.T, w *world, random *rand.Rand, slot int) *victim {
	t.Helper()
	v := &victim{slot: slot, point: l.points()[slot], cuts: map[int64]pgtest.Verdict{}}
	script := scene.Script{Store: w.where, Owner: fmt.Sprintf("victim-%d", slot), Marks: w.marks,
		Sessions: w.sessions, Patience: patience, Patient: !l.restart, Callers: make([][]scene.Call, l.callers)}
	w.owners[script.Owner] = true
	first := 0
	if isDatabase(w.where) {
		first = slot * episodesEach
	}
	n := 0
	for _, c := range w.unanswered() {
		if c.Session >= first && c.Session < first+episodesEach {
			w.calls[c.Task].again = true
			script.Callers[n%l.callers] = append(script.Callers[n%l.callers], c)
			n++
		}
	}
	for i := range script.Callers {
		for range callsEach {
			script.Callers[i] = append(script.Callers[i], w.draw(random, first+random.IntN(episodesEach)))
		}
	}
	if l.cut {
		v.cutSome(t, random, &script)
	}
	at := fmt.Sprintf("%s@%d", v.point, 1+random.IntN(2+l.callers))
	if v.point == midCommit {
		at = ""
	}
	v.process = start(t, script, at)
	v.live.Store(v.process)
	return v
}

// cutSome puts a proxy before the database that cuts two of the victim's COMMITs.
// A victim of midCommit dies with the first.
func (v *victim) cutSome(t *testing.T, random *rand.Rand, script *scene.Script) {
	verdicts := []pgtest.Verdict{pgtest.CutBefore, pgtest.CutAfter, pgtest.Late}
	for range 2 {
		v.cuts[1+random.Int64N(4)] = verdicts[random.IntN(len(verdicts))]
	}
	v.proxy, script.Store = pgtest.Front(t, script.Store, v.judgeRequest)
}

func (v *victim) judgeRequest(r pgtest.Request) pgtest.Verdict {
	p := v.live.Load()
	if !r.Commit || p == nil {
		return pgtest.Pass
	}
	select {
	case <-p.ready:
	default:
		return pgtest.Pass
	}
	verdict := v.cuts[v.commits.Add(1)]
	if verdict != pgtest.Pass {
		v.cut.Add(1)
		if v.point == midCommit {
			_ = p.cmd.Process.Kill() // an error means that it is dead already
		}
	}
	return verdict
}

// crash crashes the database once so many calls were answered, or all are dead.
func (l lane) crash(t *testing.T, all []*victim, after int) {
	t.Helper()
	until(t, "the victims work or die", func() bool {
		answered, dead := 0, 0
		for _, v := range all {
			for _, line := range v.said() {
				if line.Say == "done" {
					answered++
				}
			}
			select {
			case <-v.ended:
				dead++
			default:
			}
		}
		return answered >= after || dead == len(all)
	})
	pgtest.Shared(t).Restart(t)
}

// cutCall is the call that was sent last and not answered.
func (v *victim) cutCall(w *world) *call {
	open := ""
	for _, l := range v.said() {
		switch l.Say {
		case "sent":
			open = l.Task
		case "done", "lost", "refused":
			open = ""
		}
	}
	return w.calls[open]
}
