package crash

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"world/store/postgres/pgtest"
)

// TestReplicaPromoted ends a database while two processes of four callers each
// work on it, and promotes the replica without which nothing was committed. The
// callers find it by their URL, and send again what was not answered: nothing that
// was acknowledged is missing, and what went to the old server alone never was.
func TestReplicaPromoted(t *testing.T) {
	build(t)
	random := source(t.Name())
	for round := range max(1, *kills/500) {
		promote(t, 5+random.IntN(60))
		if t.Failed() {
			t.Fatalf("round %d of -seed %d", round, *seed)
		}
	}
}

// promote lets the replica take over after so many answers.
func promote(t *testing.T, after int) {
	t.Helper()
	const owners, callers, each = 2, 4, 16
	random := source(fmt.Sprint("promote", after))
	cluster, err := pgtest.Start()
	ok(t, err)
	defer cluster.Close()
	cluster.Replica(t)
	w := beginAt(t, cluster.Fresh(t), owners*episodesEach)
	if got := ask(t, w.where, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"); got != 1 {
		t.Fatalf("%d replicas are waited for", got)
	}
	var all []*process
	for i := range owners {
		// One episode of each is also the other's, so that leases are asked for too.
		session := func() int { return (i*episodesEach + random.IntN(episodesEach+1)) % len(w.sessions) }
		all = append(all, start(t, w.busy(fmt.Sprintf("owner-%d", i), callers, each, random, session), ""))
	}
	answered := func() (n int) {
		for _, p := range all {
			n += len(p.told("done"))
		}
		return n
	}
	until(t, "calls are answered", func() bool { return answered() >= after })
	cluster.Promote(t)
	before := answered()
	for _, p := range all {
		if p.killed() {
			t.Fatal("killed")
		}
		w.hear(p.said())
	}
	if left := w.unanswered(); len(left) > 0 {
		t.Errorf("without an answer: %v", left)
	}
	if got := ask(t, w.where, "SELECT count(*) FROM pg_stat_replication"); got != 0 {
		t.Errorf("the promoted server has %d replicas: it is the old one", got)
	}
	w.settle()
	v := w.judge(nil)
	t.Logf("promoted after %d answers of %d; %+v", before, answered(), v)
	if answered() == before {
		t.Errorf("all %d calls were answered before the promotion: it proves nothing", before)
	}
}

// ask asks a database for a number.
func ask(t *testing.T, url, sql string) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	ok(t, err)
	defer conn.Close(ctx)
	ok(t, conn.QueryRow(ctx, sql).Scan(&n))
	return n
}
