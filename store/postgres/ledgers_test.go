package postgres_test

import (
	"sync/atomic"
	"testing"
	"time"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

// TestLedgerFollowsTheLease: a process that has an episode's lease need not ask
// what is spent under it, and one that had it asks.
func TestLedgerFollowsTheLease(t *testing.T) {
	var requests atomic.Int64
	fresh := pgtest.Shared(t).Fresh(t)
	_, url := pgtest.Front(t, fresh, func(pgtest.Request) pgtest.Verdict { requests.Add(1); return pgtest.Pass })
	w := begun(t, open(t, url, postgres.Options{Lease: time.Hour}))
	other := see(t, open(t, fresh, postgres.Options{}))
	spent := func(p *world, want int64, asks bool) {
		t.Helper()
		before := requests.Load()
		ledger, err := p.Ledger(p.ctx, episode)
		ok(t, err)
		equal(t, "next ordinal", ledger.Next, want)
		equal(t, "spent", ledger.Of("Workspace.Read", "workspace"), want)
		equal(t, "asked", requests.Load() > before, asks)
		found, err := p.Look(p.ctx, store.Lookup{Ledger: episode})
		ok(t, err)
		equal(t, "next ordinal of a look", found.Ledger.Next, want)
	}
	spent(w, 0, true) // nobody has the lease
	ok(t, w.call("1"))
	spent(w, 1, true)
	spent(w, 1, false)
	ok(t, w.call("2"))
	spent(w, 2, false)
	spent(other, 2, false) // it asks elsewhere

	ok(t, w.GiveUp(w.ctx, w.lease()))
	spent(w, 2, true)
	ok(t, other.call("3"))
	spent(w, 3, true)
	spent(other, 3, false)
	_, err := w.Lease(w.ctx, episode)
	wantKind(t, "another's lease", err, fault.InFlight)
	ok(t, other.GiveUp(other.ctx, other.lease()))
	w.lease()
	spent(w, 3, true) // what was known is of an earlier epoch
	spent(w, 3, false)

	// What a reader was handed stays as it was.
	handed, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	ok(t, w.call("4"))
	equal(t, "an earlier reader's total", handed.Of("Workspace.Read", "workspace"), 3)
	spent(w, 4, true) // the call met a head that another had moved: all is forgotten
	spent(w, 4, false)
	ok(t, w.Close())
	_, err = w.Ledger(w.ctx, episode)
	wantKind(t, "a ledger after the end", err, fault.Unavailable)
}
