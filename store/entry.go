package store

import (
	"encoding/json"
	"strconv"
)

// Draft is what a caller knows of a log entry before it is chained. An entry's
// place in the chain does not influence it (D9).
type Draft struct {
	SemanticsEpoch int64  // operational tag only; never licenses another interpreter
	TransitionFn   Ref    // source object
	Interpreter    Ref    // interpreter object
	WrittenBy      string // such as "coordinator:mcp", "host:session", "rest:EPISODE"
	Transition     Ref    // the record of what happened: invocation record, session object, …
	StateRoot      Ref    // the output object
}

// Entry is one link of the log. Fields above Hash are the frozen header.
type Entry struct {
	Index          int64
	SemanticsEpoch int64
	TransitionFn   Ref
	Interpreter    Ref
	Prev           Ref // hash of the entry before
	WrittenBy      string
	Hash           Ref
	Transition     Ref
	StateRoot      Ref
	World          Ref
	Invocation     InvocationID // "" for acts of the host
}

// Head is the selected world: the newest entry seen as a state.
type Head struct {
	Index     int64 // entry index and revision
	World     Ref
	StateRoot Ref
	Entry     Ref // hash of the newest entry
}

// Void is the head before genesis: what the first entry is chained onto. Its hash
// is that of no bytes, because a prevEntryHash is always a ref.
var Void = Head{Index: -1, Entry: RefOf(nil)}

// Chain places a draft after head and computes its hashes.
func Chain(head Head, d Draft, invocation InvocationID) Entry {
	e := Entry{
		Index: head.Index + 1, SemanticsEpoch: d.SemanticsEpoch, TransitionFn: d.TransitionFn,
		Interpreter: d.Interpreter, Prev: head.Entry, WrittenBy: d.WrittenBy,
		Transition: d.Transition, StateRoot: d.StateRoot, Invocation: invocation,
	}
	e.Hash = e.ComputeHash()
	e.World = WorldRef(e.Index, e.StateRoot, e.Hash)
	return e
}

// Head returns the world that the entry selects.
func (e Entry) Head() Head {
	return Head{Index: e.Index, World: e.World, StateRoot: e.StateRoot, Entry: e.Hash}
}

// ComputeHash hashes the frozen header with the transition ref, in the byte form
// that the system of the seeds writes.
func (e Entry) ComputeHash() Ref {
	var room [1024]byte
	b := strconv.AppendInt(append(room[:0], `{"entryIndex":`...), e.Index, 10)
	b = strconv.AppendInt(append(b, `,"semanticsEpoch":`...), e.SemanticsEpoch, 10)
	b = appendText(append(b, `,"transitionFn":`...), string(e.TransitionFn))
	b = appendText(append(b, `,"interpreter":`...), string(e.Interpreter))
	b = appendText(append(b, `,"prevEntryHash":`...), string(e.Prev))
	b = appendText(append(b, `,"writtenBy":`...), e.WrittenBy)
	b = appendText(append(b, `,"transitionRef":`...), string(e.Transition))
	return RefOf(append(b, '}'))
}

// WorldRef names the state at a revision.
func WorldRef(revision int64, stateRoot, logHead Ref) Ref {
	var room [256]byte
	b := strconv.AppendInt(append(room[:0], `{"revision":`...), revision, 10)
	b = appendText(append(b, `,"stateRoot":`...), string(stateRoot))
	b = appendText(append(b, `,"logHead":`...), string(logHead))
	return RefOf(append(b, '}'))
}

// appendText appends a text as encoding/json writes it, which escapes more than it
// must. Nearly all texts here need no escape.
func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic("store: a text does not marshal: " + err.Error())
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
