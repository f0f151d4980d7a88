package rest

import (
	"context"
	"net/http"

	"world/fault"
	"world/store"
	"world/store/record"
)

// receiptState is what the journal says of a commit. Append only: it crosses the wire.
type receiptState string

const (
	// notStarted: no intent exists. Only then was nothing committed for certain.
	notStarted receiptState = "not-started"
	// indeterminate: an intent exists and no outcome. It may still be running.
	indeterminate receiptState = "indeterminate"
	resolved      receiptState = "resolved"
)

// receipt is the wire form of a receipt.
type receipt struct {
	InvocationID store.InvocationID `json:"invocationId"`
	State        receiptState       `json:"state"`
	Status       store.Status       `json:"status,omitempty"`     // when resolved: succeeded, or failed
	ResultRef    store.Ref          `json:"resultRef,omitempty"`  // world that the commit selected, when it succeeded
	Reconciled   string             `json:"reconciled,omitempty"` // an operator's verdict on an indeterminate one
}

// Receipt answers what became of a commit, by the journal's rows alone.
func (s *Reads) Receipt(w http.ResponseWriter, r *http.Request) {
	task, err := receiptTask(r.PathValue("id"))
	if err != nil {
		Refuse(w, BadRequest, "receipt id must be rest:<id>")
		return
	}
	if _, err := query(r); err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	answer, err := s.receipt(ctx, store.CommitInvocation(task))
	if err != nil {
		fail(w, r, err, "receipt not found")
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Reads) receipt(ctx context.Context, id store.InvocationID) (receipt, error) {
	answer := receipt{InvocationID: id, State: notStarted}
	intent, err := s.store.IntentOf(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return answer, nil
	}
	if err != nil {
		return answer, err
	}
	switch intent.Outcome.Status {
	case store.StatusSucceeded:
		entry, err := s.store.EntryOf(ctx, id)
		if err != nil {
			return answer, asCorrupt(err)
		}
		answer.State, answer.Status, answer.ResultRef = resolved, intent.Outcome.Status, entry.World
	case store.StatusFailed:
		answer.State, answer.Status = resolved, intent.Outcome.Status
	default:
		answer.State = indeterminate
		if intent.Reconciled != "" {
			object, err := s.store.Object(ctx, intent.Reconciled)
			if err != nil {
				return answer, asCorrupt(err)
			}
			word, err := record.DecodeReconciliation(object.Bytes())
			if err != nil {
				return answer, asCorrupt(err)
			}
			answer.Reconciled = word.Verdict
		}
	}
	return answer, nil
}

// asCorrupt says that something is missing or malformed that must be there.
func asCorrupt(err error) error {
	kind := fault.KindOf(err)
	if kind == fault.NotFound || kind == fault.Invalid {
		kind = fault.Corrupt
	}
	return fault.Wrap("rest: receipt", kind, err, "the evidence of a commit")
}
