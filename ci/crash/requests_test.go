package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"world/ci/crash/scene"
	"world/store"
	"world/store/postgres/pgtest"
)

// lives plays a script in this process and returns what it said.
func (w *world) lives(script scene.Script) (said []scene.Line) {
	w.t.Helper()
	return w.plays(script, func(out io.Writer, script scene.Script) error { return scene.Play(context.Background(), script, out) })
}

// livesOn plays a script in this process on a store that is open.
func (w *world) livesOn(s store.Store, script scene.Script) (said []scene.Line) {
	w.t.Helper()
	return w.plays(script, func(out io.Writer, script scene.Script) error {
		return scene.PlayOn(context.Background(), s, script, out)
	})
}

func (w *world) plays(script scene.Script, play func(io.Writer, scene.Script) error) (said []scene.Line) {
	w.t.Helper()
	script.Marks, script.Sessions = w.marks, w.sessions
	script.Patience = patience
	var out bytes.Buffer
	ok(w.t, play(&out, script))
	for lines := json.NewDecoder(&out); ; {
		var l scene.Line
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			w.t.Fatal(err)
		}
		said = append(said, l)
	}
	w.hear(said)
	return said
}

// one is a call of one write.
func (w *world) one() scene.Call {
	w.made++
	c := scene.Call{Transition: "act", Task: taskName(w.made), Args: scene.One}
	w.know(c)
	return c
}

// TestEveryRequestOfACall loses the Nth request of a process that opens a world and
// makes one call, for N from 1 until none is lost (each third one in go test): the request itself, COMMIT
// alone, or the answer. The call comes to its end each time, with one effect.
func TestEveryRequestOfACall(t *testing.T) {
	for name, verdict := range map[string]pgtest.Verdict{"before": pgtest.CutBefore, "after": pgtest.CutAfter} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, "postgres", 1)
			w.owners["caller"] = true
			commits, lost, stride := 0, 0, int64(1)
			if *kills < 1000 {
				stride = 3
			}
			for n := 1 + source(name).Int64N(stride); ; n += stride {
				var seen, committed atomic.Int64
				proxy, url := pgtest.Front(t, w.where, func(r pgtest.Request) pgtest.Verdict {
					if seen.Add(1) != n {
						return pgtest.Pass
					}
					if r.Commit {
						committed.Store(1)
					}
					return verdict
				})
				c := w.one()
				w.lives(scene.Script{Store: url, Owner: "caller", Callers: [][]scene.Call{{c}}})
				proxy.Cut()
				commits += int(committed.Load())
				if end := w.calls[c.Task].ends; len(end) != 1 || end[0].Say != "done" || end[0].Stored {
					t.Errorf("request %d lost: %+v", n, end)
				}
				if seen.Load() >= n {
					lost++
					continue
				}
				v := w.judge(nil)
				t.Logf("%d of %d requests were lost, %d of them with COMMIT; %+v", lost, seen.Load(), commits, v)
				if lost < 10 || commits == 0 || v.intents != lost+1 || v.open != 0 {
					t.Errorf("%d intents of %d calls: too little was lost, or too much", v.intents, lost+1)
				}
				return
			}
		})
	}
}

// TestReport_pgx1223 swallows the reply to COMMIT: jackc/pgx#1223 saw a COMMIT time
// out that had happened, and its retry hit the unique index. Here each COMMIT of a
// call, that of its lease, of its intent and of its outcome, is lost in turn; the
// call is answered, its intent is not doubled and its effect not repeated.
// Report 13 of reference/reports.md: COMMIT times out and has committed; its retry doubles it.
func TestReport_pgx1223(t *testing.T) {
	w := begin(t, "postgres", 1)
	lost := 0
	for nth := int64(1); nth <= 5; nth++ {
		var commits atomic.Int64
		_, url := pgtest.Front(t, w.where, func(r pgtest.Request) pgtest.Verdict {
			if r.Commit && commits.Add(1) == nth {
				return pgtest.CutAfter
			}
			return pgtest.Pass
		})
		c := w.one()
		w.lives(scene.Script{Store: url, Owner: "caller", Callers: [][]scene.Call{{c}}})
		if commits.Load() > nth {
			lost++
		}
	}
	v := w.judge(nil)
	if marks := w.readMarks(); v.intents != 5 || len(marks) != 5 || v.open != 0 || lost < 3 {
		t.Errorf("five calls, %d lost replies: %+v and %d effects", lost, v, len(marks))
	}
}

// TestFullDisk lets the disk fill at ever later moments of a course of calls, until
// it no longer does; then there is room again and the same process goes on.
func TestFullDisk(t *testing.T) {
	build(t)
	w := begin(t, "sqlite", 2)
	random := source(t.Name())
	full := 0
	for step := uint64(1); ; step++ {
		var size int64
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(w.where + suffix); err == nil {
				size = max(size, info.Size())
			}
		}
		script := scene.Script{Store: w.where, Marks: w.marks, Sessions: w.sessions, Patience: patience,
			FileSize: uint64(size) + step*step*3000}
		for i := range 2 {
			script.Callers = append(script.Callers, []scene.Call{w.draw(random, i), w.draw(random, i), w.draw(random, i), w.draw(random, i)})
		}
		p := startProgram(t, filepath.Join(bin, "victim"), script, "")
		if p.killed() {
			t.Fatal("killed")
		}
		w.hear(p.said())
		filled := false
		for _, l := range p.said() {
			filled = filled || l.Say == "full"
		}
		if !filled {
			break
		}
		full++
	}
	if left := w.unanswered(); len(left) > 0 {
		t.Errorf("without an answer: %v", left)
	}
	w.settled = true
	v := w.judge(nil)
	t.Logf("the disk was full %d times; %+v", full, v)
	if full < 3 {
		t.Errorf("the disk was full %d times: too rarely to prove anything", full)
	}
}
