package record_test

import (
	"bytes"
	"strings"
	"testing"

	"world/store"
	"world/store/record"
)

// sampleCommit is a commit after entry 6.
func sampleCommit() record.CommitRecord {
	r := record.CommitRecord{
		Episode: "ep", Observed: ref("1"), EntryIndex: 7, SemanticsEpoch: 2, TransitionFn: ref("2"), Interpreter: ref("3"),
		PrevEntryHash: ref("4"), WrittenBy: "rest:ep", TransitionRef: ref("5"), StateRoot: ref("6"),
		Objects: []record.CommitObject{{Hash: ref("5"), SemanticID: "notes/note/v1"}, {Hash: ref("5"), SemanticID: "notes/<other>/v1"}},
	}
	rehash(&r)
	return r
}

func rehash(r *record.CommitRecord) {
	r.EntryHash = r.Entry("").ComputeHash()
	r.World = store.WorldRef(r.EntryIndex, r.StateRoot, r.EntryHash)
}

func TestCommitForm(t *testing.T) {
	const zero = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	r := record.CommitRecord{Episode: "e", TransitionFn: zero, Interpreter: zero, PrevEntryHash: zero, WrittenBy: "rest:e",
		TransitionRef: zero, StateRoot: zero, Objects: []record.CommitObject{{Hash: zero, SemanticID: "a/b"}}}
	rehash(&r)
	want := `{"episodeId":"e","observedHead":"","objects":[{"hash":"` + zero + `","semanticId":"a/b"}],"entryIndex":0,"semanticsEpoch":0,` +
		`"transitionFn":"` + zero + `","interpreter":"` + zero + `","prevEntryHash":"` + zero + `","writtenBy":"rest:e","transitionRef":"` + zero +
		`","entryHash":"` + string(r.EntryHash) + `","stateRoot":"` + zero + `","world":"` + string(r.World) + `"}`
	if got := string(r.Bytes()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	back, err := record.DecodeCommit(r.Bytes())
	if err != nil || !bytes.Equal(back.Bytes(), r.Bytes()) {
		t.Errorf("%+v, %v", back, err)
	}
	r.Objects = nil
	if back, err := record.DecodeCommit(r.Bytes()); err != nil || back.Objects == nil {
		t.Errorf("without objects: %+v, %v", back, err)
	}
	if _, err := record.DecodeCommit(bytes.Replace(r.Bytes(), []byte(`"objects":[]`), []byte(`"objects":null`), 1)); err == nil {
		t.Error("null objects were read")
	}
}

// TestCommitEntry holds the entry to what the store's chain makes of the draft.
func TestCommitEntry(t *testing.T) {
	r := sampleCommit()
	head := store.Head{Index: 6, World: r.Observed, Entry: r.PrevEntryHash}
	if got, want := r.Entry("rest:x"), store.Chain(head, r.Draft(), "rest:x"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !record.IsCommit(r.Entry("rest:x")) || record.IsCommit(store.Entry{WrittenBy: "coordinator:rest"}) || record.IsCommit(store.Entry{}) {
		t.Error("IsCommit does not tell commits apart")
	}
	if got, want := string(r.Payload()), `{"commit":"`+string(store.RefOf(r.Bytes()))+`"}`; got != want {
		t.Errorf("payload %s, want %s", got, want)
	}
	if got, want := string(record.CommitResult(r.Entry(""))), `{"entryIndex":7,"selectedHead":"`+string(r.World)+`"}`; got != want {
		t.Errorf("result %s, want %s", got, want)
	}
}

func TestCommitConsistency(t *testing.T) {
	edits := map[string]func(*record.CommitRecord){
		"episode":         func(r *record.CommitRecord) { r.Episode, r.WrittenBy = "Ep", "rest:Ep"; rehash(r) },
		"author":          func(r *record.CommitRecord) { r.WrittenBy = "rest:other"; rehash(r) },
		"host's author":   func(r *record.CommitRecord) { r.WrittenBy = "host:session-mint"; rehash(r) },
		"observed":        func(r *record.CommitRecord) { r.Observed = "head" },
		"negative index":  func(r *record.CommitRecord) { r.EntryIndex = -1; rehash(r) },
		"negative epoch":  func(r *record.CommitRecord) { r.SemanticsEpoch = -1; rehash(r) },
		"other index":     func(r *record.CommitRecord) { r.EntryIndex++ },
		"other prev":      func(r *record.CommitRecord) { r.PrevEntryHash = ref("9") },
		"other entry":     func(r *record.CommitRecord) { r.EntryHash = ref("9") },
		"other state":     func(r *record.CommitRecord) { r.StateRoot = ref("9") },
		"other world":     func(r *record.CommitRecord) { r.World = ref("9") },
		"no world":        func(r *record.CommitRecord) { r.World = "" },
		"no prev":         func(r *record.CommitRecord) { r.PrevEntryHash = ""; rehash(r) },
		"upper case":      func(r *record.CommitRecord) { r.TransitionFn = store.Ref(strings.ToUpper(string(ref("2")))); rehash(r) },
		"object ref":      func(r *record.CommitRecord) { r.Objects = []record.CommitObject{{Hash: "x", SemanticID: "a"}} },
		"no semantic id":  func(r *record.CommitRecord) { r.Objects = []record.CommitObject{{Hash: ref("5")}} },
		"long id":         func(r *record.CommitRecord) { r.Objects[0].SemanticID = strings.Repeat("x", 257) },
		"host's id":       func(r *record.CommitRecord) { r.Objects[0].SemanticID = "world/session/v1" },
		"line end in id":  func(r *record.CommitRecord) { r.Objects[0].SemanticID = "a\n" },
		"direction in id": func(r *record.CommitRecord) { r.Objects[0].SemanticID = "a\u202eb" },
		"twice":           func(r *record.CommitRecord) { r.Objects[1] = r.Objects[0] },
		"too many":        func(r *record.CommitRecord) { r.Objects = make([]record.CommitObject, record.MaxCommitObjects+1) },
	}
	for name, edit := range edits { // each on objects of its own
		refuse(t, record.DecodeCommit, sampleCommit(), map[string]func(*record.CommitRecord){name: edit})
	}
	longest := sampleCommit()
	longest.Objects = nil
	for i := range record.MaxCommitObjects {
		longest.Objects = append(longest.Objects, record.CommitObject{Hash: store.RefOf([]byte{byte(i), byte(i >> 8)}), SemanticID: strings.Repeat("<", 256)})
	}
	if _, err := record.DecodeCommit(longest.Bytes()); err != nil {
		t.Errorf("the longest commit of %d bytes: %v", len(longest.Bytes()), err)
	}
}
