package rest

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"world/canon"
	"world/coordinator"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

// receiptPrefix begins the one namespace of ids that this surface knows.
const receiptPrefix = string(store.SurfaceREST) + ":"

// readCommit reads the body of a commit: exactly the members it has, and each
// redundant one held to what it repeats. Errors are kind Invalid and name the member.
func readCommit(body canon.Value, episode store.EpisodeID) (coordinator.ClientCommit, error) {
	var m coordinator.ClientCommit
	var wrong error
	top := fieldsOf(&wrong, "", body, "observedHead", "objects", "nextWorld", "entry", "invocationId?")
	next := fieldsOf(&wrong, "nextWorld", top.get("nextWorld"), "ref", "revision", "stateRoot", "logHead")
	entry := fieldsOf(&wrong, "entry", top.get("entry"), "header", "entryHash", "transitionRef")
	header := fieldsOf(&wrong, "entry.header", entry.get("header"),
		"entryIndex", "semanticsEpoch", "transitionFn", "interpreter", "prevEntryHash", "writtenBy")
	m.Record = record.CommitRecord{
		Episode: episode, Observed: top.ref("observedHead"), EntryIndex: header.int("entryIndex"),
		SemanticsEpoch: header.int("semanticsEpoch"), TransitionFn: header.ref("transitionFn"), Interpreter: header.ref("interpreter"),
		PrevEntryHash: header.ref("prevEntryHash"), WrittenBy: header.text("writtenBy"), TransitionRef: entry.ref("transitionRef"),
		EntryHash: entry.ref("entryHash"), StateRoot: next.ref("stateRoot"), World: next.ref("ref"),
	}
	if next.int("revision") != m.Record.EntryIndex {
		note(&wrong, "nextWorld.revision is not entryIndex")
	}
	if next.ref("logHead") != m.Record.EntryHash {
		note(&wrong, "nextWorld.logHead is not entryHash")
	}
	if id, given := top.found["invocationId"]; given && wrong == nil {
		text, _ := id.Text()
		if m.Task, wrong = receiptTask(text); wrong != nil {
			wrong = bad("invocationId must be rest:<id>, an id of 1 to 128 bytes of A-Z a-z 0-9 . _ -")
		}
	}
	objects := top.get("objects")
	if objects.Kind() != canon.Array || len(objects.Items()) > record.MaxCommitObjects {
		note(&wrong, "objects is an array of at most %d", record.MaxCommitObjects)
	}
	if wrong != nil {
		return m, wrong
	}
	for i, item := range objects.Items() {
		named, object, err := readObject(item, fmt.Sprintf("objects[%d]", i), record.CommitAuthor(episode))
		if err != nil {
			return m, err
		}
		m.Record.Objects = append(m.Record.Objects, named)
		m.Objects = append(m.Objects, object)
	}
	return m, nil
}

// readObject reads one object and hashes its payload.
func readObject(v canon.Value, where, author string) (record.CommitObject, store.Object, error) {
	var wrong error
	f := fieldsOf(&wrong, where, v, "hash", "interfaceHash", "semanticId", "provenance", "payload")
	named := record.CommitObject{Hash: f.ref("hash"), SemanticID: f.text("semanticId")}
	text := f.text("payload")
	payload, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which the decoder skips
		note(&wrong, "%s.payload is not base64", where)
	}
	object := store.NewObject(named.SemanticID, author, payload)
	if object.Ref() != named.Hash {
		note(&wrong, "%s.hash is not that of its payload, which is %s", where, object.Ref())
	}
	if want := store.RefOf([]byte(named.SemanticID)); f.ref("interfaceHash") != want {
		note(&wrong, "%s.interfaceHash is not the hash of its semanticId, which is %s", where, want)
	}
	if f.text("provenance") != author {
		note(&wrong, "%s.provenance of this session's commits is %s", where, author)
	}
	return named, object, wrong
}

// receiptTask takes the prefix off an id; no other namespace is known here.
func receiptTask(id string) (string, error) {
	task, ok := strings.CutPrefix(id, receiptPrefix)
	if !ok {
		return "", bad("receipt id must be rest:<id>")
	}
	return store.ParseTask(task)
}

// fields are the members of one object of a body. The first thing that is wrong
// stays in wrong, which a whole body shares.
type fields struct {
	where string
	found map[string]canon.Value
	wrong *error
}

// fieldsOf reads an object that has exactly these members; a name that ends in ?
// may be missing.
func fieldsOf(wrong *error, where string, v canon.Value, names ...string) fields {
	f := fields{where, map[string]canon.Value{}, wrong}
	if v.Kind() != canon.Object {
		note(wrong, "%s is %s, not an object", cmp.Or(where, "the body"), v.Kind())
		return f
	}
	for _, m := range v.Members() {
		if !slices.Contains(names, m.Name) && !slices.Contains(names, m.Name+"?") {
			note(wrong, "unknown member %s", f.name(plan.Clip(m.Name, 64)))
		}
		f.found[m.Name] = m.Value
	}
	for _, name := range names {
		if _, there := f.found[name]; !there && !strings.HasSuffix(name, "?") {
			note(wrong, "member %s is missing", f.name(name))
		}
	}
	return f
}

func (f fields) name(member string) string {
	if f.where == "" {
		return member
	}
	return f.where + "." + member
}

func (f fields) get(name string) canon.Value { return f.found[name] }

func (f fields) text(name string) string {
	text, ok := f.found[name].Text()
	if !ok {
		note(f.wrong, "%s is %s, not a string", f.name(name), f.found[name].Kind())
	}
	return text
}

func (f fields) ref(name string) store.Ref { return store.Ref(f.text(name)) }

func (f fields) int(name string) int64 {
	n, ok := f.found[name].Int64()
	if !ok {
		note(f.wrong, "%s is not a 64-bit integer", f.name(name))
	}
	return n
}

// note keeps the first thing that is wrong.
func note(wrong *error, format string, args ...any) {
	if *wrong == nil {
		*wrong = fault.New("rest: read commit", fault.Invalid, format, args...)
	}
}
