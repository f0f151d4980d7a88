package rest

import (
	"context"

	"world/store"
)

// entry is the wire form of a log entry: the frozen header apart, and beside it
// what the header and the hash do not hold.
type entry struct {
	Header       header             `json:"header"`
	EntryHash    store.Ref          `json:"entryHash"`
	Transition   store.Ref          `json:"transitionRef"`
	StateRoot    store.Ref          `json:"stateRoot"`
	World        store.Ref          `json:"world"`
	InvocationID store.InvocationID `json:"invocationId,omitempty"`
}

type header struct {
	Index          int64     `json:"entryIndex"`
	SemanticsEpoch int64     `json:"semanticsEpoch"`
	TransitionFn   store.Ref `json:"transitionFn"`
	Interpreter    store.Ref `json:"interpreter"`
	Prev           store.Ref `json:"prevEntryHash"`
	WrittenBy      string    `json:"writtenBy"`
}

func entryOf(e store.Entry) entry {
	return entry{
		Header:    header{e.Index, e.SemanticsEpoch, e.TransitionFn, e.Interpreter, e.Prev, e.WrittenBy},
		EntryHash: e.Hash, Transition: e.Transition, StateRoot: e.StateRoot, World: e.World,
		InvocationID: e.Invocation,
	}
}

// object is the wire form of an object. The first label stands in the flat
// fields; labels holds all of them (D7).
type object struct {
	Hash          store.Ref `json:"hash"`
	InterfaceHash store.Ref `json:"interfaceHash"` // of the semantic id
	SemanticID    string    `json:"semanticId"`
	Provenance    string    `json:"provenance"`
	Labels        []label   `json:"labels"`
	Payload       *[]byte   `json:"payload,omitempty"` // base64; absent unless asked for
}

type label struct {
	SemanticID string `json:"semanticId"`
	Provenance string `json:"provenance"`
}

func (s *Reads) object(ctx context.Context, ref store.Ref, payload bool) (object, error) {
	o, err := s.store.Object(ctx, ref)
	if err != nil {
		return object{}, err
	}
	labels, err := s.store.Labels(ctx, ref)
	if err != nil {
		return object{}, err
	}
	answer := object{Hash: ref, Labels: make([]label, len(labels))}
	for i, l := range labels {
		answer.Labels[i] = label(l)
	}
	first := o.Label()
	answer.SemanticID, answer.Provenance = first.SemanticID, first.Provenance
	answer.InterfaceHash = store.RefOf([]byte(first.SemanticID))
	if payload {
		bytes := o.Bytes()
		answer.Payload = &bytes
	}
	return answer, nil
}
