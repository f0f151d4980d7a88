package coordinator_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
	"world/store/record"
)

// between is a store in which something happens just before, or just after, a
// client's commit is written.
type between struct {
	store.Store
	before func() error
	after  func() error
	tries  int
}

func (b *between) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	if f.Onto == "" {
		return b.Store.Commit(ctx, f)
	}
	b.tries++
	if b.before != nil {
		if err := b.before(); err != nil {
			return store.Entry{}, err
		}
	}
	entry, err := b.Store.Commit(ctx, f)
	if err == nil && b.after != nil {
		if err := b.after(); err != nil {
			return store.Entry{}, err
		}
	}
	return entry, err
}

// through is a coordinator on this world's store with something in between.
func through(w *coordtest.World, b *between) *coordinator.Coordinator {
	b.Store = w.Store
	options := w.Options
	options.Store = b
	return coordinator.New(options)
}

// TestHeadMovesOnTheWay lets another entry come first after the intent: the
// commit has failed, that is recorded, and nothing of the client's is stored.
func TestHeadMovesOnTheWay(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := committer(w, "ep", 2)
	other := committer(w, "other", 1)
	m := w.NextCommit(live, "late", "a note")
	b := &between{before: func() error {
		_, err := w.C.Commit(t.Context(), other, w.NextCommit(other, "first", "another note"))
		return err
	}}
	reply, err := through(w, b).Commit(t.Context(), live, m)
	if err != nil || !reply.Failed || reply.Kind != fault.Failed || !strings.Contains(reply.Message, "head moved") {
		t.Fatalf("%+v, %v", reply, err)
	}
	if after := left(t, w, m); !strings.Contains(after, "{ep 1 [{World.Commit world 1}]} truefalse") {
		t.Errorf("left %s", after) // the note is not there; the source is the other's too
	}
	intent, err := w.Store.IntentOf(t.Context(), "rest:late")
	if err != nil || intent.Outcome.Status != store.StatusFailed {
		t.Errorf("intent %+v, %v", intent, err)
	}
	again, err := w.C.Commit(t.Context(), live, m)
	if err != nil || !again.Replayed || again.Kind != fault.Failed || again.Message != reply.Message {
		t.Errorf("again: %+v, %v", again, err)
	}
	holds(t, w)
}

// TestLandedWithoutReply loses the reply of the transaction: the next try finds
// the head moved, by itself.
func TestLandedWithoutReply(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := committer(w, "ep", 1)
	m := w.NextCommit(live, "once", "a note")
	b := &between{after: func() error { return fault.New("test", fault.Uncertain, "the reply was lost") }}
	reply, err := through(w, b).Commit(t.Context(), live, m)
	if err != nil || reply.Failed || reply.Entry != m.Record.Entry("rest:once") || b.tries != 2 {
		t.Errorf("%+v, %v after %d tries", reply, err, b.tries)
	}
	holds(t, w)
}

// TestUnlanded cuts a commit short between intent and entry.
func TestUnlanded(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Uncertain, fault.Unavailable, fault.LeaseLost} {
		t.Run(kind.String(), func(t *testing.T) {
			w := world(t, &coordtest.Hand{}, nil)
			live := committer(w, "ep", 2)
			m := w.NextCommit(live, "cut", "a note")
			c := through(w, &between{before: func() error { return fault.New("test", kind, "no") }})
			if _, err := c.Commit(t.Context(), live, m); !fault.Is(err, fault.Uncertain) {
				t.Fatalf("%v", err)
			}
			if after := left(t, w, m); !strings.Contains(after, "{ep 1 [{World.Commit world 1}]} truetrue") {
				t.Errorf("left %s", after)
			}
			open, err := w.Store.Indeterminate(t.Context(), 10)
			if err != nil || len(open) != 1 || open[0].Invocation != "rest:cut" {
				t.Fatalf("indeterminate: %v, %v", open, err)
			}
			// It is never retried behind anybody's back, by its client neither.
			if _, err := w.C.Commit(t.Context(), live, m); !fault.Is(err, fault.Indeterminate) || !strings.Contains(err.Error(), "effect:ep:0") {
				t.Errorf("resent: %v", err)
			}
			if reply, err := w.C.Commit(t.Context(), live, w.NextCommit(live, "new", "a note")); err != nil || reply.Failed {
				t.Errorf("a new id: %+v, %v", reply, err)
			}
			holds(t, w)
		})
	}
}

// TestOneCommitFollowsAHead races sessions of several episodes for one head.
func TestOneCommitFollowsAHead(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	const racers = 6
	var commits [racers]coordinator.ClientCommit
	var replies [racers]coordinator.Reply
	var errs [racers]error
	lives := make([]coordtestLive, racers)
	for i := range racers {
		lives[i] = committer(w, store.EpisodeID("ep"+string(rune('a'+i))), 1)
	}
	for i := range racers {
		commits[i] = w.NextCommit(lives[i], "", string(rune('a'+i)))
	}
	before := head(t, w)
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() { replies[i], errs[i] = w.C.Commit(t.Context(), lives[i], commits[i]) })
	}
	all.Wait()
	landed, beaten := 0, int64(0)
	for i := range racers {
		switch {
		case errs[i] == nil && !replies[i].Failed:
			landed++
		case errs[i] == nil && replies[i].Kind == fault.Failed:
			beaten++
		case !fault.Is(errs[i], fault.HeadMoved):
			t.Errorf("%d: %+v, %v", i, replies[i], errs[i])
		}
	}
	if landed != 1 || head(t, w) != before+1+beaten {
		t.Errorf("%d landed, %d were beaten on the way, %d entries", landed, beaten, head(t, w)-before)
	}
	holds(t, w)
}

// TestDuplicateCommits sends one commit many times at once: one lands, all are
// answered with it, one unit is spent.
func TestDuplicateCommits(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := committer(w, "ep", 5)
	m := w.NextCommit(live, "one", "a note")
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			reply, err := w.C.Commit(t.Context(), live, m)
			if err != nil || reply.Failed || reply.Entry != m.Record.Entry("rest:one") {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
	all.Wait()
	ledger, err := w.Store.Ledger(t.Context(), "ep")
	if err != nil || ledger.Of(record.CommitEffect, record.CommitScope) != 1 {
		t.Errorf("%+v, %v", ledger, err)
	}
	holds(t, w)
}
