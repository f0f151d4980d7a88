package fsck

import (
	"context"
	"fmt"
	"slices"

	"world/fault"
	"world/store"
	"world/store/record"
	"world/store/rows"
)

// Bounds of Recent.
const (
	recentEntries = 500  // newest entries
	recentIntents = 2000 // of an episode whose spend is added up
)

// Recent looks at the newest end of a store, in a time that does not grow with
// it: what a daemon does before it serves. It holds the newest entries to their
// chain and head, their objects to their hashes, their records to their claims,
// and the spend of their episodes to its intents where these are few. Damage
// elsewhere is for Run to find. Writers beside it cause no finding: it looks below
// the head and the totals that it read first.
func Recent(ctx context.Context, from store.Reader) (Report, error) {
	c := &checker{ctx: ctx, opts: Options{MaxFindings: 1000}}
	r := recent{checker: c, from: from, episodes: map[store.EpisodeID]bool{}}
	err := r.run()
	return c.report, err
}

type recent struct {
	*checker
	from     store.Reader
	episodes map[store.EpisodeID]bool // whose calls were seen
}

func (r *recent) run() error {
	head, err := r.from.Head(r.ctx)
	if fault.Is(err, fault.NotFound) {
		return r.nothing()
	}
	if err == nil {
		err = r.chain(head)
	}
	for episode := range r.episodes {
		if err == nil {
			err = r.spend(episode)
		}
	}
	if fault.Is(err, fault.Corrupt) { // a row without which there is no chain, head or spend
		r.breaks("store", "%s", why(err))
		return nil
	}
	if err == nil {
		_, err = r.from.LastTime(r.ctx)
	}
	if err == nil {
		_, err = r.from.Indeterminate(r.ctx, 500)
	}
	if fault.Is(err, fault.Corrupt) {
		r.find("store", "%s", why(err))
		return nil
	}
	return err
}

// nothing holds that a store without a head has no log either.
func (r *recent) nothing() error {
	entries, err := r.from.Entries(r.ctx, 0, 1)
	if err == nil && len(entries) > 0 {
		r.breaks("head", "it is missing, and the log has entries")
	}
	return err
}

func (r *recent) chain(head store.Head) error {
	before := store.Void
	first := max(head.Index-recentEntries+1, 0)
	if first > 0 {
		e, err := r.from.Entry(r.ctx, first-1)
		if err != nil {
			return err
		}
		before = e.Head()
	}
	entries, err := r.from.Entries(r.ctx, first, recentEntries)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Index > head.Index {
			break // of a writer beside
		}
		row := store.Row[store.Entry]{Value: e, Name: rows.EntryWhere}
		r.report.Entries++
		r.link(row, &link{row, before, chained(before, e)})
		before = e.Head()
		if err := r.entry(row); err != nil {
			return err
		}
	}
	if before != head {
		r.breaks("head", "it selects entry %d %s, the log ends with %d %s", head.Index, head.Entry, before.Index, before.Entry)
	}
	return nil
}

// entry reads what an entry is about and what came of it.
func (r *recent) entry(row store.Row[store.Entry]) error {
	e, where := row.Value, row.Where()
	about, err := r.from.Object(r.ctx, e.Transition)
	if err == nil && e.Index > 0 {
		_, err = r.from.Object(r.ctx, e.StateRoot)
	}
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
		r.find(where, "%s", why(err))
		return nil
	}
	if err != nil || e.Invocation == "" {
		return err
	}
	if record.IsCommit(e) {
		return r.commit(where, e)
	}
	v, err := record.DecodeInvocation(about.Bytes())
	if err != nil {
		r.find(where, "its invocation record cannot be read: %s", why(err))
		return nil
	}
	r.sameCall(row, e, v)
	r.episodes[v.EpisodeID] = true
	claim, whole, err := r.claim(where, e)
	if whole && (claim.Input != v.Input || claim.Session != v.Session || claim.Transition != v.SkillID || claim.Episode != v.EpisodeID) {
		r.find(where, "its claim is of another call")
	}
	return err
}

// claim reads the claim of an entry's call, and reports whether there is one.
func (r *recent) claim(where string, e store.Entry) (claim store.Claim, whole bool, err error) {
	claim, err = r.from.Claim(r.ctx, e.Invocation)
	switch {
	case fault.Is(err, fault.NotFound):
		r.find(where, "its claim is missing")
	case fault.Is(err, fault.Corrupt):
		r.find(where, "%s", why(err))
	default:
		return claim, err == nil, err
	}
	return claim, false, nil
}

// commit reads what a client's entry was to be.
func (r *recent) commit(where string, e store.Entry) error {
	claim, whole, err := r.claim(where, e)
	if !whole {
		return err
	}
	o, err := r.from.Object(r.ctx, claim.Input)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
		r.find(where, "%s", why(err))
		return nil
	}
	if err != nil {
		return err
	}
	asked, err := record.DecodeCommit(o.Bytes())
	if err != nil || asked.Entry(e.Invocation) != e {
		r.find(where, "it is not the entry that was to be committed")
	}
	r.episodes[claim.Episode] = true
	return nil
}

// spend adds an episode's intents up.
func (r *recent) spend(episode store.EpisodeID) error {
	ledger, err := r.from.Ledger(r.ctx, episode)
	if err != nil || ledger.Next > recentIntents {
		return err
	}
	sum := &spending{marks: map[[2]string][]mark{}}
	for sum.next < ledger.Next {
		intents, err := r.from.Intents(r.ctx, episode, sum.next, 500)
		if err != nil {
			return err
		}
		below := slices.IndexFunc(intents, func(i store.Intent) bool { return i.Ordinal >= ledger.Next })
		if below >= 0 {
			intents = intents[:below]
		}
		if len(intents) == 0 {
			break
		}
		for _, i := range intents {
			r.report.Intents++
			sum.add(i)
		}
	}
	if got, want := fmt.Sprint(ledger.Spent), fmt.Sprint(sum.totals()); got != want || ledger.Next != sum.next {
		r.breaks("spend of "+string(episode), "the totals are %s, the intents sum to %s", got, want)
	}
	return nil
}
