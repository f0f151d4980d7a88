package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"world/fault"
	"world/store"
)

func genesis(t *testing.T, open Opener) {
	w := resumed(t, open)
	o := text("world/genesis/v1", "genesis")
	d := w.draft(o, o)
	d.StateRoot = store.RefOf([]byte("a state that is no object")) // genesis alone may
	act := store.Act{Objects: []store.Object{o}, Draft: d, At: 7,
		Changes: []store.Change{store.MoveRegistry{Name: "world/transitions", To: o.Ref()}}}
	got, err := w.Begin(w.ctx, act)
	ok(t, err)
	equal(t, "genesis", got, store.Chain(store.Void, d, ""))
	equal(t, "index", got.Index, 0)
	before := w.state()
	_, err = w.Begin(w.ctx, act)
	wantKind(t, "second genesis", err, fault.Conflict)
	other := text("world/genesis/v1", "another genesis")
	_, err = w.Begin(w.ctx, store.Act{Objects: []store.Object{other}, Draft: w.draft(other, other)})
	wantKind(t, "another genesis", err, fault.Conflict)
	_, err = w.Object(w.ctx, other.Ref())
	wantKind(t, "object of a refused genesis", err, fault.NotFound)
	equal(t, "state", w.state(), before)

	head, err := w.Head(w.ctx)
	ok(t, err)
	equal(t, "head", head, got.Head())
	entry, err := w.Entry(w.ctx, 0)
	ok(t, err)
	equal(t, "entry", entry, got)
	to, err := w.Registry(w.ctx, "world/transitions")
	ok(t, err)
	equal(t, "registry", to, o.Ref())
	at, err := w.LastTime(w.ctx)
	ok(t, err)
	equal(t, "last time", at, 7)
}

func actsChain(t *testing.T, open Opener) {
	w := opened(t, open)
	var want []store.Entry
	head, err := w.Head(w.ctx)
	ok(t, err)
	for i := range 5 {
		about := text("world/host-act/v1", fmt.Sprint("act ", i))
		d := w.draft(about, w.session)
		d.WrittenBy, d.SemanticsEpoch = fmt.Sprint("host:", i), int64(i)
		got, err := w.Act(w.ctx, store.Act{Objects: []store.Object{about}, Draft: d, At: int64(i)})
		ok(t, err)
		equal(t, "entry", got, store.Chain(head, d, ""))
		head = got.Head()
		want = append(want, got)
	}
	got, err := w.Entries(w.ctx, 1, 500)
	ok(t, err)
	if !slices.Equal(got, want) {
		t.Fatalf("log: got %v, want %v", got, want)
	}
	selected, err := w.Head(w.ctx)
	ok(t, err)
	equal(t, "head", selected, head)

	// The first of two entries about one thing is the one that is found.
	again := w.draft(text("world/host-act/v1", "act 2"), w.session)
	_, err = w.Act(w.ctx, store.Act{Draft: again})
	ok(t, err)
	about, err := w.EntryAbout(w.ctx, again.Transition)
	ok(t, err)
	equal(t, "entry about", about, want[2])
	_, err = w.EntryAbout(w.ctx, store.RefOf([]byte("nothing")))
	wantKind(t, "entry about nothing", err, fault.NotFound)
}

func actNamesObjects(t *testing.T, open Opener) {
	w := opened(t, open)
	nowhere, new := text("x", "nowhere"), text("x", "new")
	good := w.draft(new, new)
	before := w.state()
	for name, spoil := range map[string]func(d *store.Draft, r store.Ref){
		"transitionFn": func(d *store.Draft, r store.Ref) { d.TransitionFn = r },
		"interpreter":  func(d *store.Draft, r store.Ref) { d.Interpreter = r },
		"transition":   func(d *store.Draft, r store.Ref) { d.Transition = r },
		"stateRoot":    func(d *store.Draft, r store.Ref) { d.StateRoot = r },
	} {
		for _, bad := range []store.Ref{nowhere.Ref(), "", "sha256:short"} {
			d := good
			spoil(&d, bad)
			_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{new}, Draft: d})
			wantKind(t, name, err, fault.Invalid)
			f := w.pure("spoilt")
			f.Objects = append(f.Objects, new)
			f.Draft = d
			_, err = w.Commit(w.ctx, f)
			wantKind(t, "call: "+name, err, fault.Invalid)
		}
	}
	d := good
	d.WrittenBy = ""
	_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{new}, Draft: d})
	wantKind(t, "nobody wrote it", err, fault.Invalid)
	_, err = w.Act(w.ctx, store.Act{Objects: []store.Object{new}, Draft: good, At: -1})
	wantKind(t, "negative time", err, fault.Invalid)
	_, err = w.Object(w.ctx, new.Ref())
	wantKind(t, "object of refused acts", err, fault.NotFound)
	equal(t, "state", w.state(), before)

	_, err = w.Act(w.ctx, store.Act{Objects: []store.Object{new}, Draft: good})
	ok(t, err)
}

func credential(n int) store.CredentialID {
	return store.CredentialID(fmt.Sprintf("%064x", n))
}

