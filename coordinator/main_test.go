package coordinator_test

import (
	"testing"

	"go.uber.org/goleak"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/evidence"
	"world/coordinator/replay"
	"world/session"
	"world/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a world whose every effect but Nobody.Does has one handler.
func world(t *testing.T, hand *coordtest.Hand, edit func(*coordinator.Options)) *coordtest.World {
	t.Helper()
	return coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand, "Net.Send": hand}, edit)
}

// writer is a session with a budget of writes.
func writer(w *coordtest.World, budget int64) session.Live {
	w.T.Helper()
	return w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, budget))
}

// recorded loads what an entry says of its call.
func recorded(t *testing.T, w *coordtest.World, entry store.Entry) evidence.Call {
	t.Helper()
	call, err := evidence.Load(t.Context(), w.Store, entry)
	if err != nil {
		t.Fatalf("evidence of entry %d: %v", entry.Index, err)
	}
	return call
}

// spent is the episode's spend on writes, and how many intents it has.
func spent(t *testing.T, w *coordtest.World, episode store.EpisodeID) (total, intents int64) {
	t.Helper()
	ledger, err := w.Store.Ledger(t.Context(), episode)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Of(coordtest.Write, coordtest.Scope), ledger.Next
}

// head is the index of the newest entry.
func head(t *testing.T, w *coordtest.World) int64 {
	t.Helper()
	h, err := w.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h.Index
}

// replays checks that every call of the world replays without divergence.
func replays(t *testing.T, w *coordtest.World) replay.Counts {
	t.Helper()
	counts, err := replay.ReplayAll(t.Context(), w.Store, coordtest.Runner{}, func(r replay.Report) error {
		if r.Verdict == replay.Diverged {
			t.Errorf("%s diverges at %s: wanted %s, got %s", r.Invocation, r.Position, r.Wanted, r.Got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// status is the status of the call's one effect, "" without one.
func status(call evidence.Call) string {
	if len(call.Ended) == 0 {
		return ""
	}
	return call.Ended[0].Status
}
