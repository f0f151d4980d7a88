package storetest

import (
	"fmt"
	"testing"

	"world/fault"
	"world/store"
)

// commitOntoAHead holds what a commit promises that names the head it follows.
func commitOntoAHead(t *testing.T, open Opener) {
	w := opened(t, open)
	genesis, err := w.Head(w.ctx)
	ok(t, err)
	in, intent := w.intend("1")
	_, err = w.Commit(w.ctx, w.pure("between"))
	ok(t, err)
	head, err := w.Head(w.ctx)
	ok(t, err)

	f := w.finish(in, intent)
	probe := text("x", "comes with a refused commit")
	f.Objects = append(f.Objects, probe)
	before := w.state(probe.Ref())
	for name, onto := range map[string]store.Ref{
		"an older head": genesis.World, "an entry": head.Entry, "no world": store.RefOf([]byte("nowhere")), "no ref": "head",
	} {
		f.Onto = onto
		_, err = w.Commit(w.ctx, f)
		wantKind(t, name, err, fault.HeadMoved)
		equal(t, "state after "+name, w.state(probe.Ref()), before)
	}
	f.Onto = head.World
	entry, err := w.Commit(w.ctx, f)
	ok(t, err)
	equal(t, "entry", entry, store.Chain(head, f.Draft, f.Claim.Invocation))

	// The same again finds that the head has moved, by itself.
	before = w.state()
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "a second time", err, fault.HeadMoved)
	equal(t, "state after the second time", w.state(), before)
	landed, err := w.EntryOf(w.ctx, f.Claim.Invocation)
	ok(t, err)
	equal(t, "entry that landed", landed, entry)

	// A call without an intent may name a head too.
	pure := w.pure("2")
	pure.Onto = head.World
	_, err = w.Commit(w.ctx, pure)
	wantKind(t, "pure onto an older head", err, fault.HeadMoved)
	_, err = w.Claim(w.ctx, pure.Claim.Invocation)
	wantKind(t, "claim of a refused call", err, fault.NotFound)
	pure.Onto = entry.World
	_, err = w.Commit(w.ctx, pure)
	ok(t, err)
}

// oneOntoAHead lets many commit onto one head at once: one of them does.
func oneOntoAHead(t *testing.T, open Opener) {
	w := opened(t, open)
	for round := range 5 {
		head, err := w.Head(w.ctx)
		ok(t, err)
		errs := crowd(8, func(i int) error {
			f := w.pure(fmt.Sprintf("%d-%d", round, i))
			if i%4 != 3 {
				f.Onto = head.World
			}
			_, err := w.Commit(w.ctx, f)
			return err
		})
		won := 0
		for i, err := range errs {
			switch {
			case i%4 == 3: // takes whatever head there is
				ok(t, err)
			case err == nil:
				won++
			default:
				wantKind(t, "loser", err, fault.HeadMoved)
			}
		}
		if won > 1 {
			t.Fatalf("%d commits follow one head", won)
		}
		after, err := w.Head(w.ctx)
		ok(t, err)
		equal(t, "entries since", after.Index-head.Index, int64(won+2))
	}
}
