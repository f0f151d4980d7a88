package sqlite

import (
	"world/fault"
	"world/store"
	"world/store/rows"
)

// registryName finds a registry head by its name.
const registryName = "SELECT 1 FROM registry WHERE name = ?"

// endEpisode closes an episode's name. Whoever passed the check of its session
// before that was revoked finds the lease's epoch moved on.
func endEpisode(c *conn, op string, ch store.EndEpisode) error {
	if err := requireObject(c, op, ch.Ending); err != nil {
		return err
	}
	if err := checkLease(c, op, ch.Lease); err != nil {
		return err
	}
	for _, guard := range []struct {
		refusal error
		query   string
		key     []any
	}{
		{store.EndedAlready(op, ch.Episode), registryName, []any{store.EndName(ch.Episode)}},
		{store.Lived(op, ch.Episode), "SELECT 1 FROM sessions WHERE episode = ? AND revocation = x''", []any{string(ch.Episode)}},
		{store.Running(op, ch.Episode), "SELECT 1 FROM unsettled WHERE episode = ? AND epoch = ? AND status = ''", []any{string(ch.Episode), ch.Lease.Epoch}},
	} {
		if found, err := c.any(guard.query, guard.key...); err != nil {
			return err
		} else if found {
			return guard.refusal
		}
	}
	if next, err := nextOrdinal(c, ch.Episode); err != nil {
		return err
	} else if next != ch.Next {
		return store.Moved(op, ch.Episode)
	}
	end := store.HeadMove{Name: store.EndName(ch.Episode), To: ch.Ending}
	d := end.Digest()
	n, err := c.exec("INSERT INTO registry (name, object, digest) VALUES (?, ?, ?)", end.Name, rows.Blob(end.To), d[:])
	if err == nil && n != 1 {
		err = fault.New(op, fault.Internal, "the end of episode %s was not written", ch.Episode)
	}
	if err == nil {
		_, err = moveLease(c, ch.Lease)
	}
	return err
}
