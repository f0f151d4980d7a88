package postgres

import "world/store"

// endEpisode closes an episode's name. Whoever passed the check of its session
// before that was revoked finds the lease's epoch moved on.
func (v *view) endEpisode(op string, ch store.EndEpisode) error {
	if err := v.require(op, []store.Ref{ch.Ending}); err != nil {
		return err
	}
	lease, err := v.held(op, ch.Lease)
	if err != nil {
		return err
	}
	name := store.EndName(ch.Episode)
	_, ended := v.registry[name]
	switch {
	case ended:
		return store.EndedAlready(op, ch.Episode)
	case v.lived[ch.Episode]:
		return store.Lived(op, ch.Episode)
	case v.running[ch.Episode]:
		return store.Running(op, ch.Episode)
	case v.next[ch.Episode] != ch.Next:
		return store.Moved(op, ch.Episode)
	}
	end := store.HeadMove{Name: name, To: ch.Ending}
	v.registry[name] = found[store.HeadMove]{row: end}
	v.out.registry.set(name, nil, end)
	v.out.leases.set(ch.Episode, &lease, leaseRow{Lease: store.Lease{Episode: ch.Episode, Epoch: ch.Lease.Epoch + 1}})
	return nil
}
