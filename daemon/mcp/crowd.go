package mcp

import (
	"sync"

	"world/store"
)

// crowd counts the requests of each session that run now, so that one session
// cannot take the daemon from the others.
type crowd struct {
	mu      sync.Mutex
	running map[store.CredentialID]int
	most    int
}

func newCrowd(most int) *crowd {
	return &crowd{running: map[store.CredentialID]int{}, most: most}
}

// enter takes a place; false when the session holds all of its places.
func (c *crowd) enter(id store.CredentialID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[id] >= c.most {
		return false
	}
	c.running[id]++
	return true
}

// leave gives a place back.
func (c *crowd) leave(id store.CredentialID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[id]--; c.running[id] == 0 {
		delete(c.running, id)
	}
}
