package fsck

import (
	"fmt"

	"world/fault"
	"world/store"
	"world/store/record"
)

// link holds an entry to the one that stands before it.
func (c *checker) link(at place, l *link) {
	e, want := l.row.Value, l.want
	switch {
	case e.Index != want.Index:
		c.breaks(at.Where(), "the entry before it is %d", l.before.Index)
	case e.Prev != want.Prev:
		c.breaks(at.Where(), "its prevEntryHash is not the hash of the entry before")
	case e.Hash != want.Hash:
		c.breaks(at.Where(), "its header hashes to %s", want.Hash)
	case e.World != want.World:
		c.breaks(at.Where(), "its world ref should be %s", want.World)
	}
}

func (c *checker) head(want store.Head) error {
	r, err := c.audit.Head(c.ctx)
	if fault.Is(err, fault.NotFound) {
		if want != store.Void {
			c.breaks("head", "it is missing, and the log has entries")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if r.Fault != nil {
		c.breaks(r.Where(), "%s", why(r.Fault))
	}
	if r.Value != want {
		c.breaks(r.Where(), "it selects entry %d %s, the log ends with %d %s", r.Value.Index, r.Value.Entry, want.Index, want.Entry)
	}
	return nil
}

// clock holds that no time is beyond the greatest recorded one.
func (c *checker) clock() error {
	r, err := c.audit.LastTime(c.ctx)
	if err != nil {
		return err
	}
	if r.Fault != nil {
		c.find(r.Where(), "%s", why(r.Fault))
	}
	if r.Value < c.latest {
		c.find(r.Where(), "it stands at %d, a row is of %d", r.Value, c.latest)
	}
	return nil
}

// acts is what the host's entries say sessions and registry must be.
type acts struct {
	sessions []store.Session // mint order
	byObject map[store.Ref]int
	registry store.Ref // newest revision
	revision int64
	words    map[string]store.Ref // reconciliations by intent name
	homes    map[store.EpisodeID]home
	ends     map[store.EpisodeID]store.Ref
}

// home is where an episode has its worktree, and the newest session that says so.
type home struct {
	at      store.HomeID
	session store.Ref
}

func newActs() acts {
	return acts{byObject: map[store.Ref]int{}, words: map[string]store.Ref{}, homes: map[store.EpisodeID]home{}, ends: map[store.EpisodeID]store.Ref{}}
}

// act replays what a host act says that it did. Its object's labels tell which
// kind of act it is; the objects pass has held labels to bytes.
func (c *checker) act(at place, e store.Entry) {
	o, err := c.bytes(e.Transition)
	if err != nil {
		return // named or hashed wrongly, and found already
	}
	for _, l := range o.Labels {
		switch l.SemanticID {
		case record.Genesis:
			if g, err := record.DecodeGenesis(o.Bytes); err == nil {
				c.genesis(at, e, g)
			}
		case record.Registry:
			if r, err := record.DecodeRegistry(o.Bytes); err == nil {
				c.revision(at, e.Transition, r)
			}
		case record.Session:
			if s, err := record.DecodeSession(o.Bytes); err == nil {
				c.acts.byObject[e.Transition] = len(c.acts.sessions)
				c.acts.sessions = append(c.acts.sessions, store.Session{Credential: s.Credential, Object: e.Transition,
					Episode: s.Episode, CreatedAt: s.CreatedAt, ExpiresAt: s.ExpiresAt})
				c.housed(at, e.Transition, s)
				if _, ended := c.acts.ends[s.Episode]; ended {
					c.find(at.Where(), "it mints for episode %q, which has ended", s.Episode)
				}
			}
		case record.Revocation:
			if r, err := record.DecodeRevocation(o.Bytes); err == nil {
				c.revoked(at, e.Transition, r)
			}
		case record.Reconciliation:
			if r, err := record.DecodeReconciliation(o.Bytes); err == nil {
				c.word(at, e.Transition, r)
			}
		case record.Ending:
			if r, err := record.DecodeEnding(o.Bytes); err == nil {
				c.ended(at, e.Transition, r)
			}
		}
	}
}

func (c *checker) genesis(at place, e store.Entry, g record.GenesisRecord) {
	if e.Index != 0 {
		c.find(at.Where(), "it is a genesis in the middle of the log")
		return
	}
	r := decoded(c, g.Registry, record.DecodeRegistry)
	if r.err != nil {
		c.find(at.Where(), "its registry cannot be read: %s", why(r.err))
		return
	}
	c.revision(at, g.Registry, r.record)
}

func (c *checker) revision(at place, ref store.Ref, r record.RegistryRevision) {
	if r.Parent != c.acts.registry || r.Revision != c.acts.revision+1 {
		c.find(at.Where(), "registry revision %d does not follow %d", r.Revision, c.acts.revision)
	}
	for _, d := range r.Entries {
		c.names(at, fmt.Sprintf("transition %q", d.ID), d.TransitionFn)
		c.names(at, fmt.Sprintf("transition %q", d.ID), d.Interpreter)
	}
	c.acts.registry, c.acts.revision = ref, r.Revision
}

// housed notes the home that a session's mint gave its episode; a home never moves.
func (c *checker) housed(at place, ref store.Ref, s record.SessionRecord) {
	if s.Home == "" {
		return
	}
	if before, ok := c.acts.homes[s.Episode]; ok && before.at != s.Home {
		c.find(at.Where(), "it moves the home of episode %q", s.Episode)
	}
	c.acts.homes[s.Episode] = home{s.Home, ref}
}

func (c *checker) revoked(at place, ref store.Ref, r record.RevocationRecord) {
	i, ok := c.acts.byObject[r.Session]
	if !ok {
		c.find(at.Where(), "it revokes a session that was not minted before it")
		return
	}
	if c.acts.sessions[i].Revocation != "" {
		c.find(at.Where(), "it revokes a session a second time")
	}
	c.acts.sessions[i].Revocation = ref
}

func (c *checker) word(at place, ref store.Ref, r record.ReconciliationRecord) {
	if _, twice := c.acts.words[r.Intent]; twice {
		c.find(at.Where(), "it reconciles %s a second time", r.Intent)
	}
	c.acts.words[r.Intent] = ref
	if c.reconciled[r.Intent] != ref {
		c.find(at.Where(), "it reconciles %s, whose row does not say so", r.Intent)
	}
}

// sessions holds the rows to the mints and revocations of the log.
func (c *checker) sessions() error {
	var n int64
	err := c.audit.Sessions(c.ctx, func(r store.Row[store.Session]) error {
		seq := int(n)
		if !whole(c, "sessions", &n, r) {
			return nil
		}
		switch {
		case seq >= len(c.acts.sessions):
			c.find(r.Where(), "the log has no mint of it")
		case r.Value != c.acts.sessions[seq]:
			c.find(r.Where(), "it is not as the log minted and revoked it")
		}
		return nil
	})
	if err == nil && int(n) < len(c.acts.sessions) {
		c.find("sessions", "there are %d, the log minted %d", n, len(c.acts.sessions))
	}
	return err
}

// registries holds the transitions' head to the newest revision of the log, and
// the homes' heads to its sessions.
func (c *checker) registries() error {
	found := false
	err := c.audit.Registries(c.ctx, func(r store.Row[store.HeadMove]) error {
		var n int64
		m := r.Value
		if m.Name == record.RegistryName {
			found = true
		}
		if !whole(c, "registry", &n, r) {
			return nil
		}
		c.names(r, "head", m.To)
		if episode, ok := record.HomeOf(m.Name); ok {
			if m.To != c.acts.homes[episode].session {
				c.find(r.Where(), "it is at %s, and the log minted no such home", m.To)
			}
			delete(c.acts.homes, episode)
		}
		if episode, ok := store.EndOf(m.Name); ok {
			if m.To != c.acts.ends[episode] {
				c.find(r.Where(), "it is at %s, and the log has no such end", m.To)
			}
			delete(c.acts.ends, episode)
		}
		if m.Name == record.RegistryName && m.To != c.acts.registry {
			c.find(r.Where(), "it is at %s, the log moved it to %q", m.To, c.acts.registry)
		}
		return nil
	})
	if err == nil && !found && c.acts.registry != "" {
		c.find("registry", "%s is missing", record.RegistryName)
	}
	for episode := range c.acts.homes {
		if err == nil {
			c.find("registry", "%s is missing", record.HomeName(episode))
		}
	}
	for episode := range c.acts.ends {
		if err == nil {
			c.find("registry", "%s is missing", store.EndName(episode))
		}
	}
	for name, ref := range c.reconciled {
		if c.acts.words[name] != ref {
			c.find(fmt.Sprintf("intent %q", name), "it is reconciled, and the log does not say so")
		}
	}
	return err
}
