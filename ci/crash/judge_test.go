package crash

import (
	"context"
	"os"
	"strings"

	"world/coordinator/coordtest"
	"world/coordinator/replay"
	"world/fault"
	"world/fault/stop"
	"world/store"
	"world/store/fsck"
)

// verdict is what a judgement saw, so that a test can tell that it saw enough.
type verdict struct {
	intents, open, replayed int
}

// judge is the oracle. Whatever was killed and lost before: what was acknowledged
// is there; an intent has at most one effect, and none has an effect that has no
// intent; spend is the sum of the intents and within the budget; every intent is
// resolved or indeterminate; the chain is whole; fsck is clean; and every answer
// replays byte by byte.
//
// also, when given, looks at the same store.
func (w *world) judge(also func(ctx context.Context, s store.Store)) (v verdict) {
	w.t.Helper()
	w.with("driver", func(ctx context.Context, s store.Store) {
		marks := w.readMarks()
		intents := w.judgeIntents(ctx, s, marks, &v)
		w.judgeAnswers(ctx, s, intents, &v)
		w.judgeChain(ctx, s)
		report, err := fsck.Run(ctx, s, fsck.Options{})
		ok(w.t, err)
		for _, finding := range report.Findings {
			w.t.Errorf("fsck: %s", finding)
		}
		counts, err := replay.ReplayAll(ctx, s, coordtest.Runner{}, func(r replay.Report) error {
			if r.Verdict == replay.Diverged {
				w.t.Errorf("replay: %s diverges at %s: wanted %s, got %s", r.Invocation, r.Position, r.Wanted, r.Got)
			}
			return nil
		})
		ok(w.t, err)
		v.replayed = counts.Same
		if got := counts.Unreplayable[replay.NoEntry]; got != v.open || len(counts.Unreplayable) > 1 {
			w.t.Errorf("replay: %v cannot be replayed, and %d intents have no outcome", counts.Unreplayable, v.open)
		}
		if also != nil {
			also(ctx, s)
		}
	})
	return v
}

// settle ends the leases of every victim, as its successor would: what is open
// then is indeterminate.
func (w *world) settle() {
	w.t.Helper()
	for owner := range w.owners {
		w.with(owner, func(context.Context, store.Store) {})
	}
	w.settled = true
}

// readMarks reads the effects: how often each intent was acted on.
func (w *world) readMarks() map[string]int {
	w.t.Helper()
	marks := map[string]int{}
	text, err := os.ReadFile(w.marks)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		marks[strings.TrimSuffix(line, "\n")]++
	}
	for name, times := range marks {
		if times != 1 {
			w.t.Errorf("%s was acted on %d times", name, times)
		}
	}
	return marks
}

// judgeIntents holds each episode's ledger to its intents, and each intent to its
// effect and its end.
func (w *world) judgeIntents(ctx context.Context, s store.Store, marks map[string]int, v *verdict) map[store.InvocationID]store.Intent {
	w.t.Helper()
	intents := map[store.InvocationID]store.Intent{}
	judged := map[store.EpisodeID]store.Ledger{}
	for _, live := range w.sessions {
		episode := live.Record.Episode
		ledger, twice := judged[episode]
		if !twice {
			ledger = w.judgeEpisode(ctx, s, episode, marks, intents, v)
			judged[episode] = ledger
		}
		for _, g := range live.Record.Grants {
			if got := ledger.Of(g.Effect, g.Scope); got > g.Budget {
				w.t.Errorf("%s: %d of %s are spent of %d", episode, got, g.Effect, g.Budget)
			}
		}
	}
	for name := range marks {
		w.t.Errorf("%s was acted on and is no intent", name)
	}
	return intents
}

// judgeEpisode holds one ledger to its intents and returns it.
func (w *world) judgeEpisode(ctx context.Context, s store.Store, episode store.EpisodeID, marks map[string]int,
	intents map[store.InvocationID]store.Intent, v *verdict) store.Ledger {
	w.t.Helper()
	ledger, err := s.Ledger(ctx, episode)
	ok(w.t, err)
	sum := map[store.Spent]int64{}
	next := int64(0)
	for {
		page, err := s.Intents(ctx, episode, next, 500)
		ok(w.t, err)
		for _, i := range page {
			w.judgeIntent(ctx, s, i, next, marks[i.Name()], v)
			if other, twice := intents[i.Invocation]; twice {
				w.t.Errorf("%s has the intents %s and %s", i.Invocation, other.Name(), i.Name())
			}
			intents[i.Invocation] = i
			sum[store.Spent{Effect: i.Effect, Scope: i.Scope}] += i.Cost
			delete(marks, i.Name())
			next++
		}
		if len(page) < 500 {
			break
		}
	}
	if ledger.Next != next {
		w.t.Errorf("%s: the next ordinal is %d after %d intents", episode, ledger.Next, next)
	}
	for key, total := range sum {
		if got := ledger.Of(key.Effect, key.Scope); got != total {
			w.t.Errorf("%s: %d of %s are spent, by intents of %d", episode, got, key.Effect, total)
		}
	}
	v.intents += int(next)
	return ledger
}

