package fsck

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"world/broker/law"
	"world/store"
)

func (c *checker) seen(at int64) { c.latest = max(c.latest, at) }

// withoutTime is the digest of what an invocation record can say of a claim.
func withoutTime(cl store.Claim) store.Digest {
	cl.At = 0
	return cl.Digest()
}

// asRecorded is the digest of what the records of a call can say of its intent.
func asRecorded(i store.Intent) store.Digest {
	i.At, i.Epoch, i.Outcome.At, i.Reconciled = 0, 0, 0, ""
	return i.Digest()
}

func (c *checker) claims() error {
	return c.audit.Claims(c.ctx, func(r store.Row[store.Claim]) error {
		cl := r.Value
		if !whole(c, "claims", &c.report.Claims, r) {
			return nil
		}
		claimNames(cl, c.later)
		c.seen(cl.At)
		k := c.calls.of(cl.Invocation)
		if k.flags&hasClaim != 0 {
			c.find(r.Where(), "the id is claimed twice")
		}
		k.claim = withoutTime(cl)
		c.keepClaim(cl)
		k.flags |= hasClaim
		return nil
	})
}

// spending is an episode's spend as its intents have it.
type spending struct {
	place int32 // in checker.episodes
	next  int64
	marks map[[2]string][]mark // by effect and scope, in order of ordinals
	epoch int64                // greatest of its intents
}

// mark is the running total of one (effect, scope) from an ordinal on.
type mark struct {
	ordinal int64
	after   int64 // total once this intent is counted
}

// before is the total of all intents below an ordinal.
func (s *spending) before(effect law.Effect, scope law.Scope, ordinal int64) int64 {
	if s == nil {
		return 0
	}
	marks := s.marks[[2]string{string(effect), string(scope)}]
	i := sort.Search(len(marks), func(i int) bool { return marks[i].ordinal >= ordinal })
	if i == 0 {
		return 0
	}
	return marks[i-1].after
}

func (s *spending) add(i store.Intent) {
	key := [2]string{string(i.Effect), string(i.Scope)}
	marks := s.marks[key]
	var total int64
	if len(marks) > 0 {
		total = marks[len(marks)-1].after
	}
	s.marks[key] = append(marks, mark{i.Ordinal, law.Plus(total, i.Cost)})
	s.next = i.Ordinal + 1
	s.epoch = max(s.epoch, i.Epoch)
}

func (c *checker) intents() error {
	return c.audit.Intents(c.ctx, func(r store.Row[store.Intent]) error {
		i := r.Value
		if !whole(c, "intents", &c.report.Intents, r) {
			return nil
		}
		s := c.spending[i.Episode]
		if s == nil {
			s = &spending{place: int32(len(c.episodes)), marks: map[[2]string][]mark{}}
			c.spending[i.Episode] = s
			c.episodes = append(c.episodes, i.Episode)
		}
		if i.Ordinal != s.next {
			c.find(r.Where(), "the ordinal before it is %d", s.next-1)
		}
		if i.Cost < 0 {
			c.find(r.Where(), "its cost is negative")
		}
		s.add(i)
		intentNames(i, c.later)
		c.seen(i.At)
		c.outcome(r)
		k := c.calls.of(i.Invocation)
		if k.flags&hasIntent != 0 {
			c.find(r.Where(), "invocation %q has another intent", i.Invocation)
		}
		k.flags |= hasIntent
		k.intent, k.episode, k.ordinal = asRecorded(i), s.place, i.Ordinal
		c.keepIntent(i)
		if i.Outcome.Status != store.StatusOpen {
			k.flags |= hasOutcome
		}
		return nil
	})
}

// outcome holds the form of an intent's ending.
func (c *checker) outcome(r store.Row[store.Intent]) {
	i, o := r.Value, r.Value.Outcome
	if i.Reconciled != "" {
		c.reconciled[i.Name()] = i.Reconciled
	}
	switch o.Status {
	case store.StatusOpen:
		if o != (store.Outcome{}) {
			c.find(r.Where(), "it is open and has parts of an outcome")
		}
		return
	case store.StatusSucceeded, store.StatusFailed:
		if i.Reconciled != "" {
			c.find(r.Where(), "it has an outcome and is reconciled")
		}
	case store.StatusIndeterminate:
		if o.Record != "" {
			c.find(r.Where(), "it is indeterminate and has a record")
		}
	default:
		c.find(r.Where(), "its status %q is none", o.Status)
	}
	c.seen(o.At)
}

// ledgers holds every running total to the sum of its intents.
func (c *checker) ledgers() error {
	seen := map[store.EpisodeID]bool{}
	err := c.audit.Ledgers(c.ctx, func(r store.Row[store.Ledger]) error {
		var n int64
		l := r.Value
		seen[l.Episode] = true
		if !whole(c, "ledgers", &n, r) {
			return nil
		}
		want := c.spending[l.Episode]
		if want == nil {
			c.breaks(r.Where(), "the episode has no intents")
			return nil
		}
		if l.Next != want.next {
			c.breaks(r.Where(), "the next ordinal is %d, the intents end before %d", l.Next, want.next)
		}
		if got, sums := fmt.Sprint(l.Spent), fmt.Sprint(want.totals()); got != sums {
			c.breaks(r.Where(), "the totals are %s, the intents sum to %s", got, sums)
		}
		return nil
	})
	for episode := range c.spending {
		if !seen[episode] {
			c.breaks("spend of "+string(episode), "its totals are missing")
		}
	}
	return err
}

func (s *spending) totals() []store.Spent {
	var all []store.Spent
	for key, marks := range s.marks {
		all = append(all, store.Spent{Effect: law.Effect(key[0]), Scope: law.Scope(key[1]), Total: marks[len(marks)-1].after})
	}
	slices.SortFunc(all, func(a, b store.Spent) int {
		if a.Effect != b.Effect {
			return cmp.Compare(string(a.Effect), string(b.Effect))
		}
		return cmp.Compare(string(a.Scope), string(b.Scope))
	})
	return all
}

// leases holds that no intent is of an epoch that its lease has not reached.
func (c *checker) leases() error {
	seen := map[store.EpisodeID]bool{}
	err := c.audit.Leases(c.ctx, func(r store.Row[store.Lease]) error {
		var n int64
		seen[r.Value.Episode] = true
		if whole(c, "leases", &n, r) {
			if s := c.spending[r.Value.Episode]; s != nil && s.epoch > r.Value.Epoch {
				c.find(r.Where(), "it is at epoch %d, an intent is of %d", r.Value.Epoch, s.epoch)
			}
		}
		return nil
	})
	for episode := range c.spending {
		if !seen[episode] {
			c.find("lease of "+string(episode), "it is missing, and the episode has intents")
		}
	}
	return err
}
