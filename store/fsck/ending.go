package fsck

import (
	"slices"

	"world/store"
	"world/store/record"
)

// ended holds the end of an episode: it comes once, after its sessions were
// revoked, and tells of what was spent by then, which nothing adds to any more.
func (c *checker) ended(at place, ref store.Ref, r record.EndingRecord) {
	if _, twice := c.acts.ends[r.Episode]; twice {
		c.find(at.Where(), "it ends episode %q a second time", r.Episode)
	}
	c.acts.ends[r.Episode] = ref
	for _, s := range c.acts.sessions {
		if s.Episode == r.Episode && s.Revocation == "" {
			c.find(at.Where(), "it ends episode %q, whose session %s is not revoked", r.Episode, s.Object)
		}
	}
	totals := []record.SpentOn{}
	if s := c.spending[r.Episode]; s != nil {
		for _, t := range s.totals() {
			totals = append(totals, record.SpentOn(t))
		}
	}
	if !slices.Equal(r.Spent, totals) {
		c.find(at.Where(), "it says that %v was spent, the intents sum to %v", r.Spent, totals)
	}
}
