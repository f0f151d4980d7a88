package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"world/fault"
	"world/store/batch"
)

const (
	// batchLimit is how many waiting changes share one transaction at most.
	batchLimit = 64
	// patience is for how long a transaction waits for one more of those who shared
	// the last one. It is a part of what a transaction takes, its sync included.
	patience = 100 * time.Microsecond
	// attempts is how often a change is tried that races or loses its connection.
	attempts = 5
)

type member = batch.Change[change]

// lane owns a connection on which a store writes, and the row that says how far it
// is. It is used by one goroutine at a time. A store has one lane: what arrives
// while it syncs is the next transaction, intents or outcomes, and the fewer those
// are, the less each call costs.
type lane struct {
	owner   string        // of leases
	step    time.Duration // bounds one round trip; a server that takes longer has hung
	key     string        // of the writer's row
	connect func(context.Context) (*pgx.Conn, error)
	conn    *pgx.Conn // nil while there is none
	bounded time.Time // until when the connection answers, or fails
	at      progress

	statements map[string]*pgconn.StatementDescription // prepared on the connection
	params     params                                  // of the statement that is sent
	unsettled  bool                                    // a COMMIT may have happened that nobody has looked for
	replaced   bool                                    // another process writes under this owner's name
	sealed     bool                                    // it writes though the store is held or sealed
	warnings   atomic.Int64                            // of the server
	memory     *memory
	queue      *batch.Queue[change]
}

func newLane(owner, life string, step time.Duration, m *memory, dial func(context.Context, func()) (*pgx.Conn, error)) *lane {
	l := &lane{owner: owner, step: step, key: metaWriter + owner, at: progress{life: life}, unsettled: true, memory: m}
	l.connect = func(ctx context.Context) (*pgx.Conn, error) { return dial(ctx, func() { l.warnings.Add(1) }) }
	l.queue = batch.NewOfKinds(batchLimit, patience, kindOf, l.run)
	return l
}

// do runs a change and returns when it is durable or has changed nothing.
func (l *lane) do(ctx context.Context, op string, ch change) error {
	return asFault(ctx, op, l.queue.Do(ctx, op, ch))
}

// run lets changes of a kind share a transaction.
func (l *lane) run(waiting []*member) {
	if waiting[0].Work.kind() != alone {
		l.serve(waiting)
		return
	}
	for _, m := range waiting {
		l.serve([]*member{m})
	}
}

// serve brings a group to its end. What fails for reasons that are not one
// member's own is run again, one by one, as long as nothing of it can be
// committed; each member then succeeds or fails alone.
func (l *lane) serve(group []*member) {
	err := l.foresee(group)
	if err == nil {
		return
	}
	ctx, stop := during(group)
	defer stop()
	if err == errUnforeseen {
		if err = l.attempt(ctx, group); err == nil {
			return
		}
	}
	if len(group) > 1 && (fault.Is(err, fault.Corrupt) || passing(err)) {
		for _, m := range group {
			l.serve([]*member{m})
		}
		return
	}
	for n := 1; n < attempts && passing(err) && ctx.Err() == nil; n++ {
		if err = l.attempt(ctx, group); err == nil {
			return
		}
	}
	for _, m := range group {
		if m.Err == nil {
			m.Err = asFault(m.Ctx, m.Op, err)
		}
	}
}

// during returns a context that ends when no member waits any more.
func during[T any](group []*batch.Change[T]) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	left := atomic.Int64{}
	left.Store(int64(len(group)))
	stops := make([]func() bool, len(group))
	for i, m := range group {
		stops[i] = context.AfterFunc(m.Ctx, func() {
			if left.Add(-1) == 0 {
				cancel(context.Cause(m.Ctx))
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}

// errUnforeseen says that a group cannot be decided on what is remembered.
var errUnforeseen = errors.New("what is remembered does not do")

// foresee runs a group in one statement, decided on what is remembered. With an
// error nothing of it is committed or ever will be, except with kind Uncertain.
func (l *lane) foresee(group []*member) error {
	if group[0].Work.kind() == alone || l.conn == nil || l.conn.IsClosed() || l.unsettled || l.replaced {
		return errUnforeseen
	}
	w := wants{recalled: true}
	w.all(group)
	v := l.memory.predict(&w, l.owner)
	if v == nil || !decide(group, v) {
		return errUnforeseen
	}
	err := l.commit(group, v)
	if passing(err) {
		l.memory.mistrust()
		return errUnforeseen
	}
	return err
}

// all names what a group depends on.
func (w *wants) all(group []*member) {
	for _, m := range group {
		m.Err = nil
		m.Work.wants(w)
	}
}

// attempt runs a group in one transaction of two halves. Its errors are those of
// foresee. Members that are refused by a guard have their error and no part in
// the transaction.
func (l *lane) attempt(ctx context.Context, group []*member) error {
	if err := l.ready(ctx); err != nil {
		return err
	}
	var b pgx.Batch
	var w wants
	w.all(group)
	v := w.load(&b, l.owner)
	if err := l.send(ctx, &b); err != nil {
		l.rollback(ctx)
		return err
	}
	decide(group, v)
	if v.out.none() {
		l.rollback(ctx)
		return nil
	}
	return l.commit(group, v)
}

// decide applies every member to the view and reports whether there is something
// to write and nobody was refused.
func decide(group []*member, v *view) bool {
	all := true
	v.out.several = len(group) > 1
	for _, m := range group {
		if m.Ctx.Err() != nil {
			m.Err = batch.Ended(m.Ctx, m.Op)
		} else if m.Err = m.Work.decide(v, m.Op); m.Err != nil {
			all = false
			if m.Work.kind() == alone {
				v.out = writes{}
			}
		}
	}
	return all && !v.out.none()
}