func (w *world) judgeIntent(ctx context.Context, s store.Store, i store.Intent, ordinal int64, acted int, v *verdict) {
	w.t.Helper()
	if i.Ordinal != ordinal {
		w.t.Errorf("intent %d of %s follows %d", i.Ordinal, i.Episode, ordinal-1)
	}
	_, err := s.EntryOf(ctx, i.Invocation)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		w.t.Errorf("entry of %s: %v", i.Name(), err)
	case i.Outcome.Status == store.StatusOpen && err == nil, i.Outcome.Status != store.StatusOpen && err != nil:
		w.t.Errorf("%s is %q, and its entry: %v", i.Name(), i.Outcome.Status, err)
	case i.Outcome.Status == store.StatusSucceeded && acted != 1:
		w.t.Errorf("%s succeeded and was acted on %d times", i.Name(), acted)
	}
	if i.Outcome.Status == store.StatusOpen {
		v.open++
	}
}

// judgeAnswers holds what the victims said to what is stored, and the list of
// indeterminate intents to the intents.
func (w *world) judgeAnswers(ctx context.Context, s store.Store, intents map[store.InvocationID]store.Intent, v *verdict) {
	w.t.Helper()
	for task, c := range w.calls {
		for _, end := range c.ends {
			entry, err := s.EntryOf(ctx, c.id())
			if end.Say == "done" && (err != nil || entry.Index != end.Entry) {
				w.t.Errorf("%s was acknowledged as entry %d: now %d, %v", task, end.Entry, entry.Index, err)
			}
			i, there := intents[c.id()]
			// A database that was away for longer than a commit waits may have recorded it.
			unsaid := strings.Contains(end.Detail, "not known whether how it ended was recorded")
			if end.Say == "lost" && (!there || err == nil && i.Outcome.Status != store.StatusIndeterminate && !unsaid) {
				w.t.Errorf("%s was answered as indeterminate (%s): intent %v, status %q, entry %d, %v", task, end.Detail, there, i.Outcome.Status, entry.Index, err)
			}
			if end.Denied && there {
				w.t.Errorf("%s was denied and has an intent", task)
			}
		}
	}
	listed, err := s.Indeterminate(ctx, 500)
	ok(w.t, err)
	if len(listed) > v.open || w.settled && len(listed) != v.open {
		w.t.Errorf("%d intents have no outcome, %d are listed as indeterminate", v.open, len(listed))
	}
}

// judgeChain walks the log from its first entry to the selected head.
func (w *world) judgeChain(ctx context.Context, s store.Store) {
	w.t.Helper()
	at := store.Void
	for {
		page, err := s.Entries(ctx, at.Index+1, 500)
		ok(w.t, err)
		for _, e := range page {
			want := store.Chain(at, store.Draft{SemanticsEpoch: e.SemanticsEpoch, TransitionFn: e.TransitionFn, Interpreter: e.Interpreter,
				WrittenBy: e.WrittenBy, Transition: e.Transition, StateRoot: e.StateRoot}, e.Invocation)
			if e != want {
				w.t.Errorf("entry %d does not follow its predecessor", e.Index)
			}
			at = e.Head()
		}
		if len(page) < 500 {
			break
		}
	}
	if head, err := s.Head(ctx); err != nil || head != at {
		w.t.Errorf("the head is %v, %v, and the log ends in %v", head, err, at)
	}
}

// acted reports whether an intent's effect happened.
func (w *world) acted(intent string) bool {
	text, err := os.ReadFile(w.marks)
	return err == nil && strings.Contains("\n"+string(text), "\n"+intent+"\n")
}

// expect holds the call that a death cut to what the point of the death says of it.
func (w *world) expect(ctx context.Context, s store.Store, point stop.Point, c *call) {
	w.t.Helper()
	if c == nil {
		w.t.Errorf("killed %s, and no call was under way", point)
		return
	}
	intent, err := s.IntentOf(ctx, c.id())
	intended := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		w.t.Errorf("intent of %s: %v", c.id(), err)
	}
	_, err = s.EntryOf(ctx, c.id())
	entered := err == nil
	acted := intended && w.acted(intent.Name())
	var want [3]bool // intent, effect, entry
	switch point {
	case stop.AfterIntent, stop.InHandler:
		want = [3]bool{true, false, false}
	case stop.AfterEffect, stop.BeforeOutcome:
		want = [3]bool{true, true, false}
	case stop.AfterOutcome:
		want = [3]bool{true, true, true}
	case stop.BeforeReply: // a denial passes it too
		want = [3]bool{intended, intended, true}
	}
	if got := [3]bool{intended, acted, entered}; got != want {
		w.t.Errorf("killed %s: intent, effect and entry of %s: %v, want %v", point, c.id(), got, want)
	}
}
