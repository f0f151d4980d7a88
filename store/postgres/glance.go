package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"world/store"
)

// glances are answers to lookups that may be a little old (store.Lookup.Within).
// An act of this process forgets them all before anybody is told of it, so that
// only what another process has changed can be missing, and only for so long.
type glances struct {
	mu    sync.Mutex
	known map[string]store.Looked
	age   int64 // how often all was forgotten
}

// begin is called before a lookup is read, and tells whether it may be kept.
func (g *glances) begin() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.age
}

// keep takes over what was read since begin, unless this process acted meanwhile.
// Spend is not kept: it changes with every call, and a lease knows it better.
func (g *glances) keep(what store.Lookup, found store.Looked, begun int64) {
	if what.Within <= 0 || what.Ledger != "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if begun != g.age {
		return
	}
	if g.known == nil || len(g.known) > memoryRows {
		g.known = map[string]store.Looked{}
	}
	found.Registries = slices.Clone(found.Registries)
	g.known[glanceKey(what)] = found
}

func (g *glances) find(what store.Lookup) (store.Looked, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, ok := g.known[glanceKey(what)]
	return found, ok && time.Since(found.Taken) < what.Within
}

func (g *glances) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.age = nil, g.age+1
}

// glanceKey names a lookup. No text in the database has a NUL.
func glanceKey(what store.Lookup) string {
	return string(what.Session) + "\x00" + strings.Join(what.Registries, "\x00")
}

// glance answers a lookup without asking. Time is as far as this process knows of.
func (s *Store) glance(ctx context.Context, what store.Lookup) (store.Looked, bool) {
	if what.Within <= 0 || what.Ledger != "" || ctx.Err() != nil || s.shut.Load() {
		return store.Looked{}, false
	}
	found, ok := s.glances.find(what)
	if !ok {
		return store.Looked{}, false
	}
	found.Registries = slices.Clone(found.Registries)
	if s.lane != nil {
		found.At = max(found.At, s.lane.memory.time())
	}
	return found, true
}
