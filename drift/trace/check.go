package trace

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"world/store"
	"world/store/handover"
)

// Finding is one thing that the model does not allow.
type Finding struct {
	Episode store.EpisodeID
	What    string
}

// String renders the finding for a reader.
func (f Finding) String() string { return fmt.Sprintf("episode %q: %s", f.Episode, f.What) }

// Report is what a check found, and how much it looked at.
type Report struct {
	Findings []Finding
	Episodes int
	Steps    map[Kind]int
	Assumed  int // intents and words whose session or object is no record, and which were taken as lawful
}

// Store checks the journal that a store holds.
func Store(ctx context.Context, from store.Auditor) (Report, error) {
	j, err := handover.Read(ctx, from, "")
	if err != nil {
		return Report{}, err
	}
	return Check(j), nil
}

// Check follows a journal step by step, each episode by itself.
func Check(j handover.Journal) Report {
	r := Report{Steps: map[Kind]int{}}
	x := newIndex(j)
	for _, episode := range x.episodes() {
		w := &walk{index: x, report: &r, episode: episode, rows: x.intents[episode], state: Begins()}
		w.log()
		w.rest()
		w.agrees()
		r.Episodes++
	}
	return r
}

// walk is the way through one episode.
type walk struct {
	*index
	report  *Report
	episode store.EpisodeID
	rows    []store.Intent // by ordinal
	next    int            // of them, not written yet
	state   *State
}

func (w *walk) find(format string, args ...any) {
	w.report.Findings = append(w.report.Findings, Finding{w.episode, fmt.Sprintf(format, args...)})
}

// step takes one event; where says which row or entry shows it.
func (w *walk) step(where string, e Event) {
	w.report.Steps[e.Kind]++
	if !w.state.May(e) {
		w.find("%s: %s is not lawful: %s", where, e.Kind, w.why(e))
		return
	}
	w.state.After(e)
	for _, b := range w.state.brokenBy(e) {
		w.find("%s: after %s the invariant %s does not hold", where, e.Kind, b)
	}
}

// why says what the model misses of an event, for a reader.
func (w *walk) why(e Event) string {
	s := w.state
	switch e.Kind {
	case Intend, Deny:
		k := keyOf(e.Held)
		return fmt.Sprintf("epoch %d under %d, life %d, %s=%s of budget %d with %d spent, cost %d at %d",
			s.Epoch, e.Under, s.Life[e.ID], k.Effect, k.Scope, e.Held.Grant.Budget, s.Spent[k], e.Asked.Cost, e.Asked.Now)
	case Mint:
		return fmt.Sprintf("a budget of %d, or an ended session", e.Held.Grant.Budget)
	}
	return fmt.Sprintf("epoch %d under %d, intent %q of epoch %d, life %d", s.Epoch, e.Under, e.ID, s.Made[e.ID], s.Life[e.ID])
}

// reach lets the lease change hands until its epoch is n.
func (w *walk) reach(where string, n int64) {
	const most = 1 << 20
	if n-w.state.Epoch > most {
		w.find("%s: epoch %d is %d beyond the one before", where, n, n-w.state.Epoch)
		w.state.Epoch = n
	}
	for w.state.Epoch < n {
		w.step(where, Event{Kind: Takeover})
	}
}

// write takes the intents below an ordinal that were not taken yet: nothing says
// when they were written but their order and what follows from them.
func (w *walk) write(ordinal int64) {
	for w.next < len(w.rows) && w.rows[w.next].Ordinal < ordinal {
		i := w.rows[w.next]
		w.next++
		where := "intent " + i.Name()
		id := string(i.Invocation)
		w.reach(where, i.Epoch)
		claim, ok := w.claims[i.Invocation]
		if !ok {
			w.find("%s: its invocation %q is not claimed", where, id)
			continue
		}
		e := Event{Kind: Intend, Under: i.Epoch, ID: id, Asked: asked(i), Held: w.held(claim, i)}
		w.step(where, e)
	}
}

// rest takes what the log does not speak of.
func (w *walk) rest() {
	for _, i := range w.rows {
		w.write(i.Ordinal + 1)
	}
	for _, i := range w.rows {
		w.assumedWord(i)
	}
	for id, s := range w.sessions {
		if s.Episode == w.episode && s.Revocation != "" && !w.state.Ended[id] && w.read[store.Ref(id)] {
			w.find("session %s: its row is revoked, and no entry says so", id)
		}
	}
}

// agrees holds the rows to the state that the steps lead to, and every invariant
// to the rows.
func (w *walk) agrees() {
	lease, ok := w.leases[w.episode]
	if !ok && w.state.Epoch > 0 {
		w.find("lease: it is missing")
	}
	if ok && lease < w.state.Epoch {
		w.find("lease: its row is at epoch %d, the steps lead to %d", lease, w.state.Epoch)
	}
	stored := *w.state
	stored.Epoch = lease
	stored.Spent = w.spent[w.episode]
	for _, k := range keys(stored.Spent, w.state.Spent) {
		if stored.Spent[k] != w.state.Spent[k] {
			w.find("spend of %s=%s: its row says %d, the steps lead to %d", k.Effect, k.Scope, stored.Spent[k], w.state.Spent[k])
		}
	}
	stored.Life, stored.Made, stored.Outcomes = map[string]Life{}, map[string]int64{}, map[string]int64{}
	for _, i := range w.rows {
		id := string(i.Invocation)
		stored.Life[id], stored.Made[id] = lifeOf(i, w.state.Life[id]), i.Epoch
		if i.Outcome.Status != store.StatusOpen {
			stored.Outcomes[id] = 1
		}
		if got := w.state.Life[id]; got != stored.Life[id] {
			w.find("intent %s: its row says %d, the steps lead to %d", i.Name(), stored.Life[id], got)
		}
	}
	for _, b := range stored.broken() {
		w.find("the rows: the invariant %s does not hold", b)
	}
}

// lifeOf is the life that an intent's row says. A row does not tell an intent that
// was started from one that was not.
func lifeOf(i store.Intent, walked Life) Life {
	switch {
	case i.Reconciled != "":
		return Closed
	case i.Outcome.Status == store.StatusIndeterminate:
		return Unclear
	case i.Outcome.Status != store.StatusOpen:
		return Settled
	case walked.open():
		return walked
	}
	return Intended
}

func keys(maps ...map[Key]int64) []Key {
	var out []Key
	for _, m := range maps {
		for k := range m {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Effect+"="+out[i].Effect < out[j].Effect+"="+out[j].Effect })
	return out
}
