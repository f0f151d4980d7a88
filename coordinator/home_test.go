package coordinator_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/fsck"
)

// housed mints a session of an episode whose worktree lies with a daemon.
func housed(t *testing.T, w *coordtest.World, episode store.EpisodeID, home store.HomeID) (session.Live, error) {
	t.Helper()
	terms := session.Terms{Episode: episode, Grants: writer(w, 5).Record.Grants, TTL: 60}
	m, err := w.Office().MintAt(t.Context(), terms, home, w.Now())
	return session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential}, err
}

// TestHome refuses the effects of an episode with another home before anything is
// written, serves those of its own and of none, and lets no home move.
func TestHome(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, func(o *coordinator.Options) { o.Home = "here" })
	for _, c := range []struct {
		episode store.EpisodeID
		home    store.HomeID
		served  bool
	}{{"mine", "here", true}, {"theirs", "there", false}, {"nobodys", "", true}} {
		live, err := housed(t, w, c.episode, c.home)
		if err != nil {
			t.Fatal(err)
		}
		before := head(t, w)
		_, err = w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`)
		if c.served {
			if err != nil || head(t, w) != before+1 {
				t.Errorf("%s: %v", c.episode, err)
			}
			continue
		}
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(fault.Public(err), `daemon "there"`) || head(t, w) != before {
			t.Errorf("%s: %v", c.episode, err)
		}
		if _, err := w.Store.Claim(t.Context(), "mcp:theirs:task"); !fault.Is(err, fault.NotFound) {
			t.Errorf("its id: %v", err)
		}
	}
	if len(hand.Jobs()) != 2 {
		t.Errorf("%d handled", len(hand.Jobs()))
	}
	// A later session without a worktree changes nothing, nor does one at home.
	w.Mint("theirs", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	if _, err := housed(t, w, "theirs", "there"); err != nil {
		t.Errorf("a second worktree at home: %v", err)
	}
	if _, err := housed(t, w, "theirs", "here"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second home: %v", err)
	}
	if home, err := session.Home(t.Context(), w.Store, "theirs"); err != nil || home != "there" {
		t.Errorf("the home is %q, %v", home, err)
	}
	report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
	if err != nil || !report.Clean() {
		t.Errorf("fsck: %v, %v", report.Findings, err)
	}
}

// TestFsckDerivesHomes forges a home without a mint, and one of another session.
func TestFsckDerivesHomes(t *testing.T) {
	for _, c := range []struct{ name, head, finds string }{
		{"of an episode without one", "world/home/other", "the log minted no such home"},
		{"of another session", "world/home/ep", "the log minted no such home"},
	} {
		w := world(t, &coordtest.Hand{}, nil)
		live, err := housed(t, w, "ep", "here")
		if err != nil {
			t.Fatal(err)
		}
		plain := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
		from := live.Object
		if c.head != "world/home/ep" {
			from = ""
		}
		draft, err := w.Office().Draft(t.Context(), "forge", plain.Object)
		if err != nil {
			t.Fatal(err)
		}
		// The act is about an object that the log has not told of as a mint.
		draft.Transition, draft.StateRoot = draft.TransitionFn, draft.TransitionFn
		if _, err := w.Store.Act(t.Context(), store.Act{Draft: draft, At: w.Now(), Changes: []store.Change{
			store.MoveRegistry{Name: c.head, From: from, To: plain.Object},
		}}); err != nil {
			t.Fatal(err)
		}
		report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
		if err != nil || len(report.Findings) != 1 || !strings.Contains(report.Findings[0].String(), c.finds) {
			t.Errorf("%s: %v, %v", c.name, report.Findings, err)
		}
		if _, err := session.Home(t.Context(), w.Store, store.EpisodeID(strings.TrimPrefix(c.head, "world/home/"))); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// contested is a store whose lease another daemon has for a while, and gets again
// while a call plans.
type contested struct {
	store.Store
	held, losses atomic.Int64 // how many more leases, and intents, are refused
}

func (c *contested) Lease(ctx context.Context, e store.EpisodeID) (store.Lease, error) {
	if c.held.Add(-1) >= 0 {
		return store.Lease{}, fault.New("test: lease", fault.InFlight, "held by another")
	}
	return c.Store.Lease(ctx, e)
}

func (c *contested) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	if c.losses.Add(-1) >= 0 {
		return store.Intent{}, fault.New("test: intend", fault.LeaseLost, "another has it")
	}
	return c.Store.Intend(ctx, in)
}

// TestALeaseIsWaitedForAndTakenAnew plays another daemon on the same episode.
func TestALeaseIsWaitedForAndTakenAnew(t *testing.T) {
	s := &contested{}
	hand := &coordtest.Hand{}
	w := world(t, hand, func(o *coordinator.Options) { s.Store = o.Store; o.Store = s })
	live := writer(w, 5)
	s.held.Store(3)
	s.losses.Store(3)
	if reply := w.Must(live, coordtest.Act, "task", `{}`); reply.Failed || len(hand.Jobs()) != 1 {
		t.Errorf("%+v, %d handled", reply, len(hand.Jobs()))
	}
	if total, intents := spent(t, w, "ep"); total != 1 || intents != 1 {
		t.Errorf("%d spent by %d intents", total, intents)
	}

	// It is not waited for without end, and not taken without end.
	s.held.Store(1 << 40)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := w.Invoke(ctx, live, coordtest.Act, "waits", `{}`); done <- err }()
	for s.held.Load() > 1<<40-2 {
	}
	cancel()
	if err := <-done; !fault.Is(err, fault.InFlight) {
		t.Errorf("a call that gave up: %v", err)
	}
	s.held.Store(0)
	s.losses.Store(1 << 40)
	if _, err := w.Invoke(t.Context(), live, coordtest.Act, "loses", `{}`); !fault.Is(err, fault.LeaseLost) {
		t.Errorf("a call that always loses: %v", err)
	}
	if len(hand.Jobs()) != 1 {
		t.Errorf("%d handled", len(hand.Jobs()))
	}
}
