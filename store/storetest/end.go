package storetest

import (
	"testing"

	"world/fault"
	"world/store"
)

// endings shows that an episode ends once, when nothing of it lives or runs, and
// that neither a session nor an effect comes after.
func endings(t *testing.T, open Opener) {
	w := opened(t, open)
	ending := text("world/episode-end/v1", "ended")
	next := int64(0)
	end := func(lease store.Lease) error {
		o := text("world/host-act/v1", "about the end")
		_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{o, ending}, Draft: w.draft(o, ending), At: 40,
			Changes: []store.Change{store.EndEpisode{Episode: episode, Ending: ending.Ref(), Next: next, Lease: lease}}})
		return err
	}
	mint := func(n int, name store.EpisodeID) error {
		o := text("world/session/v1", string(name))
		_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), At: 10,
			Changes: []store.Change{store.MintSession{Session: store.Session{
				Credential: credential(n), Object: o.Ref(), Episode: name, CreatedAt: 10, ExpiresAt: 20}}}})
		return err
	}
	revoke := func(n int) {
		t.Helper()
		_, err := w.act(1, "revoked", store.RevokeSession{Credential: credential(n), Revocation: w.source.Ref()})
		ok(t, err)
	}
	refused := func(what string, kind fault.Kind, lease store.Lease) {
		t.Helper()
		before := w.state()
		wantKind(t, what, end(lease), kind)
		equal(t, "state", w.state(), before)
	}

	ok(t, mint(1, episode))
	ok(t, mint(2, "ep-2"))
	lease := w.lease()
	refused("end with a live session", fault.Conflict, lease)
	revoke(1)
	in, intent := w.intend("1")
	refused("end while an effect runs", fault.InFlight, lease)
	_, err := w.Commit(w.ctx, w.finish(in, intent))
	ok(t, err)
	refused("end that does not know of an effect", fault.Conflict, lease)
	next = 1
	refused("end under another's epoch", fault.LeaseLost, store.Lease{Episode: episode, Epoch: lease.Epoch + 1})
	refused("end under another's lease", fault.Invalid, store.Lease{Episode: "ep-2", Epoch: lease.Epoch})
	_, err = w.act(1, "moved", store.MoveRegistry{Name: store.EndName(episode), To: w.source.Ref()})
	wantKind(t, "end by moving a head", err, fault.Invalid)

	ok(t, end(lease))
	to, err := w.Registry(w.ctx, store.EndName(episode))
	ok(t, err)
	equal(t, "head of the end", to, ending.Ref())
	wantKind(t, "mint after the end", mint(3, episode), fault.Conflict)
	_, err = w.Intend(w.ctx, w.intention("2", 10, lease))
	wantKind(t, "intent under the lease before the end", err, fault.LeaseLost)
	after := w.lease()
	if after.Epoch <= lease.Epoch {
		t.Fatalf("epoch %d after %d", after.Epoch, lease.Epoch)
	}
	refused("second end", fault.Conflict, after)

	ok(t, mint(4, "ep-2")) // another episode goes on
	ok(t, w.Close())
	w = resumed(t, open)
	wantKind(t, "mint after reopening", mint(3, episode), fault.Conflict)
}

// endsWithUnknown shows that what is indeterminate does not keep an episode open.
func endsWithUnknown(t *testing.T, open Opener) {
	w := opened(t, open)
	_, _ = w.intend("1")
	ok(t, w.GiveUp(w.ctx, w.lease()))
	ending := text("world/episode-end/v1", "ended")
	_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{ending}, Draft: w.draft(ending, ending), At: 40,
		Changes: []store.Change{store.EndEpisode{Episode: episode, Ending: ending.Ref(), Next: 1, Lease: w.lease()}}})
	ok(t, err)
	lost, err := w.Indeterminate(w.ctx, 500)
	ok(t, err)
	equal(t, "indeterminate intents", len(lost), 1)
}
