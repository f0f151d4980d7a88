// Package broker is the authority boundary inside the process: for every planned
// effect it decides, records, runs and records again. Only it calls a handler.
package broker

import (
	"context"
	"time"

	"world/broker/law"
	"world/store"
)

// Job is one allowed effect for a handler to carry out. Its intent is durable
// already, and its unit is spent whatever happens.
type Job struct {
	Episode  store.EpisodeID
	Intent   string // durable name of the intent, for logs and for the effect's own idempotency
	Effect   law.Effect
	Scope    law.Scope
	Cost     int64         // calls
	Payload  []byte        // canonical JSON object, at most 1 MiB
	Deadline time.Duration // wall time the handler has, also bounded by the context
}

// Result is how a handler ended. Exactly one of the three ways:
// succeeded, failed (it knows that the effect did not happen, or happened and
// failed) or indeterminate (deadline, killed, died or unreadable answer of an
// effect that may write; for a read that is failed).
type Result struct {
	Status store.Status
	Output []byte // result bytes when succeeded
	Detail string // why, when not succeeded: stored scrubbed of known secrets, shown to the agent
}

// Handler carries out effects of one or more names. Only the broker calls it.
// A panic or a zero Result counts as indeterminate.
type Handler interface {
	Handle(ctx context.Context, job Job) Result
}
