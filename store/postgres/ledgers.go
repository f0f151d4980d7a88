package postgres

import (
	"cmp"
	"slices"

	"world/store"
)

// ledgers are what this process knows of the spend of episodes whose leases it
// has: nobody else spends under a lease, and what this process spends is brought
// up here before anybody is told of it. Like the rest of the memory they only
// spare asking. Whoever decides on one is held to the rows by the guards.
type ledgers struct {
	known  map[store.EpisodeID]ledgerUnder
	spends map[store.EpisodeID]int64 // transactions of this process that spent
	age    int64                     // how often all was forgotten
}

type ledgerUnder struct {
	epoch int64
	store.Ledger
}

// reading tells whether a ledger that was read since may be kept.
type reading struct{ age, spends int64 }

func (l *ledgers) none() ledgers {
	return ledgers{map[store.EpisodeID]ledgerUnder{}, map[store.EpisodeID]int64{}, l.age + 1}
}

// spent brings the ledgers up to a committed transaction.
func (l *ledgers) spent(v *view) {
	for _, ch := range v.out.spend.list {
		episode := ch.is.episode
		l.spends[episode]++
		if under, ok := l.known[episode]; ok {
			under.Next = v.next[episode]
			under.Spent = with(under.Spent, ch.is.spent)
			l.known[episode] = under
		}
	}
}

// with returns totals with one of them changed or added; readers hold the old ones.
func with(totals []store.Spent, s store.Spent) []store.Spent {
	at, found := slices.BinarySearchFunc(totals, s, func(a, b store.Spent) int {
		return cmp.Or(cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Scope, b.Scope))
	})
	if totals = slices.Clone(totals); found {
		totals[at] = s
		return totals
	}
	return slices.Insert(totals, at, s)
}

// ledger returns the ledger that is known under a lease.
func (m *memory) ledger(l store.Lease) (ledger store.Ledger, ok bool, r reading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	under, ok := m.ledgers.known[l.Episode]
	return under.Ledger, ok && under.epoch == l.Epoch, reading{m.ledgers.age, m.ledgers.spends[l.Episode]}
}

// keepLedger takes over a ledger that was read, unless something was spent meanwhile.
func (m *memory) keepLedger(l store.Lease, ledger store.Ledger, r reading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r == (reading{m.ledgers.age, m.ledgers.spends[l.Episode]}) {
		m.ledgers.known[l.Episode] = ledgerUnder{l.Epoch, ledger}
	}
}

// ledgerAt returns an episode's ledger without asking, and else what is to be done
// with the one that is read.
func (s *Store) ledgerAt(episode store.EpisodeID) (ledger store.Ledger, ok bool, keep func(store.Ledger)) {
	keep = func(store.Ledger) {}
	if s.lane == nil || s.shut.Load() {
		return ledger, false, keep
	}
	lease, held := s.leases.has(episode)
	if !held {
		return ledger, false, keep
	}
	m := s.lane.memory
	ledger, ok, r := m.ledger(lease)
	return ledger, ok, func(l store.Ledger) { m.keepLedger(lease, l, r) }
}
