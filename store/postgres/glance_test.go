package postgres_test

import (
	"context"
	"testing"
	"time"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

// TestGlance: a reader that takes an old answer is spared asking, but hears at once
// of what its own process did, and one that does not hears of everything.
func TestGlance(t *testing.T) {
	fresh := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, fresh, postgres.Options{}))
	other := see(t, open(t, fresh, postgres.Options{}))
	move := func(by *world, name string, at int64) store.Ref {
		t.Helper()
		o := store.NewObject("r", "test", []byte(name+" at "+time.Unix(at, 0).UTC().String()))
		before, err := by.Look(by.ctx, store.Lookup{Registries: []string{name}})
		ok(t, err)
		_, err = by.Act(by.ctx, store.Act{Objects: []store.Object{o}, Draft: by.draft(o), At: at,
			Changes: []store.Change{store.MoveRegistry{Name: name, From: before.Registries[0], To: o.Ref()}}})
		ok(t, err)
		return o.Ref()
	}
	sees := func(what string, within time.Duration, names []string, want ...store.Ref) store.Looked {
		t.Helper()
		found, err := w.Look(w.ctx, store.Lookup{Registries: names, Within: within})
		ok(t, err)
		for i := range want {
			equal(t, what, found.Registries[i], want[i])
		}
		found.Registries[0] = "" // what a reader holds is its own
		return found
	}
	a, b := []string{"a"}, []string{"a", "b"}
	a1 := move(w, "a", 1001)
	first := sees("the first answer", time.Hour, a, a1)

	a2 := move(other, "a", 1002)
	kept := sees("an answer that may be old", time.Hour, a, a1)
	equal(t, "the time of the answer", kept.Taken, first.Taken)
	sees("another question", time.Hour, b, a2, "")
	sees("an answer that may be a nanosecond old", 1, a, a2)
	if now := sees("an answer of the present", 0, a, a2); !now.Taken.After(first.Taken) || now.At != 1002 {
		t.Errorf("taken %v, at %d", now.Taken, now.At)
	}

	b1 := move(w, "b", 1003)
	sees("what this process did", time.Hour, b, a2, b1)
	call := w.pure("1")
	call.At = 1005
	_, err := w.Commit(w.ctx, call)
	ok(t, err)
	equal(t, "time of an old answer", sees("an answer before a call", time.Hour, b, a2, b1).At, 1005)

	ended, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err = w.Look(ended, store.Lookup{Registries: b, Within: time.Hour})
	wantKind(t, "a look that ended", err, fault.Timeout)
	w.Close()
	_, err = w.Look(w.ctx, store.Lookup{Registries: b, Within: time.Hour})
	wantKind(t, "a look after the end", err, fault.Unavailable)
}
