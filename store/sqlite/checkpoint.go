package sqlite

import (
	"sync/atomic"
	"time"

	"world/store/rows"
)

// Moving the write-ahead log into the file happens beside the commits: most of
// it while they go on, and the small rest between two of them, because SQLite
// starts its log anew only when a writer finds all of it moved. What is moved and
// synced no longer hangs on the log.

const (
	// moveEvery is after how many changed rows the log is worth moving: some 15 MB
	// of it. Moving syncs the file, which holds the commits up that are on their
	// way, and pages that changed often meanwhile are moved once.
	moveEvery = 4000
	// moveAfter is how long what is committed may be in the log alone.
	moveAfter = 5 * time.Second
)

type checkpointer struct {
	c       *conn
	between func(fn func()) // runs fn while no transaction is open
	fence   func()          // commits something that may be lost
	rows    atomic.Int64    // changed since the last move
	wake    chan struct{}
	whole   chan chan struct{} // asks for the whole log to be moved
	quit    chan struct{}
	stopped chan struct{}
}

func startCheckpointer(c *conn, between func(func()), fence func()) *checkpointer {
	k := &checkpointer{
		c: c, between: between, fence: fence,
		wake: make(chan struct{}, 1), whole: make(chan chan struct{}), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	go k.loop(moveAfter)
	return k
}

func (k *checkpointer) loop(after time.Duration) {
	defer close(k.stopped)
	tick := time.NewTicker(after)
	defer tick.Stop()
	fenced := true
	for {
		select {
		case <-k.wake:
			k.rows.Store(0)
			k.move()
			k.between(k.move)
			fenced = false
		case <-tick.C:
			if k.rows.Swap(0) == 0 && fenced {
				continue
			}
			k.move()
			// Behind a whole move the fence begins the log anew: no page in it is
			// older than the file's, however little of it a crash leaves.
			k.between(func() { k.move(); k.fence() })
			fenced = true
		case done := <-k.whole:
			k.between(func() { empty(k.c) })
			close(done)
		case <-k.quit:
			return
		}
	}
}

// wrote counts changed rows and wakes the checkpointer now and then. It never waits.
func (k *checkpointer) wrote(rows int64) {
	if k.rows.Add(rows) < moveEvery {
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// move copies what readers do not need any more. A failure costs nothing but
// disk: the log stays, and the next move tries again.
func (k *checkpointer) move() { checkpoint(k.c, "PASSIVE") }

// moveAll returns when the file holds all that is committed, or when a reader
// beside us needs some of the log and the next moves must do.
func (k *checkpointer) moveAll() {
	done := make(chan struct{})
	select {
	case k.whole <- done:
		<-done
	case <-k.stopped:
	}
}

// empty moves the whole log and cuts it to nothing.
func empty(c *conn) { checkpoint(c, "TRUNCATE") }

func checkpoint(c *conn, mode string) {
	c.each(func(rows.Scanner) error { return nil }, "PRAGMA wal_checkpoint("+mode+")")
}

// close moves what is left, for the log stays when a reader beside us keeps
// SQLite from removing it.
func (k *checkpointer) close() {
	close(k.quit)
	<-k.stopped
	k.move()
	k.c.close()
}
