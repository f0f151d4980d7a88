package fsck

import (
	"fmt"

	"world/store"
)

// call is what the journal's rows say of one invocation id, kept as digests, so
// that a million of them fit in memory.
type call struct {
	claim   store.Digest // of the claim without its time
	intent  store.Digest // of what records can say of the intent
	flags   flags
	episode int32 // of the intent, which of checker.episodes
	ordinal int64
}

// calls are found by their invocation ids, and lie together without a pointer, which
// the garbage collector would follow.
type calls struct {
	places map[store.InvocationID]int32
	blocks [][]call
}

const blockCalls = 1 << 12

func (c *calls) of(id store.InvocationID) *call {
	at, there := c.places[id]
	if !there {
		at = int32(len(c.places))
		c.places[id] = at
		if at%blockCalls == 0 {
			c.blocks = append(c.blocks, make([]call, blockCalls))
		}
	}
	return c.at(at)
}

func (c *calls) at(place int32) *call { return &c.blocks[place/blockCalls][place%blockCalls] }

type flags uint8

const (
	hasClaim flags = 1 << iota
	hasIntent
	hasOutcome
	hasEntry
)

// intentOf is the name of a call's intent.
func (c *checker) intentOf(k *call) string { return store.IntentName(c.episodes[k.episode], k.ordinal) }

// receipts holds what every id may have: an entry has a claim, a claim an entry
// or an intent, an outcome its entry.
func (c *checker) receipts() error {
	for id, place := range c.calls.places {
		if what := c.calls.at(place).flags.amiss(); what != "" {
			c.find(fmt.Sprintf("invocation %q", id), "%s", what)
		}
	}
	return nil
}

// amiss is what there is too much or too little of one call, "" for nothing.
func (f flags) amiss() string {
	switch {
	case f&hasClaim == 0 && f&hasIntent != 0:
		return "it has an intent and no claim"
	case f&hasClaim == 0:
		return "it has an entry and no claim"
	case f&(hasIntent|hasEntry) == 0:
		return "it has a claim, and neither intent nor entry"
	case f&hasOutcome != 0 && f&hasEntry == 0:
		return "its intent has an outcome, and the log no entry"
	case f&hasOutcome == 0 && f&(hasIntent|hasEntry) == hasIntent|hasEntry:
		return "the log has its entry, and its intent no outcome"
	}
	return ""
}
