package coordinator

import (
	"context"
	"time"

	"world/broker/law"
	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
)

// Snapshot is what one request sees: one registry revision, and the grants of one
// session at one moment. Listing and admission of a request share it, so that
// they cannot disagree.
type Snapshot struct {
	live     session.Live
	registry registry.Revision
	home     store.Ref // what the episode's head of home names, "" for nothing
	now      int64     // logical unix seconds
	taken    time.Time // for its age alone
}

// Snapshot reads the registry for a session that was just resolved.
func (c *Coordinator) Snapshot(ctx context.Context, live session.Live) (*Snapshot, error) {
	found, err := c.Store.Look(ctx, store.Lookup{
		Registries: []string{record.RegistryName, record.HomeName(live.Record.Episode)}, Within: c.Deadlines.Fresh,
	})
	if err != nil {
		return nil, err
	}
	ref, home := found.Registries[0], found.Registries[1]
	if ref == "" {
		return nil, fault.New("coordinator: snapshot", fault.Unavailable, "no world is selected")
	}
	known := c.revision.Load()
	if known == nil || known.Ref != ref {
		revision, err := registry.Read(ctx, c.Store, ref)
		if err != nil {
			return nil, err
		}
		known = &revision
		c.revision.Store(known)
	}
	return &Snapshot{live: live, registry: *known, home: home, now: max(c.Clock().Unix(), found.At), taken: found.Taken}, nil
}

// Visible returns the descriptors that the session may see, in order of id.
func (s *Snapshot) Visible() []record.Descriptor {
	var seen []record.Descriptor
	for _, d := range s.registry.Entries {
		if s.sees(d) {
			seen = append(seen, d)
		}
	}
	return seen
}

// Live returns the session of the snapshot.
func (s *Snapshot) Live() session.Live { return s.live }

// Registry returns the ref of the snapshot's registry revision.
func (s *Snapshot) Registry() store.Ref { return s.registry.Ref }

// sees asks the law for the access triple on the minted, unseeded grants: a grant
// that is spent up still shows its tools.
func (s *Snapshot) sees(d record.Descriptor) bool {
	q := law.Request{Effect: d.Access.Effect, Scope: d.Access.Scope, Cost: d.Access.Cost, Now: s.now}
	return law.Decide(s.live.Record.Law(), q).Verdict == law.Allowed
}

// find returns a visible descriptor. One that is absent and one that the session
// may not see get the same error (R2, R3).
func (s *Snapshot) find(id store.TransitionID) (record.Descriptor, error) {
	d, ok := s.registry.Find(id)
	if !ok || !s.sees(d) {
		return record.Descriptor{}, fault.New("coordinator: admit", fault.NotFound, "no transition of that name is visible to this session")
	}
	return d, nil
}
