package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"world/fault"
	"world/store/rows"
)

// A COMMIT whose reply was lost is settled by writing, not by reading (D17). The
// transaction advanced its writer's row from "done n-1" to "done n". Settling
// waits for that row and begins a new term on it. The term is the tombstone: when
// the row says n, the transaction has committed, and what is visible is durable
// because a later commit is; when it says n-1, no transaction of the older term
// can commit any more, wherever its messages may still be.

// errUndone says that a settled transaction has not committed and never will. It
// has no kind of its own, so that the change is run again.
var errUndone = errors.New("the transaction was not committed")

// settlePause is between two tries to reach a database that does not answer.
const settlePause = 25 * time.Millisecond

// settle finds out whether the transaction after l.at has committed, for as long
// as somebody waits for the answer, and at least once. Uncertain when it could not.
func (l *lane) settle(ctx context.Context, cause error) error {
	l.unsettled = true
	before := l.at.done
	for {
		if l.conn != nil {
			l.drop()
		}
		err := l.ready(context.WithoutCancel(ctx))
		switch {
		case err == nil && l.at.done > before:
			return nil
		case err == nil:
			return errors.Join(errUndone, cause)
		case l.replaced || ctx.Err() != nil:
			return fault.Wrap("postgres: commit", fault.Uncertain, errors.Join(cause, err), "it is not known whether this was committed")
		}
		select {
		case <-ctx.Done():
		case <-time.After(settlePause):
		}
	}
}

// ready connects, and settles what an earlier transaction left open.
func (l *lane) ready(ctx context.Context) error {
	if l.replaced {
		return fault.New("postgres: write", fault.Locked, "another process writes under the name %q", l.owner)
	}
	ctx, cancel := context.WithTimeout(ctx, l.step)
	defer cancel()
	if l.conn != nil && l.conn.IsClosed() {
		l.conn = nil
	}
	if l.conn == nil {
		conn, err := l.connect(ctx)
		if err != nil {
			return asFault(ctx, "postgres: connect", err)
		}
		l.conn, l.bounded, l.statements = conn, time.Time{}, map[string]*pgconn.StatementDescription{}
		l.memory.forget()
	}
	if !l.unsettled {
		return nil
	}
	if err := l.newTerm(ctx); err != nil {
		return err
	}
	l.unsettled = false
	return nil
}

// newTerm begins a new term on the writer's row, in a transaction of its own. A
// process that begins takes the row over, or makes it.
func (l *lane) newTerm(ctx context.Context) error {
	next := l.at
	warnings := l.warnings.Load()
	l.bound()
	err := pgx.BeginTxFunc(ctx, l.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := l.unsealed(ctx, tx); err != nil {
			return err
		}
		var b pgx.Batch
		was, err := readMeta(ctx, tx, l.key, " FOR UPDATE")
		if err != nil {
			return err
		}
		begins := l.at.term == 0
		if was == nil {
			if !begins {
				return rows.Damaged("%s is missing", metaWhere(l.at.row(l.key)))
			}
			next = progress{life: l.at.life, term: 1}
			metaTable.insert(&b, [][]any{metaArgs(next.row(l.key))})
			return tx.SendBatch(ctx, &b).Close()
		}
		at, err := was.progress()
		if err != nil {
			return err
		}
		if l.replaced = !begins && at.life != l.at.life; l.replaced {
			return fault.New("postgres: write", fault.Locked, "another process writes under the name %q", l.owner)
		}
		next = progress{l.at.life, at.term + 1, at.done}
		d := was.digest()
		metaTable.compareAndSet(&b, [][]any{metaArgs(next.row(l.key))}, [][]byte{d[:]})
		return tx.SendBatch(ctx, &b).Close()
	})
	if err == nil && l.warnings.Load() != warnings {
		err = errors.New("the server warned while it committed")
	}
	if err == nil {
		l.at = next
	}
	return err
}

// leave closes the connection when nobody writes any more. A name that was made
// up for this process leaves no row behind.
func (l *lane) leave(forget bool) {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	l.bound()
	if forget && !l.unsettled && !l.replaced {
		// Should this fail, a small row stays that nobody reads.
		l.conn.Exec(ctx, "DELETE FROM world.meta WHERE key = $1", l.key)
	}
	l.conn.Close(ctx)
	l.conn = nil
}
