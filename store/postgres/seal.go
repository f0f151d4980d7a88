package postgres

import (
	"context"
	"crypto/rand"

	"github.com/jackc/pgx/v5"

	"world/fault"
	"world/store"
)

// The row of the schema's version is there in every store and never changes while
// one is open. A writer that begins shares it, and who changes the seal has it
// alone: so no writer begins beside a store that is being held.
const (
	shareSchema = " FOR SHARE"
	ownSchema   = " FOR UPDATE"
)

var _ store.Mover = (*Store)(nil)

// Seal implements store.Mover.
func (s *Store) Seal(ctx context.Context) (store.Seal, error) {
	seal, err := readSeal(ctx, s.pool)
	return seal, asFault(ctx, "postgres: seal", err)
}

func readSeal(ctx context.Context, q querier) (store.Seal, error) {
	row, err := readMeta(ctx, q, metaSeal, "")
	if err != nil || row == nil {
		return store.Unsealed, err
	}
	return store.Seal(row.value), nil
}

// unsealed refuses a writer that begins on a store which takes none.
func (l *lane) unsealed(ctx context.Context, tx pgx.Tx) error {
	if l.sealed {
		return nil
	}
	if _, err := readMeta(ctx, tx, metaSchema, shareSchema); err != nil {
		return err
	}
	seal, err := readSeal(ctx, tx)
	if err == nil {
		err = seal.Refuse("postgres: write")
	}
	return err
}

// SetSeal implements store.Mover. To hold or fill a store is to begin a new life
// on the row of every writer: no transaction of an earlier life commits after that.
func (s *Store) SetSeal(ctx context.Context, from, to store.Seal) error {
	const op = "postgres: set seal"
	if err := s.writable(op); err != nil {
		return err
	}
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := wantSeal(ctx, tx, op, from, ownSchema); err != nil {
			return err
		}
		var b pgx.Batch
		if to == store.Held || to == store.Filling {
			if err := s.fenceAll(ctx, tx, &b, op); err != nil {
				return err
			}
		}
		b.Queue("DELETE FROM world.meta WHERE key = $1", metaSeal)
		if to != store.Unsealed {
			metaTable.insert(&b, [][]any{metaArgs(metaRow{metaSeal, string(to)})})
		}
		return tx.SendBatch(ctx, &b).Close()
	})
	return asFault(ctx, op, err)
}

func wantSeal(ctx context.Context, tx pgx.Tx, op string, want store.Seal, lock string) error {
	if _, err := readMeta(ctx, tx, metaSchema, lock); err != nil {
		return err
	}
	now, err := readSeal(ctx, tx)
	if err == nil && now != want {
		err = fault.New(op, fault.Conflict, "the store's seal is %q and not %q", now, want)
	}
	return err
}

// fenceAll locks every other writer out, unless one of them has a lease: that is
// for its daemon to end.
func (s *Store) fenceAll(ctx context.Context, tx pgx.Tx, b *pgx.Batch, op string) error {
	writers, err := collect(ctx, tx, scanMeta, "SELECT "+metaColumns+" FROM world.meta WHERE starts_with(key, $1) AND key <> ALL($2) ORDER BY key FOR UPDATE",
		metaWriter, []string{s.lane.key})
	if err != nil {
		return err
	}
	live, err := collect(ctx, tx, scanLease, "SELECT "+leaseColumns+" FROM world.leases WHERE owner <> '' AND owner <> $1 AND until > "+nowMicros+" ORDER BY episode LIMIT 1", s.lane.owner)
	if err != nil {
		return err
	}
	if len(live) > 0 {
		return fault.New(op, fault.Locked, "%s holds the lease of episode %q; stop that daemon", live[0].owner, live[0].Episode)
	}
	for _, w := range writers {
		at, err := w.progress()
		if err != nil {
			return err
		}
		next := progress{rand.Text(), at.term + 1, at.done}
		d := w.digest()
		is := metaRow{w.key, next.row("").value}
		metaTable.compareAndSet(b, [][]any{metaArgs(is)}, [][]byte{d[:]})
	}
	return nil
}