func sessions(t *testing.T, open Opener) {
	w := opened(t, open)
	mint := func(n int, o store.Object) store.Session {
		return store.Session{Credential: credential(n), Object: o.Ref(), Episode: episode, CreatedAt: 10, ExpiresAt: 20}
	}
	var minted []store.Session
	for _, n := range []int{9, 3, 7} { // mint order, not key order
		o := text("world/session/v1", fmt.Sprint("session ", n))
		s := mint(n, o)
		_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), Changes: []store.Change{store.MintSession{Session: s}}})
		ok(t, err)
		minted = append(minted, s)
	}
	got, err := w.Sessions(w.ctx, "", 500)
	ok(t, err)
	if !slices.Equal(got, minted) {
		t.Fatalf("sessions: got %v, want %v", got, minted)
	}
	got, err = w.Sessions(w.ctx, minted[0].Credential, 1)
	ok(t, err)
	if !slices.Equal(got, minted[1:2]) {
		t.Fatalf("sessions after the first: got %v, want %v", got, minted[1:2])
	}

	before := w.state()
	refused := func(what string, kind fault.Kind, objects []store.Object, ch store.Change) {
		t.Helper()
		o := text("world/host-act/v1", "about "+what)
		_, err := w.Act(w.ctx, store.Act{Objects: append(objects, o), Draft: w.draft(o, o), Changes: []store.Change{ch}})
		wantKind(t, what, err, kind)
		_, err = w.Object(w.ctx, o.Ref())
		wantKind(t, "object of "+what, err, fault.NotFound)
	}
	o := text("world/session/v1", "one more")
	refused("session twice", fault.Conflict, []store.Object{o}, store.MintSession{Session: mint(3, o)})
	refused("object not in the act", fault.Invalid, nil, store.MintSession{Session: mint(4, w.session)})
	malformed := mint(4, o)
	malformed.Credential = "secret"
	refused("malformed credential", fault.Invalid, []store.Object{o}, store.MintSession{Session: malformed})
	nameless := mint(4, o)
	nameless.Episode = "Not An Episode"
	refused("malformed episode", fault.Invalid, []store.Object{o}, store.MintSession{Session: nameless})
	dead := mint(4, o)
	dead.Revocation = w.source.Ref()
	refused("session minted dead", fault.Invalid, []store.Object{o}, store.MintSession{Session: dead})
	refused("unknown session", fault.NotFound, nil, store.RevokeSession{Credential: credential(4), Revocation: w.source.Ref()})
	refused("revocation that is no object", fault.Invalid, nil,
		store.RevokeSession{Credential: credential(3), Revocation: store.RefOf([]byte("nowhere"))})
	equal(t, "state", w.state(), before)

	revocation := text("world/session-revocation/v1", "revoked")
	_, err = w.Act(w.ctx, store.Act{Objects: []store.Object{revocation}, Draft: w.draft(revocation, revocation),
		Changes: []store.Change{store.RevokeSession{Credential: credential(3), Revocation: revocation.Ref()}}})
	ok(t, err)
	s, err := w.Session(w.ctx, credential(3))
	ok(t, err)
	want := minted[1]
	want.Revocation = revocation.Ref()
	equal(t, "revoked session", s, want)
	refused("session revoked twice", fault.Conflict, nil, store.RevokeSession{Credential: credential(3), Revocation: revocation.Ref()})
	s, err = w.Session(w.ctx, credential(9))
	ok(t, err)
	equal(t, "another session", s, minted[0])
}

func registry(t *testing.T, open Opener) {
	w := opened(t, open)
	const name = "world/transitions"
	one, two := text("r", "revision 1"), text("r", "revision 2")
	ok(t, w.Keep(w.ctx, []store.Object{one, two}))
	move := func(body, name string, from, to store.Ref) error {
		_, err := w.act(1, body, store.MoveRegistry{Name: name, From: from, To: to})
		return err
	}
	wantKind(t, "move from what is not there", move("a", name, one.Ref(), two.Ref()), fault.Conflict)
	wantKind(t, "move to no object", move("b", name, "", store.RefOf([]byte("nowhere"))), fault.Invalid)
	wantKind(t, "move of no name", move("c", "", "", one.Ref()), fault.Invalid)
	wantKind(t, "move of an endless name", move("c2", strings.Repeat("n", 129), "", one.Ref()), fault.Invalid)
	ok(t, move("d", name, "", one.Ref()))
	wantKind(t, "first move twice", move("e", name, "", two.Ref()), fault.Conflict)
	wantKind(t, "move from another", move("f", name, two.Ref(), two.Ref()), fault.Conflict)
	ok(t, move("g", name, one.Ref(), two.Ref()))
	ok(t, move("h", "another", "", one.Ref()))
	to, err := w.Registry(w.ctx, name)
	ok(t, err)
	equal(t, "registry", to, two.Ref())
	// A change that fails takes the whole act with it, earlier changes included.
	before := w.state()
	_, err = w.act(1, "i", store.MoveRegistry{Name: name, From: two.Ref(), To: one.Ref()},
		store.MoveRegistry{Name: "another", From: two.Ref(), To: one.Ref()})
	wantKind(t, "second change", err, fault.Conflict)
	to, err = w.Registry(w.ctx, name)
	ok(t, err)
	equal(t, "registry after a refused act", to, two.Ref())
	equal(t, "state", w.state(), before)
}
