package sqlite

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"world/store"
)

// mirrored is how many rows of one kind a mirror holds at most.
const mirrored = 4096

// mirror remembers committed rows that every call reads, so that a call need not
// open a read transaction for each. That is sound for the process that alone
// writes the file (D14): it sees every commit, and a commit changes the mirror
// before anybody is told of it. It guards nothing: what a transaction writes is
// conditioned on the rows themselves, so a row that was damaged underneath
// fails the call that changes it.
type mirror struct {
	mu         sync.Mutex
	commits    int64 // that may have changed what was read before
	clock      instant
	ledgers    map[store.EpisodeID]store.Ledger
	sessions   map[store.CredentialID]store.Session
	registries map[string]store.Ref
}

// news is what a transaction changes of a mirror.
type news struct {
	clock   instant        // known when it moved
	ledgers []store.Ledger // whole, as they are now; of those that the mirror did not hold only the name
	acted   bool           // sessions or registries changed
	unknown bool           // anything may have changed
}

// instant is the greatest logical time, when it is known.
type instant struct {
	known bool
	at    int64 // unix seconds
}

func newMirror() *mirror {
	return &mirror{
		ledgers: map[store.EpisodeID]store.Ledger{}, sessions: map[store.CredentialID]store.Session{}, registries: map[string]store.Ref{},
	}
}

// publish takes over what was committed.
func (m *mirror) publish(n *news) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits++
	if n.unknown || n.acted {
		clear(m.sessions)
		clear(m.registries)
	}
	if n.unknown {
		clear(m.ledgers)
		m.clock = instant{}
	}
	if n.clock.known {
		m.clock = n.clock
	}
	for _, l := range n.ledgers {
		if l.Next > 0 {
			hold(m.ledgers, l.Episode, l)
		} else {
			delete(m.ledgers, l.Episode) // a reader may have kept what was before
		}
	}
}

// hold keeps a row, if need be instead of others.
func hold[K comparable, V any](rows map[K]V, k K, v V) {
	if len(rows) >= mirrored {
		clear(rows)
	}
	rows[k] = v
}

// recall returns a row from the mirror, or else reads it and keeps it unless a
// commit came in between: what was read may be of before that.
func recall[T any](ctx context.Context, s *Store, op string, find func(*mirror) (T, bool), keep func(*mirror, T), read func(*conn) (T, error)) (v T, err error) {
	var commits int64
	if s.mirror != nil {
		if err := s.readers.check(ctx, op); err != nil {
			return v, err
		}
		s.mirror.mu.Lock()
		v, ok := find(s.mirror)
		commits = s.mirror.commits
		s.mirror.mu.Unlock()
		if ok {
			return v, nil
		}
	}
	err = s.readers.read(ctx, op, func(c *conn) (err error) {
		v, err = read(c)
		return err
	})
	if err == nil && s.mirror != nil {
		s.mirror.mu.Lock()
		defer s.mirror.mu.Unlock()
		if s.mirror.commits == commits {
			keep(s.mirror, v)
		}
	}
	return v, err
}

// spent notes a running total that the open transaction wrote with an intent, for
// a mirror that holds the ledger it belongs to.
func (k *known) spent(r spentRow, ordinal int64) {
	l, ok := k.ledger(r.episode)
	if !ok {
		k.news.ledgers = append(k.news.ledgers, store.Ledger{Episode: r.episode})
		return
	}
	l.Next = ordinal + 1
	at, found := slices.BinarySearchFunc(l.Spent, r.spent, bySpent)
	if l.Spent = slices.Clone(l.Spent); found { // readers hold the one that was
		l.Spent[at] = r.spent
	} else {
		l.Spent = slices.Insert(l.Spent, at, r.spent)
	}
	k.news.ledgers = append(k.news.ledgers, l)
}

// clock returns the greatest logical time as the open transaction has it, when it is mirrored.
func (k *known) clock() instant {
	if k.news.clock.known || k.mirror == nil || k.news.unknown {
		return k.news.clock
	}
	k.mirror.mu.Lock()
	defer k.mirror.mu.Unlock()
	return k.mirror.clock
}

// ledger returns an episode's ledger as the open transaction has it, when it is mirrored.
func (k *known) ledger(episode store.EpisodeID) (store.Ledger, bool) {
	for _, l := range slices.Backward(k.news.ledgers) {
		if l.Episode == episode {
			return l, l.Next > 0
		}
	}
	if k.mirror == nil || k.news.unknown {
		return store.Ledger{}, false
	}
	k.mirror.mu.Lock()
	defer k.mirror.mu.Unlock()
	l, ok := k.mirror.ledgers[episode]
	return l, ok
}

// session returns a session as the open transaction has it, when it is mirrored.
func (k *known) session(id store.CredentialID) (store.Session, bool) {
	if k.mirror == nil || k.news.unknown || k.news.acted {
		return store.Session{}, false
	}
	k.mirror.mu.Lock()
	defer k.mirror.mu.Unlock()
	s, ok := k.mirror.sessions[id]
	return s, ok
}

// bySpent orders the totals of a ledger.
func bySpent(a, b store.Spent) int {
	return cmp.Or(cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Scope, b.Scope))
}
