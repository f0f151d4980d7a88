package coordtest

import (
	"context"
	"fmt"
	"sync"

	"world/broker"
	"world/store"
)

// Hand is a handler that does what its payload says and counts what it did.
type Hand struct {
	mu   sync.Mutex
	jobs []broker.Job

	// Before, when set, runs first and may wait or panic.
	Before func(ctx context.Context, job broker.Job)
	// Answer, when set, makes the result.
	Answer func(job broker.Job) broker.Result
}

// Handle implements broker.Handler.
func (h *Hand) Handle(ctx context.Context, job broker.Job) broker.Result {
	h.mu.Lock()
	h.jobs = append(h.jobs, job)
	h.mu.Unlock()
	if h.Before != nil {
		h.Before(ctx, job)
	}
	if h.Answer != nil {
		return h.Answer(job)
	}
	return Succeed(fmt.Sprintf(`{"done":%s}`, job.Payload))
}

// Jobs returns the jobs handled so far.
func (h *Hand) Jobs() []broker.Job {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]broker.Job(nil), h.jobs...)
}

// Succeed, Fail and Lose are the three ways a handler ends.
func Succeed(output string) broker.Result {
	return broker.Result{Status: store.StatusSucceeded, Output: []byte(output)}
}

// Fail is a known failure.
func Fail(why string) broker.Result {
	return broker.Result{Status: store.StatusFailed, Detail: why}
}

// Lose is an end that the handler cannot tell.
func Lose(why string) broker.Result {
	return broker.Result{Status: store.StatusIndeterminate, Detail: why}
}
