package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"world/store"
)

// Benchmark measures what one allowed effectful call costs in a store: both of its
// transactions, with objects of the sizes that calls have. Each caller is an
// episode of its own. The store is empty and stays open.
func Benchmark(b *testing.B, s store.Store, callers int) {
	ctx := context.Background()
	w := &caller{Store: s, source: benchObject("world/transition-source/v1", "source"),
		session: benchObject("world/session/v1", "session")}
	interpreter := benchObject("world/interpreter/v1", "interpreter")
	w.draft = store.Draft{TransitionFn: w.source.Ref(), Interpreter: interpreter.Ref(), WrittenBy: "coordinator:mcp",
		Transition: w.source.Ref(), StateRoot: w.source.Ref()}
	if _, err := s.Begin(ctx, store.Act{Objects: []store.Object{w.source, interpreter, w.session}, Draft: w.draft}); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range callers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := w.call(ctx, store.EpisodeID(fmt.Sprintf("ep-%d", i)), n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func benchObject(semanticID, format string, args ...any) store.Object {
	return store.NewObject(semanticID, "coordinator:mcp", fmt.Appendf(nil, format, args...))
}

type caller struct {
	store.Store
	source, session store.Object
	draft           store.Draft
}

// call makes the n-th call.
func (w *caller) call(ctx context.Context, episode store.EpisodeID, n int64) error {
	lease, err := w.Lease(ctx, episode)
	if err != nil {
		return err
	}
	input := benchObject("world/invocation-input/v1", `{"path":"src/file-%d.txt"}`, n)
	plan := benchObject("world/effect-plan/v1", `{"effects":[{"id":"e1","n":%d,"pad":"%0200d"}]}`, n, n)
	request := benchObject("world/effect-request/v1", `14:Workspace.Read9:workspace1:%d:{"path":"src/file-%d.txt"}`, n, n)
	claim := store.Claim{Invocation: store.NewInvocationID(store.SurfaceMCP, episode, fmt.Sprintf("%016x%016x", n*7919, n)),
		Episode: episode, Transition: "ailang-read", TransitionFn: w.source.Ref(), Input: input.Ref(), Session: w.session.Ref(), At: 1_700_000_000 + n/1000}
	intent, err := w.Intend(ctx, store.Intention{Claim: claim, Objects: []store.Object{input, plan, request},
		Effect: effect, Scope: scope, Cost: 1, Budget: 1 << 40, Request: request.Ref(), Lease: lease})
	if err != nil {
		return err
	}
	result := benchObject("world/effect-result/v1", `{"content":"%0400d"}`, n)
	record := benchObject("world/effect-record/v1", `{"record":%d,"pad":"%0350d"}`, n, n)
	output := benchObject("world/invocation-output/v1", `{"content":"%0400d","world":{}}`, n)
	invocation := benchObject("world/invocation-record/v3", `{"n":%d,"pad":"%01200d"}`, n, n)
	d := w.draft
	d.Transition, d.StateRoot = invocation.Ref(), output.Ref()
	_, err = w.Commit(ctx, store.Finish{Claim: claim, Intent: &intent, Lease: lease, Draft: d, At: claim.At,
		Outcome: store.Outcome{Status: store.StatusSucceeded, Record: record.Ref(), Detail: result.Ref(), At: claim.At},
		Objects: []store.Object{result, record, output, invocation}})
	return err
}
