package postgres

import (
	"sync"

	"world/store"
	"world/store/rows"
)

// memory is what the lane last saw of rows that few others change: its leases and
// what lies under them, and the head. A transaction that depends on nothing else
// is decided on it and written in one round trip instead of two. It is never the
// reason for a refusal, and never the reason that something commits: each row it
// stands on is a guard of what is written, and when one has changed, the change is
// decided again on rows that are locked.
type memory struct {
	mu sync.Mutex
	remembered
}

type remembered struct {
	leases  map[store.EpisodeID]leaseRow
	spend   map[spendKey]spendRow
	next    map[store.EpisodeID]int64
	claims  map[store.InvocationID]store.Claim // of open intents
	intents map[intentKey]store.Intent         // open ones
	objects map[store.Ref]store.Label
	callers map[store.CredentialID]rows.Session
	ledgers
	head  *store.Head
	clock int64
	doubt int // how many more transactions do not trust it with the head
}

const (
	// memoryRows is how many rows of a kind are remembered before all are forgotten.
	memoryRows = 1 << 14
	// doubtful is for how long the head is asked for after another process moved it.
	doubtful = 32
)

// forget empties the memory, after anything that it may not know of.
func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
}

// mistrust empties the memory when a transaction met other rows than it knew of.
func (m *memory) mistrust() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	m.doubt = doubtful
}

func (m *memory) clear() {
	m.remembered = remembered{
		leases: map[store.EpisodeID]leaseRow{}, spend: map[spendKey]spendRow{}, next: map[store.EpisodeID]int64{},
		claims: map[store.InvocationID]store.Claim{}, intents: map[intentKey]store.Intent{}, objects: map[store.Ref]store.Label{},
		callers: map[store.CredentialID]rows.Session{}, ledgers: m.ledgers.none(), doubt: m.doubt,
	}
}

// predict makes a view of what is remembered, nil when it would be a guess. What
// it lacks is taken as not there: then the change is refused, and decided again,
// or collides with what is.
func (m *memory) predict(w *wants, owner string) *view {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.host() || len(w.claims) == 0 {
		return nil
	}
	v := newView(owner)
	v.predicted = true
	v.clock.row = m.clock
	if w.head {
		if m.doubt > 0 {
			m.doubt--
			return nil
		}
		if m.head == nil {
			return nil
		}
		v.head = &found[store.Head]{row: *m.head}
	}
	for k := range w.spend {
		row, ok := m.spend[k]
		if !ok {
			return nil
		}
		v.spend[k] = found[spendRow]{row: row}
	}
	for k := range w.next {
		next, ok := m.next[k]
		if !ok {
			return nil
		}
		v.next[k] = next
	}
	for k := range w.callers {
		row, ok := m.callers[k]
		if !ok {
			return nil
		}
		v.sessions[k] = found[rows.Session]{row: row}
	}
	for k := range w.leases {
		if row, ok := m.leases[k]; ok {
			v.leases[k] = found[leaseRow]{row: row}
		}
	}
	for k := range w.claims {
		if row, ok := m.claims[k]; ok {
			v.claims[k] = found[store.Claim]{row: row}
		}
	}
	for k := range w.intents {
		if row, ok := m.intents[k]; ok {
			v.intents[k] = found[store.Intent]{row: row}
		}
	}
	v.recalled = m.objects
	return v
}

// remember takes over what a committed transaction has read and written.
func (m *memory) remember(v *view) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if max(len(m.leases), len(m.spend), len(m.next), len(m.claims), len(m.objects), len(m.callers), len(m.ledgers.known), len(m.ledgers.spends)) > memoryRows {
		m.clear()
	}
	if !v.predicted {
		keepSound(m.leases, v.leases)
	}
	keepSound(m.spend, v.spend)
	keepSound(m.callers, v.sessions)
	m.ledgers.spent(v)
	for k, next := range v.next {
		m.next[k] = next
	}
	for k, label := range v.objects {
		m.objects[k] = label
	}
	for _, ch := range v.out.leases.list {
		m.leases[ch.is.Episode] = ch.is
	}
	for _, i := range v.out.opened {
		m.intents[intentKey{i.Episode, i.Ordinal}] = i
		m.claims[i.Invocation] = v.claims[i.Invocation].row
	}
	for _, ch := range v.out.closed.list {
		delete(m.intents, intentKey{ch.is.Episode, ch.is.Ordinal})
		delete(m.claims, ch.is.Invocation)
	}
	if v.head != nil && v.head.err == nil {
		m.head = &v.head.row
	}
	if v.clock.err == nil {
		m.clock = max(m.clock, v.clock.row)
	}
}

// time is the greatest logical time that is remembered, in unix seconds.
func (m *memory) time() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock
}

func keepSound[K comparable, T any](to map[K]T, from map[K]found[T]) {
	for k, f := range from {
		if f.err == nil {
			to[k] = f.row
		}
	}
}
