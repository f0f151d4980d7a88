package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"world/fault"
	"world/store"
)

func emptyStore(t *testing.T, open Opener) {
	w := resumed(t, open)
	_, err := w.Head(w.ctx)
	wantKind(t, "head", err, fault.NotFound)
	_, err = w.Entry(w.ctx, 0)
	wantKind(t, "entry", err, fault.NotFound)
	_, err = w.EntryOf(w.ctx, "mcp:ep-1:1")
	wantKind(t, "entry of", err, fault.NotFound)
	_, err = w.EntryOf(w.ctx, "")
	wantKind(t, "entry of no call", err, fault.NotFound)
	_, err = w.EntryAbout(w.ctx, w.source.Ref())
	wantKind(t, "entry about", err, fault.NotFound)
	_, err = w.Claim(w.ctx, "mcp:ep-1:1")
	wantKind(t, "claim", err, fault.NotFound)
	_, err = w.Intent(w.ctx, episode, 0)
	wantKind(t, "intent", err, fault.NotFound)
	_, err = w.IntentOf(w.ctx, "mcp:ep-1:1")
	wantKind(t, "intent of", err, fault.NotFound)
	_, err = w.Session(w.ctx, credential(1))
	wantKind(t, "session", err, fault.NotFound)
	_, err = w.Sessions(w.ctx, credential(1), 10)
	wantKind(t, "sessions after an unknown one", err, fault.NotFound)
	_, err = w.Registry(w.ctx, "world/transitions")
	wantKind(t, "registry", err, fault.NotFound)
	_, err = w.Object(w.ctx, w.source.Ref())
	wantKind(t, "object", err, fault.NotFound)
	_, err = w.Labels(w.ctx, w.source.Ref())
	wantKind(t, "labels", err, fault.NotFound)
	_, err = w.Act(w.ctx, store.Act{Objects: []store.Object{w.source, w.interpreter}, Draft: w.draft(w.source, w.source)})
	wantKind(t, "act before genesis", err, fault.NotFound)
	f := w.pure("1")
	f.Objects = append(f.Objects, w.source, w.interpreter, w.session)
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "commit before genesis", err, fault.NotFound)
	_, err = w.Claim(w.ctx, f.Claim.Invocation)
	wantKind(t, "claim before genesis", err, fault.NotFound)

	ledger, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	equal(t, "ledger", fmt.Sprint(ledger), fmt.Sprint(store.Ledger{Episode: episode}))
	at, err := w.LastTime(w.ctx)
	ok(t, err)
	equal(t, "last time", at, 0)
	entries, err := w.Entries(w.ctx, 0, 500)
	ok(t, err)
	equal(t, "entries", len(entries), 0)
}

func objects(t *testing.T, open Opener) {
	w := resumed(t, open)
	bodies := [][]byte{{}, {0}, []byte("plain"), []byte("\xff\xfe not text \x00"), bytes.Repeat([]byte("0123456789abcdef"), 1<<16)}
	for i := range 40 { // more than an engine would put into one statement
		bodies = append(bodies, fmt.Appendf(nil, "number %d", i))
	}
	var all []store.Object
	for _, b := range bodies {
		all = append(all, store.NewObject("world/test/v1", by, b))
	}
	ok(t, w.Keep(w.ctx, all))
	ok(t, w.Keep(w.ctx, all)) // again changes nothing
	ok(t, w.Keep(w.ctx, nil))
	for i, b := range bodies {
		got, err := w.Object(w.ctx, all[i].Ref())
		ok(t, err)
		if !bytes.Equal(got.Bytes(), b) || got.Ref() != store.RefOf(b) || got.Label() != all[i].Label() {
			t.Fatalf("object %d came back as %d bytes %q labelled %v", i, len(got.Bytes()), got.Ref(), got.Label())
		}
	}
	_, err := w.Object(w.ctx, store.RefOf([]byte("never stored")))
	wantKind(t, "unknown object", err, fault.NotFound)
	for _, bad := range []store.Ref{"", "sha256:", "sha256:AB", store.Ref(string(all[0].Ref())[:70])} {
		_, err := w.Object(w.ctx, bad)
		wantKind(t, fmt.Sprintf("object %q", bad), err, fault.Invalid)
		_, err = w.Labels(w.ctx, bad)
		wantKind(t, fmt.Sprintf("labels of %q", bad), err, fault.Invalid)
	}
}

func labels(t *testing.T, open Opener) {
	w := resumed(t, open)
	body := []byte("{}")
	label := func(semantic, provenance string) store.Object { return store.NewObject(semantic, provenance, body) }
	input, output, again := label("z/input", "a"), label("b/output", "z"), label("z/input", "b")
	// Equal bytes play two parts in one change, and more later.
	ok(t, w.Keep(w.ctx, []store.Object{text("other", "other"), input, output, input}))
	ok(t, w.Keep(w.ctx, []store.Object{again, input, output}))
	ok(t, w.Keep(w.ctx, []store.Object{again}))

	got, err := w.Labels(w.ctx, input.Ref())
	ok(t, err)
	if len(got) != 3 || got[0] != input.Label() || !slices.Contains(got, output.Label()) || !slices.Contains(got, again.Label()) {
		t.Fatalf("labels: got %v, want %v first, then %v and %v", got, input.Label(), output.Label(), again.Label())
	}
	o, err := w.Object(w.ctx, input.Ref())
	ok(t, err)
	equal(t, "label of the object", o.Label(), input.Label())
}

func limits(t *testing.T, open Opener) {
	w := opened(t, open)
	big := make([]byte, store.MaxObject+1)
	over, largest := store.NewObject("big", by, big), store.NewObject("big", by, big[:store.MaxObject])
	small := text("small", "small")
	before := w.state()
	wantKind(t, "keep", w.Keep(w.ctx, []store.Object{small, over}), fault.Limit)
	wantKind(t, "keep of a zero object", w.Keep(w.ctx, []store.Object{small, {}}), fault.Invalid)
	_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{small, over}, Draft: w.draft(small, small)})
	wantKind(t, "act", err, fault.Limit)
	in := w.intention("big", 5, w.lease())
	in.Objects = append(in.Objects, over)
	_, err = w.Intend(w.ctx, in)
	wantKind(t, "intend", err, fault.Limit)
	f := w.pure("big")
	f.Objects = append(f.Objects, over)
	_, err = w.Commit(w.ctx, f)
	wantKind(t, "commit", err, fault.Limit)
	_, err = w.Object(w.ctx, small.Ref())
	wantKind(t, "object beside an oversized one", err, fault.NotFound)
	equal(t, "state", w.state(), before)

	ok(t, w.Keep(w.ctx, []store.Object{largest}))
	got, err := w.Object(w.ctx, largest.Ref())
	ok(t, err)
	equal(t, "largest object", len(got.Bytes()), store.MaxObject)

	for _, limit := range []int{-1, 0, 501} {
		_, err := w.Entries(w.ctx, 0, limit)
		wantKind(t, "entries", err, fault.Invalid)
		_, err = w.Intents(w.ctx, episode, 0, limit)
		wantKind(t, "intents", err, fault.Invalid)
		_, err = w.Indeterminate(w.ctx, limit)
		wantKind(t, "indeterminate", err, fault.Invalid)
		_, err = w.Sessions(w.ctx, "", limit)
		wantKind(t, "sessions", err, fault.Invalid)
	}
}
