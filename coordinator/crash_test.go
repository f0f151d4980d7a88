package coordinator_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/replay"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/sqlite"
)

type coordtestLive = session.Live

// newEmptyStore opens a store without a genesis.
func newEmptyStore(t *testing.T) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "empty.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// imageDuringHandler makes a call, and while its handler runs copies the files of
// the store: what a kill -9 at that moment leaves behind. Then the call goes on.
func imageDuringHandler(t *testing.T, w *coordtest.World, hand *coordtest.Hand, live session.Live, task, args string) (image string) {
	t.Helper()
	image = filepath.Join(t.TempDir(), "image.db")
	hand.Before = func(context.Context, broker.Job) {
		for _, suffix := range []string{"", "-wal"} {
			bytes, err := os.ReadFile(w.Path + suffix)
			if err != nil {
				t.Errorf("image: %v", err)
			}
			if err := os.WriteFile(image+suffix, bytes, 0o600); err != nil {
				t.Errorf("image: %v", err)
			}
		}
	}
	w.Must(live, coordtest.Act, task, args)
	hand.Before = nil
	return image
}

// cutShort leaves an intent behind whose process is gone.
func cutShort(t *testing.T, w *coordtest.World, live session.Live, task, args string) {
	t.Helper()
	hand := &coordtest.Hand{}
	options := w.Options
	options.Store = &broken{Store: w.Store, commit: fault.New("test", fault.Invalid, "this store commits nothing")}
	options.Handlers = coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand, "Net.Send": hand}
	twin := coordinator.New(options)
	snapshot, err := twin.Snapshot(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	_, err = twin.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: task, Args: []byte(args)})
	if !fault.Is(err, fault.Indeterminate) {
		t.Fatalf("cut short: %v", err)
	}
}

// broken is a store some of whose parts fail.
type broken struct {
	store.Store
	commit error
	giveUp error
	keep   error
	calls  int // of Commit
	heal   int // Commit works again after that many calls
}

func (b *broken) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	if b.calls++; b.commit != nil && (b.heal == 0 || b.calls <= b.heal) {
		return store.Entry{}, b.commit
	}
	return b.Store.Commit(ctx, f)
}

func (b *broken) GiveUp(ctx context.Context, lease store.Lease) error {
	if b.giveUp != nil {
		return b.giveUp
	}
	return b.Store.GiveUp(ctx, lease)
}

func (b *broken) Keep(ctx context.Context, objects []store.Object) error {
	if b.keep != nil {
		return b.keep
	}
	return b.Store.Keep(ctx, objects)
}

