package store_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"world/store"
)

const (
	goldenFirstHash   store.Ref = "sha256:719da827900eb349d1b7232a471ddefa208ec372dd128d4c6e3d4c4f4a6fe304"
	goldenFirstWorld  store.Ref = "sha256:f82fb415bf1b2a075fc8021ff8fe24f0a205e9d095e892f88f34b0df732b7380"
	goldenSecondHash  store.Ref = "sha256:7a5f874cfba7def77d66c496de137d55a77880f5aae8fc2a3d05d96105a22192"
	goldenSecondWorld store.Ref = "sha256:3d948cb82bb5f87dde7fcc0a4a85c9633108127c4b27b65a1b706f3be59a3739"
)

// TestGoldenChain pins the byte form of headers: these values were computed from
// the reference's rules (frozen field order, no white space, HTML escapes) with
// another program, and never change.
func TestGoldenChain(t *testing.T) {
	fn, interpreter := store.RefOf([]byte("fn")), store.RefOf([]byte("interpreter"))
	about, state := store.RefOf([]byte("about")), store.RefOf([]byte("state"))
	first := store.Chain(store.Void, store.Draft{SemanticsEpoch: 1, TransitionFn: fn, Interpreter: interpreter,
		WrittenBy: "host:genesis", Transition: about, StateRoot: state}, "")
	second := store.Chain(first.Head(), store.Draft{SemanticsEpoch: 1, TransitionFn: fn, Interpreter: interpreter,
		WrittenBy: "coordinator:<a&b>", Transition: about, StateRoot: state}, "mcp:ep:1")
	for what, c := range map[string]struct{ got, want store.Ref }{
		"first hash":   {first.Hash, goldenFirstHash},
		"first world":  {first.World, goldenFirstWorld},
		"second hash":  {second.Hash, goldenSecondHash},
		"second world": {second.World, goldenSecondWorld},
		"prev":         {second.Prev, first.Hash},
		"void":         {first.Prev, store.RefOf(nil)},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", what, c.got, c.want)
		}
	}
	if first.Index != 0 || second.Index != 1 || second.Invocation != "mcp:ep:1" {
		t.Errorf("entries %v, %v", first, second)
	}
	// The same bytes written out by hand.
	raw := fmt.Sprintf(`{"entryIndex":0,"semanticsEpoch":1,"transitionFn":"%s","interpreter":"%s","prevEntryHash":"%s","writtenBy":"host:genesis","transitionRef":"%s"}`,
		fn, interpreter, store.RefOf(nil), about)
	if got := store.RefFromSum(sha256.Sum256([]byte(raw))); got != first.Hash {
		t.Errorf("header by hand hashes to %s, the entry says %s", got, first.Hash)
	}
}

// TestHashCoversHeader changes every field of an entry: those of the header and
// the transition ref change the hash, and the state root changes the world.
func TestHashCoversHeader(t *testing.T) {
	other := store.RefOf([]byte("other"))
	base := store.Chain(store.Void, store.Draft{SemanticsEpoch: 1, TransitionFn: store.RefOf([]byte("fn")),
		Interpreter: store.RefOf([]byte("i")), WrittenBy: "w", Transition: store.RefOf([]byte("t")), StateRoot: store.RefOf([]byte("s"))}, "")
	for name, change := range map[string]func(e *store.Entry){
		"index":        func(e *store.Entry) { e.Index++ },
		"epoch":        func(e *store.Entry) { e.SemanticsEpoch++ },
		"transitionFn": func(e *store.Entry) { e.TransitionFn = other },
		"interpreter":  func(e *store.Entry) { e.Interpreter = other },
		"prev":         func(e *store.Entry) { e.Prev = other },
		"writtenBy":    func(e *store.Entry) { e.WrittenBy = "x" },
		"transition":   func(e *store.Entry) { e.Transition = other },
	} {
		e := base
		change(&e)
		if e.ComputeHash() == base.Hash {
			t.Errorf("the hash does not cover %s", name)
		}
	}
	e := base
	e.StateRoot, e.Invocation = other, "mcp:ep:1"
	if e.ComputeHash() != base.Hash {
		t.Error("the hash covers what is not of the header")
	}
	if store.WorldRef(0, other, base.Hash) == base.World || store.WorldRef(1, base.StateRoot, base.Hash) == base.World ||
		store.WorldRef(0, base.StateRoot, other) == base.World {
		t.Error("the world ref does not cover its three parts")
	}
}

// TestHashIsOfJSON holds the header that is hashed to what encoding/json writes of
// it, whoever wrote the entry.
func TestHashIsOfJSON(t *testing.T) {
	ref := func(v any) store.Ref {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return store.RefOf(b)
	}
	for _, by := range []string{"", "coordinator:mcp", `a "quoted" \ name`, "<html>&", "tab\tnewline\n\x00\x7f", "ä\u2028😀", "bad \xff utf-8"} {
		e := store.Entry{Index: -7, SemanticsEpoch: 1 << 62, TransitionFn: store.RefOf([]byte("fn")), WrittenBy: by, Transition: "odd<ref"}
		want := ref(struct {
			EntryIndex     int64     `json:"entryIndex"`
			SemanticsEpoch int64     `json:"semanticsEpoch"`
			TransitionFn   store.Ref `json:"transitionFn"`
			Interpreter    store.Ref `json:"interpreter"`
			PrevEntryHash  store.Ref `json:"prevEntryHash"`
			WrittenBy      string    `json:"writtenBy"`
			TransitionRef  store.Ref `json:"transitionRef"`
		}{e.Index, e.SemanticsEpoch, e.TransitionFn, e.Interpreter, e.Prev, by, e.Transition})
		if got := e.ComputeHash(); got != want {
			t.Errorf("written by %q: header hashes to %s, its JSON to %s", by, got, want)
		}
	}
	want := ref(struct {
		Revision  int64     `json:"revision"`
		StateRoot store.Ref `json:"stateRoot"`
		LogHead   store.Ref `json:"logHead"`
	}{9, "odd&root", ""})
	if got := store.WorldRef(9, "odd&root", ""); got != want {
		t.Errorf("world hashes to %s, its JSON to %s", got, want)
	}
}
