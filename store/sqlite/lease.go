package sqlite

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/batch"
	"world/store/rows"
)

// One process writes, so a lease is never taken from a live holder; epochs tell
// what was opened before a crash or before the lease was given up.

// Lease implements store.Store.
func (s *Store) Lease(ctx context.Context, episode store.EpisodeID) (store.Lease, error) {
	const op = "sqlite: lease"
	if err := s.writable(op); err != nil {
		return store.Lease{}, err
	}
	if _, err := store.ParseEpisodeID(string(episode)); err != nil {
		return store.Lease{}, err
	}
	if l, ok := s.holds(episode); ok {
		return l, nil
	}
	select {
	case s.leasing <- struct{}{}:
		defer func() { <-s.leasing }()
	case <-ctx.Done():
		return store.Lease{}, batch.Ended(ctx, op)
	}
	if l, ok := s.holds(episode); ok {
		return l, nil
	}
	var taken store.Lease
	err := s.writer.do(ctx, op, func(c *conn) error {
		now, err := readLease(c, episode)
		if err != nil {
			return err
		}
		taken, err = moveLease(c, now)
		return err
	}, func(c *conn) (bool, error) {
		now, err := readLease(c, episode)
		return now == taken, err
	})
	if err != nil {
		return store.Lease{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[episode] = taken.Epoch
	return taken, nil
}

// GiveUp implements store.Store.
func (s *Store) GiveUp(ctx context.Context, lease store.Lease) error {
	const op = "sqlite: give up lease"
	if err := s.writable(op); err != nil {
		return err
	}
	select {
	case s.leasing <- struct{}{}:
		defer func() { <-s.leasing }()
	case <-ctx.Done():
		return batch.Ended(ctx, op)
	}
	var ended store.Lease
	err := s.writer.do(ctx, op, func(c *conn) error {
		if err := checkLease(c, op, lease); err != nil {
			return err
		}
		var err error
		ended, err = moveLease(c, lease)
		return err
	}, func(c *conn) (bool, error) {
		now, err := readLease(c, lease.Episode)
		return now == ended, err
	})
	if err != nil {
		return err
	}
	s.forget(lease.Episode)
	return nil
}

func (s *Store) forget(episode store.EpisodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, episode)
}

func (s *Store) holds(episode store.EpisodeID) (store.Lease, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	epoch, ok := s.held[episode]
	return store.Lease{Episode: episode, Epoch: epoch}, ok
}

// readLease returns an episode's lease, epoch 0 when it never had one.
func readLease(c *conn, episode store.EpisodeID) (store.Lease, error) {
	l := store.Lease{Episode: episode}
	_, err := c.row(func(row rows.Scanner) (err error) {
		l, err = scanLease(row)
		return err
	}, "SELECT "+leaseColumns+" FROM leases WHERE episode = ?", string(episode))
	return l, err
}

// checkLease is the fence: a holder whose epoch is not current writes nothing.
func checkLease(c *conn, op string, held store.Lease) error {
	now, err := readLease(c, held.Episode)
	if err == nil && (now.Epoch != held.Epoch || now.Epoch == 0) {
		err = fault.New(op, fault.LeaseLost, "episode %q, epoch %d", held.Episode, held.Epoch)
	}
	return err
}

// moveLease writes the epoch after l's.
func moveLease(c *conn, l store.Lease) (store.Lease, error) {
	l.Epoch++
	d := l.Digest()
	_, err := c.exec("INSERT INTO leases (episode, epoch, digest) VALUES (?, ?, ?) "+
		"ON CONFLICT (episode) DO UPDATE SET epoch = excluded.epoch, digest = excluded.digest",
		string(l.Episode), l.Epoch, d[:])
	return l, err
}

// endLeases makes what an earlier process left open indeterminate.
func endLeases(c *conn) error {
	var stale []store.Lease
	if err := c.begin(); err != nil {
		return err
	}
	err := c.each(func(row rows.Scanner) error {
		l, err := scanLease(row)
		stale = append(stale, l)
		return err
	}, "SELECT "+leaseColumns+" FROM leases WHERE (episode, epoch) IN "+
		"(SELECT episode, epoch FROM unsettled WHERE status = '')")
	for i := 0; err == nil && i < len(stale); i++ {
		_, err = moveLease(c, stale[i])
	}
	if err != nil || len(stale) == 0 {
		c.rollback()
		return err
	}
	return c.commit()
}