// TestKilledWhileTheHandlerRuns opens what a kill leaves behind: the intent is
// indeterminate, its unit is spent, nothing is retried, and the id says so.
func TestKilledWhileTheHandlerRuns(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 2)
	w.Path = imageDuringHandler(t, w, hand, live, "task", `{}`)
	w.Restart()
	jobs := len(hand.Jobs())

	open, err := w.C.Indeterminate(t.Context(), 500)
	if err != nil || len(open) != 1 || open[0].Name() != "effect:ep:0" || open[0].Outcome.Status != store.StatusOpen {
		t.Fatalf("indeterminate at start: %+v, %v", open, err)
	}
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`); !fault.Is(err, fault.Indeterminate) {
		t.Errorf("resent: %v", err)
	}
	if total, intents := spent(t, w, "ep"); total != 1 || intents != 1 || len(hand.Jobs()) != jobs {
		t.Errorf("spent %d by %d intents, %d handled", total, intents, len(hand.Jobs())-jobs)
	}
	if reply := w.Must(live, coordtest.Act, "second", `{}`); reply.Failed {
		t.Errorf("the unit that is left: %+v", reply)
	}
	if reply := w.Must(live, coordtest.Act, "third", `{}`); reply.Denial != "denied:budget" {
		t.Errorf("beyond the budget: %+v", reply)
	}
	counts := replays(t, w)
	if counts.Same != 2 || counts.Unreplayable[replay.NoEntry] != 1 {
		t.Errorf("replay counts %+v", counts)
	}
}

// TestRestart checks that budget, claims and answers outlive the process.
func TestRestart(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 1)
	first := w.Must(live, coordtest.Act, "task", `{}`)
	w.Restart()
	if again := w.Must(live, coordtest.Act, "task", `{}`); !again.Replayed || string(again.Output) != string(first.Output) {
		t.Errorf("resent after restart: %+v", again)
	}
	if reply := w.Must(writer(w, 1), coordtest.Act, "", `{}`); reply.Denial != "denied:budget" {
		t.Errorf("a new session refilled the budget: %+v", reply)
	}
	if reply := w.Must(writer(w, 2), coordtest.Act, "", `{}`); reply.Failed {
		t.Errorf("a larger grant raises the ceiling: %+v", reply)
	}
	if open, err := w.C.Indeterminate(t.Context(), 500); err != nil || len(open) != 0 {
		t.Errorf("indeterminate: %+v, %v", open, err)
	}
}

// TestCommitIsRetried checks that an attempt that failed on its way is made again.
func TestCommitIsRetried(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Internal, fault.Uncertain, fault.Unavailable} {
		hand := &coordtest.Hand{}
		b := &broken{commit: fault.New("test", kind, "not this time"), heal: 2}
		w := world(t, hand, func(o *coordinator.Options) { b.Store, o.Store = o.Store, b })
		if reply := w.Must(writer(w, 1), coordtest.Act, "", `{}`); reply.Failed || b.calls != 3 || len(hand.Jobs()) != 1 {
			t.Errorf("%s: reply %+v after %d commits, %d jobs", kind, reply, b.calls, len(hand.Jobs()))
		}
		replays(t, w)
	}
}

// landed is a store whose first commit lands and says that it does not know.
type landed struct {
	store.Store
	calls int
}

func (l *landed) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	entry, err := l.Store.Commit(ctx, f)
	if l.calls++; l.calls == 1 && err == nil {
		return store.Entry{}, fault.New("test", fault.Uncertain, "the reply was lost")
	}
	return entry, err
}

// TestLostCommitReply checks that a commit that landed is found and not doubled.
func TestLostCommitReply(t *testing.T) {
	for _, args := range []string{`{}`, `{"cost":3}`, `{"plan":` + zeroEffects + `}`} {
		l := &landed{}
		w := world(t, &coordtest.Hand{}, func(o *coordinator.Options) { l.Store, o.Store = o.Store, l })
		live := writer(w, 1)
		before := head(t, w)
		reply := w.Must(live, coordtest.Act, "task", args)
		if head(t, w) != before+1 || l.calls != 2 || reply.Entry.Index != before+1 {
			t.Errorf("%s: head %d after %d, %d commits, entry %d", args, head(t, w), before, l.calls, reply.Entry.Index)
		}
	}
}

// TestCommitFailsForGood checks the last resort: the lease is given up, the
// intent becomes indeterminate, what is known is kept, and the call says so.
func TestCommitFailsForGood(t *testing.T) {
	hand := &coordtest.Hand{}
	b := &broken{commit: fault.New("test", fault.LeaseLost, "another has it")}
	w := world(t, hand, func(o *coordinator.Options) { b.Store, o.Store = o.Store, b })
	live := writer(w, 2)
	_, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{"do":"kept"}`)
	if !fault.Is(err, fault.Indeterminate) || b.calls != 1 {
		t.Fatalf("after %d commits: %v", b.calls, err)
	}
	open, err := w.C.Indeterminate(t.Context(), 500)
	if err != nil || len(open) != 1 {
		t.Fatalf("indeterminate: %+v, %v", open, err)
	}
	if _, err := w.Store.Object(t.Context(), store.RefOf([]byte(`{"done":{"do":"kept"}}`))); err != nil {
		t.Errorf("the result was not kept: %v", err)
	}
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{"do":"kept"}`); !fault.Is(err, fault.Indeterminate) {
		t.Errorf("resent: %v", err)
	}
	b.commit = nil
	if reply := w.Must(live, coordtest.Act, "next", `{}`); reply.Failed {
		t.Errorf("the next call: %+v", reply)
	}
}

// TestLeaseThatCannotBeGivenUp checks that nothing of an episode runs under a
// lease that an open intent was left under.
func TestLeaseThatCannotBeGivenUp(t *testing.T) {
	hand := &coordtest.Hand{}
	down := fault.New("test", fault.Unavailable, "the store is down")
	b := &broken{commit: down, giveUp: down, keep: down}
	w := world(t, hand, func(o *coordinator.Options) { b.Store, o.Store = o.Store, b })
	live := writer(w, 5)
	b.keep = down
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`); !fault.Is(err, fault.Indeterminate) {
		t.Fatalf("first: %v", err)
	}
	b.commit = nil
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "next", `{}`); !fault.Is(err, fault.Unavailable) || len(hand.Jobs()) != 1 {
		t.Errorf("while the lease is stale: %v, %d jobs", err, len(hand.Jobs()))
	}
	b.giveUp, b.keep = nil, nil
	if reply := w.Must(live, coordtest.Act, "next", `{}`); reply.Failed {
		t.Errorf("after it was given up: %+v", reply)
	}
	if open, err := w.C.Indeterminate(t.Context(), 500); err != nil || len(open) != 1 || open[0].Ordinal != 0 {
		t.Errorf("indeterminate: %+v, %v", open, err)
	}
}
