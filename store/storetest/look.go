package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"world/fault"
	"world/store"
)

// looks: what is read together is what single reads say, and what is not there
// or not asked for is zero.
func looks(t *testing.T, open Opener) {
	w := opened(t, open)
	empty, err := w.Look(w.ctx, store.Lookup{})
	ok(t, err)
	equal(t, "rows nobody asked for", len(empty.Registries), 0)
	equal(t, "a session nobody asked for", empty.Session, store.Session{})
	everything := store.Lookup{Session: credential(1), Registries: []string{"a", "b", "a"}, Ledger: episode}
	none, err := w.Look(w.ctx, everything)
	ok(t, err)
	if want := (store.Looked{Registries: make([]store.Ref, 3), Ledger: store.Ledger{Episode: episode}, Taken: none.Taken}); !reflect.DeepEqual(none, want) {
		t.Fatalf("nothing is there: got %+v, want %+v", none, want)
	}

	in, intent := w.intend("1")
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	ok(t, err)
	o := text("world/session/v1", "minted")
	minted := store.Session{Credential: credential(1), Object: o.Ref(), Episode: episode, CreatedAt: 1, ExpiresAt: 2}
	_, err = w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), At: 177, Changes: []store.Change{
		store.MintSession{Session: minted}, store.MoveRegistry{Name: "b", To: o.Ref()}}})
	ok(t, err)
	w.checkLook(t, everything)
	found, err := w.Look(w.ctx, everything)
	ok(t, err)
	equal(t, "time", found.At, 177)
	equal(t, "session", found.Session, minted)
	if !slices.Equal(found.Registries, []store.Ref{"", o.Ref(), ""}) {
		t.Fatalf("registries %v", found.Registries)
	}
	equal(t, "next ordinal", found.Ledger.Next, 1)
	equal(t, "spent", found.Ledger.Of(effect, scope), 1)
	found, err = w.Look(w.ctx, store.Lookup{Session: credential(2), Ledger: "ep-2"})
	ok(t, err)
	equal(t, "another session", found.Session, store.Session{})
	equal(t, "another episode's ordinal", found.Ledger.Next, 0)

	// A row is as it is now, not as it was read before.
	_, err = w.act(199, "later", store.RevokeSession{Credential: credential(1), Revocation: w.source.Ref()},
		store.MoveRegistry{Name: "a", To: w.source.Ref()})
	ok(t, err)
	w.intend("2")
	w.checkLook(t, everything)
	found, err = w.Look(w.ctx, everything)
	ok(t, err)
	equal(t, "later time", found.At, 199)
	equal(t, "revocation", found.Session.Revocation, w.source.Ref())
	equal(t, "later ordinal", found.Ledger.Next, 2)

	ended, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err = w.Look(ended, everything)
	wantKind(t, "a look that ended", err, fault.Timeout)
	w.Close()
	_, err = w.Look(w.ctx, everything)
	wantKind(t, "a look after the end", err, fault.Unavailable)
}

// checkLook holds what is read together to single reads.
func (w *world) checkLook(t testing.TB, what store.Lookup) {
	t.Helper()
	got, err := w.Look(w.ctx, what)
	ok(t, err)
	want, err := store.Ask(w.ctx, w.Store, what)
	ok(t, err)
	if !want.Taken.After(got.Taken) {
		t.Fatalf("taken at %v, and what was asked later at %v", got.Taken, want.Taken)
	}
	want.Taken = got.Taken
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read together %+v, one by one %+v", got, want)
	}
}

// looksTogether: readers that ask at once get each its own answer, while one that
// gave up and one that finds nothing are among them.
func looksTogether(t *testing.T, open Opener) {
	w := opened(t, open)
	const readers, rounds = 12, 20
	refs := make([]store.Ref, readers)
	for i := range readers {
		o := text("r", fmt.Sprint("revision of ", i))
		refs[i] = o.Ref()
		ok(t, w.Keep(w.ctx, []store.Object{o}))
		_, err := w.act(1, fmt.Sprint(i), store.MoveRegistry{Name: fmt.Sprint(i), To: o.Ref()})
		ok(t, err)
	}
	ended, cancel := context.WithCancel(w.ctx)
	cancel()
	for i, err := range crowd(readers, func(i int) error {
		for range rounds {
			if _, err := w.Look(ended, store.Lookup{}); !fault.Is(err, fault.Timeout) {
				return fmt.Errorf("a look that ended: %w", err)
			}
			if _, err := w.Claim(w.ctx, "mcp:ep-1:nowhere"); !fault.Is(err, fault.NotFound) {
				return fmt.Errorf("a claim that is nowhere: %w", err)
			}
			found, err := w.Look(w.ctx, store.Lookup{Registries: []string{fmt.Sprint(i), "nowhere"}})
			if err != nil {
				return err
			}
			if !slices.Equal(found.Registries, []store.Ref{refs[i], ""}) {
				return fmt.Errorf("got %v, want %s", found.Registries, refs[i])
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("reader %d: %v", i, err)
		}
	}
}
