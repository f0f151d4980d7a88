package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// send sends a batch and reads all its answers, in one round trip.
func (l *lane) send(ctx context.Context, b *pgx.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, l.step)
	defer cancel()
	l.bound()
	return l.conn.SendBatch(ctx, b).Close()
}

// rollback leaves the connection fit for the next transaction, or drops it.
func (l *lane) rollback(ctx context.Context) {
	if l.conn.IsClosed() {
		l.conn = nil
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.step)
	defer cancel()
	l.bound()
	if _, err := l.conn.Exec(ctx, "ROLLBACK"); err != nil {
		l.drop()
	}
}

// drop closes the connection without a word.
func (l *lane) drop() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	l.conn.Close(ended)
	l.conn = nil
}

// commit sends the second half of a transaction, COMMIT with it: the server obeys
// nothing after a statement that failed, COMMIT included. A transaction that was
// predicted has no first half: it is one statement that commits by itself.
func (l *lane) commit(group []*member, v *view) error {
	next := l.at
	next.done++
	was, is := l.at.row(l.key), next.row(l.key)
	d := was.digest()
	sql, args := compose(append([]part{metaTable.comparing(false, [][]any{metaArgs(is)}, [][]byte{d[:]})}, v.out.parts()...))
	warnings := l.warnings.Load()
	committed, err := l.write(v.predicted, sql, args)
	if err == nil && committed && l.warnings.Load() == warnings {
		l.at = next
		l.memory.remember(v)
		return nil
	}
	if err == nil && !committed || refused(err) {
		if !v.predicted {
			l.rollback(context.Background())
		}
		// When all that was read is locked, a guard that failed is the writer's row, or
		// a lease that has ended since.
		l.unsettled = state(err) == stateGuard && !v.predicted
		return err
	}
	ctx, stop := during(group)
	defer stop()
	return l.settle(ctx, err)
}

// write sends a statement with its COMMIT and reports whether the server says that
// it committed. Nobody who waits can end it: it is bounded by the connection.
func (l *lane) write(alone bool, sql string, args []any) (committed bool, err error) {
	l.bound()
	statement, err := l.prepared(sql)
	if err != nil {
		return false, err
	}
	ctx, conn := context.Background(), l.conn.PgConn()
	if alone {
		_, err := conn.ExecStatement(ctx, statement, l.params.of(args), inBinary, inBinary).Close()
		return err == nil, err
	}
	var b pgconn.Batch
	b.ExecStatement(statement, l.params.of(args), inBinary, inBinary)
	b.ExecParams("COMMIT", nil, nil, nil, nil)
	answers, err := conn.ExecBatch(ctx, &b).ReadAll()
	return err == nil && answers[len(answers)-1].CommandTag.String() == "COMMIT", err
}

// statementsKept is how many statements stay prepared. Transactions have few
// shapes; should there be more, all are prepared anew.
const statementsKept = 256

// prepared returns a statement of this connection.
func (l *lane) prepared(sql string) (*pgconn.StatementDescription, error) {
	if s := l.statements[sql]; s != nil {
		return s, nil
	}
	ctx := context.Background()
	if len(l.statements) >= statementsKept {
		if err := l.conn.DeallocateAll(ctx); err != nil {
			return nil, err
		}
		clear(l.statements)
	}
	s, err := l.conn.Prepare(ctx, sql, sql)
	if err == nil {
		l.statements[sql] = s
	}
	return s, err
}

// bound makes the connection fail by itself when the server takes longer than
// a step to answer what is sent now, give or take a tenth: the bound is moved once
// in that time, because a context for each statement costs as much as a read.
// Whatever uses the connection says so here first.
func (l *lane) bound() {
	now := time.Now()
	if l.bounded.Sub(now) >= l.step {
		return
	}
	l.bounded = now.Add(l.step + l.step/10)
	// It fails for a closed connection alone, which what is sent next will find.
	_ = l.conn.PgConn().Conn().SetDeadline(l.bounded)
}

// refused reports whether the server's answer says that nothing was committed: an
// error of the statement or of its COMMIT, while the connection lives on.
func refused(err error) bool {
	s := state(err)
	return s != "" && s != stateUnknown && s[:2] != classConnection && !fatal(err)
}
