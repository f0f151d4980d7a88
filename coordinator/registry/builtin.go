package registry

import (
	"encoding/json"

	"world/store"
	"world/store/record"
)

// Builtin is a transition that ships with the binary. It is run in the one of two
// conventions that its declared effects choose: with any, the source is called
// with a phase input and answers a plan (package plan); with none, it is called
// once with the caller's arguments and answers the output object itself.
type Builtin struct {
	ID           store.TransitionID
	Title        string
	Description  string
	Source       []byte          // program text, at most 1 MiB
	InputSchema  json.RawMessage // JSON object, at most 64 KiB canonical
	OutputSchema json.RawMessage // JSON object, at most 64 KiB canonical
	Access       record.Triple
	Declared     []record.Triple // empty for a pure transition
}
