package fsck

import "world/store"

// doubt is a name in the log of an object that had not gone past yet.
type doubt struct {
	where, field string
	ref          store.Ref
}

func (d doubt) Where() string { return d.where }

// names holds that what the log names is stored: now, or when all objects have
// gone past.
func (c *checker) names(at place, field string, r store.Ref) {
	switch {
	case c.stored(r):
	case c.complete:
		c.find(at.Where(), "%s names an object that is not stored: %q", field, r)
	default:
		c.doubts = append(c.doubts, doubt{at.Where(), field, r})
	}
}

func (c *checker) stored(r store.Ref) bool {
	sum, ok := r.Parsed()
	return ok && c.known.has(&sum)
}

// naming is told of each object that a row names.
type naming func(field string, r store.Ref)

func claimNames(cl store.Claim, name naming) {
	name("transitionFn", cl.TransitionFn)
	name("input", cl.Input)
	name("session", cl.Session)
}

func intentNames(i store.Intent, name naming) {
	name("request", i.Request)
	if i.Reconciled != "" {
		name("reconciliation", i.Reconciled)
	}
	if i.Outcome.Status == store.StatusSucceeded || i.Outcome.Status == store.StatusFailed {
		name("record", i.Outcome.Record)
	}
	if i.Outcome.Status != store.StatusOpen {
		name("detail", i.Outcome.Detail)
	}
}

// later notes what a row of the journal names. These rows are read before objects,
// and there are many: only the names are kept.
func (c *checker) later(_ string, r store.Ref) {
	sum, ok := r.Parsed()
	c.astray = c.astray || !ok
	if ok {
		c.named.add(&sum)
	}
}

// named are hashes that were named. One that is named often, such as a session's,
// is kept once or a few times: not when it was the last of those that start alike.
type named struct {
	all  [][32]byte
	last [256]int // by the first byte, how many there were with the last of these
}

func (n *named) add(sum *[32]byte) {
	last := &n.last[sum[0]]
	if *last > 0 && n.all[*last-1] == *sum {
		return
	}
	n.all = append(n.all, *sum)
	*last = len(n.all)
}

// settle finds the names to which no object came. The rows of the journal are read
// again when one is theirs.
func (c *checker) settle() error {
	c.complete = true
	for _, d := range c.doubts {
		c.names(d, d.field, d.ref)
	}
	c.doubts = nil
	for i := range c.named.all {
		c.astray = c.astray || !c.known.has(&c.named.all[i])
	}
	c.named = named{}
	if !c.astray {
		return nil
	}
	err := c.audit.Claims(c.ctx, func(r store.Row[store.Claim]) error {
		if r.Fault == nil {
			claimNames(r.Value, func(field string, ref store.Ref) { c.names(r, field, ref) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.audit.Intents(c.ctx, func(r store.Row[store.Intent]) error {
		if r.Fault == nil {
			intentNames(r.Value, func(field string, ref store.Ref) { c.names(r, field, ref) })
		}
		return nil
	})
}
