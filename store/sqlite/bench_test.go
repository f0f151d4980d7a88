package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"world/store"
	"world/store/sqlite"
)

// BenchmarkCall measures what one allowed effectful call costs in the store, next
// to the least that any journal could do: two bare inserts, each its own durable
// commit, on a file with the same settings.
func BenchmarkCall(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchBare(b) })
	for _, callers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("call-%d", callers), func(b *testing.B) { benchCall(b, callers) })
	}
}

func benchBare(b *testing.B) {
	s, err := sqlite.Open(context.Background(), filepath.Join(b.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s.Close() // settings of the process are those of a store from here on
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO bare (body) VALUES (?)")
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 200)
	for b.Loop() {
		for range 2 {
			if _, err := insert.Exec(body); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func benchCall(b *testing.B, callers int) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	object := func(semanticID, format string, args ...any) store.Object {
		return store.NewObject(semanticID, "bench", fmt.Appendf(nil, format, args...))
	}
	source, interpreter, session := object("s", "source"), object("i", "interpreter"), object("w", "session")
	draft := store.Draft{TransitionFn: source.Ref(), Interpreter: interpreter.Ref(), WrittenBy: "coordinator:mcp",
		Transition: source.Ref(), StateRoot: source.Ref()}
	if _, err := s.Begin(ctx, store.Act{Objects: []store.Object{source, interpreter, session}, Draft: draft}); err != nil {
		b.Fatal(err)
	}
	call := func(episode store.EpisodeID, n int64) error {
		lease, err := s.Lease(ctx, episode)
		if err != nil {
			return err
		}
		input := object("world/invocation-input/v1", `{"path":"src/file-%d.txt"}`, n)
		plan := object("world/effect-plan/v1", `{"effects":[{"id":"e1","n":%d,"pad":"%0200d"}]}`, n, n)
		request := object("world/effect-request/v1", `14:Workspace.Read9:workspace1:%d:{"path":"src/file-%d.txt"}`, n, n)
		claim := store.Claim{Invocation: store.NewInvocationID(store.SurfaceMCP, episode, fmt.Sprintf("%016x%016x", n*7919, n)),
			Episode: episode, Transition: "ailang-read", TransitionFn: source.Ref(), Input: input.Ref(), Session: session.Ref(), At: 1_700_000_000 + n/1000}
		intent, err := s.Intend(ctx, store.Intention{Claim: claim, Objects: []store.Object{input, plan, request},
			Effect: "Workspace.Read", Scope: "workspace", Cost: 1, Budget: 1 << 40, Request: request.Ref(), Lease: lease})
		if err != nil {
			return err
		}
		result := object("world/effect-result/v1", `{"content":"%0400d"}`, n)
		record := object("world/effect-record/v1", `{"record":%d,"pad":"%0350d"}`, n, n)
		output := object("world/invocation-output/v1", `{"content":"%0400d","world":{}}`, n)
		invocation := object("world/invocation-record/v3", `{"n":%d,"pad":"%01200d"}`, n, n)
		d := draft
		d.Transition, d.StateRoot = invocation.Ref(), output.Ref()
		_, err = s.Commit(ctx, store.Finish{Claim: claim, Intent: &intent, Lease: lease, Draft: d, At: claim.At,
			Outcome: store.Outcome{Status: store.StatusSucceeded, Record: record.Ref(), Detail: result.Ref(), At: claim.At},
			Objects: []store.Object{result, record, output, invocation}})
		return err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := call(store.EpisodeID(fmt.Sprintf("ep-%d", i)), n); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
