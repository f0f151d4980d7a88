package attended

import (
	"context"

	"world/store"
	"world/store/record"
)

// runs reports whether an episode's last effect has no end yet: under the lease's
// epoch, in which alone it can still have one, or with epoch 0 under any. Calls of an
// episode come one after another, so that no other can.
func (d Desk) runs(ctx context.Context, l store.Ledger, epoch int64) (bool, error) {
	if l.Next == 0 {
		return false, nil
	}
	list, err := d.Office.Store.Intents(ctx, l.Episode, l.Next-1, 1)
	if err != nil || len(list) == 0 {
		return false, err
	}
	i := list[0]
	return i.Outcome.Status == store.StatusOpen && i.Reconciled == "" && (epoch == 0 || i.Epoch == epoch), nil
}

// catchUp looks again for an episode whose calls went on after the operator was
// shown it. Its sessions are revoked by now, so that nothing new begins: InFlight
// while the last call runs, which is worth another try. The operator agreed to lose
// what was shown, so what came later is kept.
func (d Desk) catchUp(ctx context.Context, l *last, lease store.Lease, done *Ended) error {
	now, err := d.Office.Store.Ledger(ctx, l.episode)
	if err != nil || !l.busy && now.Next == l.ledger.Next {
		return err
	}
	running, err := d.runs(ctx, now, lease.Epoch)
	if err != nil {
		return err
	}
	if running {
		return store.Running("attended: end", l.episode)
	}
	l.busy, l.ledger = false, now
	if err := d.lookAtTree(ctx, l); err != nil {
		return err
	}
	done.Late = append([]string{"A call ended after you were asked."}, l.notice()...)
	if done.Worktree == record.Removed {
		done.Worktree = record.Kept
		done.Late = append(done.Late, "Its worktree was therefore not removed; the same command removes it now.")
	}
	return nil
}
