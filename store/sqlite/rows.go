package sqlite

import (
	"fmt"

	"world/store"
	"world/store/rows"
)

// Rows whose columns differ from engine to engine; the others are of package rows.

const spendColumns = "episode, effect, scope, total, digest"

// spentRow is one running total of an episode.
type spentRow struct {
	episode store.EpisodeID
	spent   store.Spent
}

func (r spentRow) digest() store.Digest { return r.spent.Digest(r.episode) }

// scanSpent reads a running total; before lists what comes before its columns.
func scanSpent(row rows.Scanner, before ...any) (r spentRow, err error) {
	err = rows.Whole(row, &r, spentWhere, spentRow.digest, append(before, &r.episode, &r.spent.Effect, &r.spent.Scope, &r.spent.Total)...)
	return r, err
}

func spentWhere(r spentRow) string {
	return fmt.Sprintf("spend %q %q %q", r.episode, r.spent.Effect, r.spent.Scope)
}

const leaseColumns = "episode, epoch, digest"

func scanLease(row rows.Scanner) (l store.Lease, err error) {
	err = rows.Whole(row, &l, leaseWhere, store.Lease.Digest, &l.Episode, &l.Epoch)
	return l, err
}

func leaseWhere(l store.Lease) string { return fmt.Sprintf("lease %q", l.Episode) }

// objectColumns are an object's, after whether it has further labels.
const objectColumns = "EXISTS (SELECT 1 FROM labels WHERE labels.hash = objects.hash), " + rows.ObjectColumns

func scanObject(row rows.Scanner) (o store.StoredObject, more bool, err error) {
	o, err = rows.ScanObject(row, &more)
	return o, more, err
}
