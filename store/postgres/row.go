package postgres

import (
	"fmt"
	"strconv"

	"world/store"
	"world/store/rows"
)

// Rows that this engine keeps otherwise than others do.

const spendColumns = "episode, effect, scope, total, ceiling, digest"

type spendKey struct {
	episode store.EpisodeID
	store.Spent
}

// spendRow is one running total of an episode.
type spendRow struct {
	episode store.EpisodeID
	spent   store.Spent
	ceiling int64 // the largest budget that a spend was guarded by, in calls
}

// key is the row's key: the same without its totals.
func (r spendRow) key() spendKey {
	return spendKey{r.episode, store.Spent{Effect: r.spent.Effect, Scope: r.spent.Scope}}
}

func (r spendRow) digest() store.Digest {
	return store.RowDigest("postgres/spend", []string{string(r.episode), string(r.spent.Effect), string(r.spent.Scope)}, r.spent.Total, r.ceiling)
}

func scanSpend(row rows.Scanner) (r spendRow, err error) {
	err = rows.Whole(row, &r, spendWhere, spendRow.digest, &r.episode, &r.spent.Effect, &r.spent.Scope, &r.spent.Total, &r.ceiling)
	return r, err
}

func spendArgs(r spendRow) []any {
	d := r.digest()
	return []any{string(r.episode), string(r.spent.Effect), string(r.spent.Scope), r.spent.Total, r.ceiling, d[:]}
}

func spendWhere(r spendRow) string {
	return fmt.Sprintf("spend %q %q %q", r.episode, r.spent.Effect, r.spent.Scope)
}

const leaseColumns = "episode, epoch, owner, until, free, wanted, digest"

// leaseRow is a lease with who has it. Times are microseconds by the database's
// clock: until then the owner may write, and from free on another may take it,
// because by then what the owner had started has met its deadline (D14).
type leaseRow struct {
	store.Lease
	owner  string // "" when nobody has it
	until  int64
	free   int64
	wanted string // who asked for it last, "" when nobody did
}

func (r leaseRow) digest() store.Digest {
	return store.RowDigest("postgres/leases", []string{string(r.Episode), r.owner, r.wanted}, r.Epoch, r.until, r.free)
}

func scanLease(row rows.Scanner) (r leaseRow, err error) {
	err = rows.Whole(row, &r, leaseWhere, leaseRow.digest, &r.Episode, &r.Epoch, &r.owner, &r.until, &r.free, &r.wanted)
	return r, err
}

func leaseArgs(r leaseRow) []any {
	d := r.digest()
	return []any{string(r.Episode), r.Epoch, r.owner, r.until, r.free, r.wanted, d[:]}
}

func leaseWhere(r leaseRow) string { return fmt.Sprintf("lease %q", r.Episode) }

const metaColumns = "key, value, digest"

// metaRow is a row of the engine's own bookkeeping.
type metaRow struct{ key, value string }

func (r metaRow) digest() store.Digest { return store.MetaDigest(r.key, r.value) }

func scanMeta(row rows.Scanner) (r metaRow, err error) {
	err = rows.Whole(row, &r, metaWhere, metaRow.digest, &r.key, &r.value)
	return r, err
}

func metaArgs(r metaRow) []any {
	d := r.digest()
	return []any{r.key, r.value, d[:]}
}

func metaWhere(r metaRow) string { return "meta " + strconv.Quote(r.key) }

// Keys of the bookkeeping.
const (
	metaSchema = "schema"  // version of the schema
	metaWriter = "writer " // and the name of a writer: how far it is
	metaSeal   = "seal"    // store.Seal; no row means none
)

// progress is how far a writer is. Its transactions count up in done. A new term
// begins when a lost COMMIT is settled, a new life when another process takes the
// writer's name: no transaction of an earlier term or life can commit after that.
type progress struct {
	life       string
	term, done int64
}

func (p progress) row(key string) metaRow {
	return metaRow{key, fmt.Sprintf("life %s term %d done %d", p.life, p.term, p.done)}
}

func (r metaRow) progress() (p progress, err error) {
	if _, err := fmt.Sscanf(r.value, "life %s term %d done %d", &p.life, &p.term, &p.done); err != nil {
		return p, rows.Damaged("%s does not decode", metaWhere(r))
	}
	return p, nil
}
