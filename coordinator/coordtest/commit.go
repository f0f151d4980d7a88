package coordtest

import (
	"world/coordinator"
	"world/session"
	"world/store"
	"world/store/record"
)

// NextCommit is a commit, of a text and a source, that follows the selected head.
func (w *World) NextCommit(live session.Live, task, text string) coordinator.ClientCommit {
	w.T.Helper()
	head, err := w.Store.Head(w.T.Context())
	if err != nil {
		w.T.Fatalf("head: %v", err)
	}
	return CommitOnto(head, live.Record.Episode, store.RefOf(Interpreter), task, text)
}

// CommitOnto is a commit that follows a head: a note, which is state and
// transition ref at once, and the source that it says it comes from.
func CommitOnto(head store.Head, episode store.EpisodeID, interpreter store.Ref, task, text string) coordinator.ClientCommit {
	by := record.CommitAuthor(episode)
	note := store.NewObject("notes/note/v1", by, []byte(text))
	source := store.NewObject("notes/source/v1", by, []byte("a program of somebody's own"))
	m := coordinator.ClientCommit{Task: task, Objects: []store.Object{note, source}}
	m.Record = record.CommitRecord{
		Episode: episode, Observed: head.World, TransitionFn: source.Ref(), Interpreter: interpreter, WrittenBy: by,
		TransitionRef: note.Ref(), StateRoot: note.Ref(), EntryIndex: head.Index + 1, PrevEntryHash: head.Entry,
		Objects: []record.CommitObject{{Hash: note.Ref(), SemanticID: "notes/note/v1"}, {Hash: source.Ref(), SemanticID: "notes/source/v1"}},
	}
	Rehash(&m.Record)
	return m
}

// Rehash computes the hashes of a record that was changed.
func Rehash(r *record.CommitRecord) {
	r.EntryHash = r.Entry("").ComputeHash()
	r.World = store.WorldRef(r.EntryIndex, r.StateRoot, r.EntryHash)
}
