package fsck

import "world/store"

// doubt is a name in the log of an object that had not gone past yet.
type doubt struct {
	where, field string
	ref          store.Ref
}

// names holds that what the log names is stored: now, or when all objects have
// gone past.
func (c *checker) names(where, field string, r store.Ref) {
	switch {
	case c.stored(r):
	case c.complete:
		c.find(where, "%s names an object that is not stored: %q", field, r)
	default:
		c.doubts = append(c.doubts, doubt{where, field, r})
	}
}

func (c *checker) stored(r store.Ref) bool {
	if _, err := store.ParseRef(string(r)); err != nil {
		return false
	}
	_, ok := c.known[r.Sum()]
	return ok
}

// naming is told of each object that a row names.
type naming func(where, field string, r store.Ref)

func claimNames(r store.Row[store.Claim], name naming) {
	name(r.Where, "transitionFn", r.Value.TransitionFn)
	name(r.Where, "input", r.Value.Input)
	name(r.Where, "session", r.Value.Session)
}

func intentNames(r store.Row[store.Intent], name naming) {
	i := r.Value
	name(r.Where, "request", i.Request)
	if i.Reconciled != "" {
		name(r.Where, "reconciliation", i.Reconciled)
	}
	if i.Outcome.Status == store.StatusSucceeded || i.Outcome.Status == store.StatusFailed {
		name(r.Where, "record", i.Outcome.Record)
	}
	if i.Outcome.Status != store.StatusOpen {
		name(r.Where, "detail", i.Outcome.Detail)
	}
}

// later notes what a row of the journal names. These rows are read before objects,
// and there are many: only the names are kept.
func (c *checker) later(_, _ string, r store.Ref) {
	if _, err := store.ParseRef(string(r)); err != nil {
		c.astray = true
		return
	}
	c.named[r.Sum()] = struct{}{}
}

// settle finds the names to which no object came. The rows of the journal are read
// again when one is theirs.
func (c *checker) settle() error {
	c.complete = true
	for _, d := range c.doubts {
		c.names(d.where, d.field, d.ref)
	}
	c.doubts = nil
	for sum := range c.named {
		if _, ok := c.known[sum]; !ok {
			c.astray = true
		}
	}
	c.named = nil
	if !c.astray {
		return nil
	}
	err := c.audit.Claims(c.ctx, func(r store.Row[store.Claim]) error {
		if r.Fault == nil {
			claimNames(r, c.names)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.audit.Intents(c.ctx, func(r store.Row[store.Intent]) error {
		if r.Fault == nil {
			intentNames(r, c.names)
		}
		return nil
	})
}
