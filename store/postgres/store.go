package postgres

import (
	"context"

	"world/store"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, act store.Act) (store.Entry, error) {
	return s.act(ctx, "postgres: begin", &acting{act: act, first: true})
}

// Act implements store.Store.
func (s *Store) Act(ctx context.Context, act store.Act) (store.Entry, error) {
	return s.act(ctx, "postgres: act", &acting{act: act})
}

func (s *Store) act(ctx context.Context, op string, a *acting) (store.Entry, error) {
	if err := s.writable(op); err != nil {
		return store.Entry{}, err
	}
	if err := a.act.Check(op); err != nil {
		return store.Entry{}, err
	}
	err := s.lane.do(ctx, op, a)
	s.glances.forget() // whatever the error: it may be Uncertain
	if err != nil {
		return store.Entry{}, err
	}
	for _, ch := range a.act.Changes {
		if end, ok := ch.(store.EndEpisode); ok {
			s.leases.forget(end.Lease)
		}
	}
	return a.entry, nil
}

// Keep implements store.Store.
func (s *Store) Keep(ctx context.Context, objects []store.Object) error {
	const op = "postgres: keep"
	if err := s.writable(op); err != nil {
		return err
	}
	if err := store.CheckObjects(op, objects); err != nil {
		return err
	}
	return s.lane.do(ctx, op, &keeping{objects})
}

// Intend implements store.Store.
func (s *Store) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	const op = "postgres: intend"
	if err := s.writable(op); err != nil {
		return store.Intent{}, err
	}
	if err := in.Check(op); err != nil {
		return store.Intent{}, err
	}
	o := &opening{in: in}
	err := s.lane.do(ctx, op, o)
	s.leases.opened(in.Lease, err)
	if err != nil {
		return store.Intent{}, err
	}
	return o.intent, nil
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	const op = "postgres: commit"
	if err := s.writable(op); err != nil {
		return store.Entry{}, err
	}
	if err := f.Check(op); err != nil {
		return store.Entry{}, err
	}
	work := &finishing{f: f}
	err := s.lane.do(ctx, op, work)
	if f.Intent != nil {
		s.leases.closed(f.Lease, err)
	}
	if err != nil {
		return store.Entry{}, err
	}
	return work.entry, nil
}
