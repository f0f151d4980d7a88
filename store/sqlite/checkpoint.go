package sqlite

import "world/store/rows"

// Moving the write-ahead log into the file happens beside the commits: most of
// it while they go on, and the small rest between two of them, because SQLite
// starts its log anew only when a writer finds all of it moved.

// moveEvery is after how many changed rows the log is worth moving. A row
// dirties between one and two pages of 4 KiB.
const moveEvery = 2000

type checkpointer struct {
	c       *conn
	between func(fn func()) // runs fn while no transaction is open
	rows    int64           // changed since the last wake; the writer's own
	wake    chan struct{}
	quit    chan struct{}
	stopped chan struct{}
}

func startCheckpointer(c *conn, between func(func())) *checkpointer {
	k := &checkpointer{c: c, between: between, wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
	go k.loop()
	return k
}

func (k *checkpointer) loop() {
	defer close(k.stopped)
	for {
		select {
		case <-k.wake:
			k.move()
			k.between(k.move)
		case <-k.quit:
			return
		}
	}
}

// wrote counts changed rows and wakes the checkpointer now and then. It never waits.
func (k *checkpointer) wrote(rows int64) {
	if k.rows += rows; k.rows < moveEvery {
		return
	}
	k.rows = 0
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// move copies what readers do not need any more. A failure costs nothing but
// disk: the log stays, and the next move tries again.
func (k *checkpointer) move() {
	k.c.each(func(rows.Scanner) error { return nil }, "PRAGMA wal_checkpoint(PASSIVE)")
}

func (k *checkpointer) close() {
	close(k.quit)
	<-k.stopped
	k.c.close()
}
