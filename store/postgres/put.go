package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"world/store"
	"world/store/rows"
)

// Put implements store.Mover.
func (s *Store) Put(ctx context.Context, r store.Rows) error {
	const op = "postgres: put"
	if err := s.writable(op); err != nil {
		return err
	}
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := wantSeal(ctx, tx, op, store.Filling, shareSchema); err != nil {
			return err
		}
		var b pgx.Batch
		put(&b, r)
		return tx.SendBatch(ctx, &b).Close()
	})
	return asFault(ctx, op, err)
}

func put(b *pgx.Batch, r store.Rows) {
	putObjects(b, r.Objects)
	supply(b, claimTable, each(r.Claims, rows.ClaimArgs))
	upsert(b, intentTable, rows.IntentColumns, "episode, ordinal", each(r.Intents, rows.IntentArgs))
	supply(b, entryTable, each(r.Entries, rows.EntryArgs))
	if r.Head != nil {
		upsert(b, headTable, "id, "+rows.HeadColumns, "id", [][]any{append([]any{int64(1)}, rows.HeadArgs(*r.Head)...)})
	}
	var spend [][]any
	for _, l := range r.Ledgers {
		for _, sp := range l.Spent {
			// The largest budget is not told; the next spend says it again.
			spend = append(spend, spendArgs(spendRow{l.Episode, sp, sp.Total}))
		}
	}
	upsert(b, spendTable, spendColumns, "episode, effect, scope", spend)
	upsert(b, sessionTable, rows.SessionColumns, "seq", each(r.Sessions, func(p store.PlacedSession) []any { return rows.SessionArgs(rows.Session(p)) }))
	upsert(b, registryTable, rows.RegistryColumns, "name", each(r.Registries, registryArgs))
	upsert(b, leaseTable, leaseColumns, "episode", each(r.Leases, func(l store.Lease) []any {
		return leaseArgs(leaseRow{Lease: l}) // nobody's
	}))
	if r.At > 0 {
		d := store.ClockDigest(r.At)
		b.Queue("UPDATE world.clock SET at = $1, digest = $2 WHERE id = 1", r.At, d[:])
	}
}

func putObjects(b *pgx.Batch, objects []store.StoredObject) {
	var firsts, labels [][]any
	for _, o := range objects {
		for i, l := range o.Labels {
			if i == 0 {
				d := store.ObjectDigest(o.Ref, l)
				firsts = append(firsts, []any{rows.Blob(o.Ref), l.SemanticID, l.Provenance, o.Bytes, d[:]})
				continue
			}
			d := store.LabelDigest(o.Ref, l)
			labels = append(labels, []any{rows.Blob(o.Ref), l.SemanticID, l.Provenance, d[:]})
		}
	}
	supply(b, objectTable, firsts)
	if len(labels) > 0 {
		b.Queue(labelStatement, transpose(labels, []int{0, 1, 2, 3})...)
	}
}

// excluded names the columns of the rows that a conflict kept out.
func excluded(columns string) string {
	return "excluded." + strings.ReplaceAll(columns, ", ", ", excluded.")
}

// upsert inserts rows of a table, and overwrites what is there already.
func upsert(b *pgx.Batch, t table, columns, key string, values [][]any) {
	if len(values) == 0 {
		return
	}
	var one pgx.Batch
	t.insert(&one, values)
	b.Queue(t.insertion+" ON CONFLICT ("+key+") DO UPDATE SET ("+columns+") = ("+excluded(columns)+")", one.QueuedQueries[0].Arguments...)
}

// supply inserts rows of a table that are not there yet.
func supply(b *pgx.Batch, t table, values [][]any) {
	if len(values) == 0 {
		return
	}
	var one pgx.Batch
	t.insert(&one, values)
	b.Queue(t.insertion+" ON CONFLICT DO NOTHING", one.QueuedQueries[0].Arguments...)
}
