package sqlite

import (
	"fmt"
	"testing"

	"world/fault"
	"world/store"
)

// TestKnown: what a transaction stored is known within it, and later only when it
// committed; however much is stored, little is remembered.
func TestKnown(t *testing.T) {
	object := func(label, body string) store.Object { return store.NewObject(label, "test", []byte(body)) }
	a, b, other := object("one", "a"), object("one", "b"), object("another", "a")
	var k known
	expect := func(when string, hasA, hasB, hasOther bool, ask int) {
		t.Helper()
		if k.has(a) != hasA || k.has(b) != hasB || k.has(other) != hasOther {
			t.Errorf("%s: %v %v %v", when, k.has(a), k.has(b), k.has(other))
		}
		if got := k.unknown([]store.Ref{a.Ref(), b.Ref()}); len(got) != ask {
			t.Errorf("%s: the database is asked for %v", when, got)
		}
	}
	expect("at first", false, false, false, 2)
	k.stored(a)
	expect("stored", true, false, false, 1)
	k.rollback()
	expect("rolled back", false, false, false, 2)
	k.stored(a)
	k.found([]store.Ref{b.Ref()})
	expect("found", true, false, false, 0) // its label is not known
	k.commit()
	expect("committed", true, false, false, 0)
	k.rollback()
	expect("another rolled back", true, false, false, 0)
	for i := range 3 * knownRefs {
		k.stored(object("one", fmt.Sprint(i)))
		k.commit()
		if i%knownRefs == 0 {
			k.has(b) // what is asked for is not forgotten
		}
		if n := len(k.young) + len(k.old); n > 2*knownRefs {
			t.Fatalf("%d objects are remembered", n)
		}
	}
	expect("after many", false, false, false, 1)
}

// TestRolledBackObject: a change that failed after it stored an object leaves the
// next one to be asked whether it is there.
func TestRolledBackObject(t *testing.T) {
	s := openInternal(t)
	o, named := store.NewObject("test", "test", []byte("object")), store.NewObject("test", "test", []byte("named"))
	draft := store.Draft{TransitionFn: o.Ref(), Interpreter: o.Ref(), WrittenBy: "test", Transition: o.Ref(), StateRoot: named.Ref()}
	if _, err := s.Begin(t.Context(), store.Act{Objects: []store.Object{o}, Draft: draft}); err != nil {
		t.Fatal(err)
	}
	failing := store.Act{Objects: []store.Object{named}, Draft: draft,
		Changes: []store.Change{store.MoveRegistry{Name: "r", From: o.Ref(), To: o.Ref()}}}
	if _, err := s.Act(t.Context(), failing); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a move from where the registry is not: %v", err)
	}
	for range 2 {
		if _, err := s.Act(t.Context(), store.Act{Draft: draft}); !fault.Is(err, fault.Invalid) {
			t.Fatalf("an act that names what was rolled back: %v", err)
		}
	}
	if err := s.Keep(t.Context(), []store.Object{named}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Act(t.Context(), store.Act{Draft: draft}); err != nil {
			t.Fatal(err)
		}
	}
}
