package coordinator

import (
	"context"
	"testing"
	"testing/synctest"

	"world/fault"
	"world/store"
	"world/store/record"
)

func call(id store.InvocationID, input string) *admitted {
	return &admitted{id: id, desc: record.Descriptor{ID: "act"}, input: store.NewObject(record.Input, "test", []byte(input))}
}

// TestBoard checks the waiting of twins in a world where nothing else moves.
func TestBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flights{running: map[store.InvocationID]*flight{}}
		land, err := f.board(t.Context(), call("id", "{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.board(t.Context(), call("id", "{ }")); !fault.Is(err, fault.Conflict) {
			t.Errorf("another input: %v", err)
		}
		if landOther, err := f.board(t.Context(), call("other", "{}")); err != nil {
			t.Errorf("another id: %v", err)
		} else {
			landOther()
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		wait := func(ctx context.Context) {
			land, err := f.board(ctx, call("id", "{}"))
			if err == nil {
				land()
			}
			ended <- err
		}
		go wait(ctx)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("a twin did not wait: %v", err)
		default:
		}
		cancel()
		if err := <-ended; !fault.Is(err, fault.InFlight) {
			t.Errorf("a twin that gave up: %v", err)
		}
		go wait(t.Context())
		go wait(t.Context())
		synctest.Wait()
		land()
		if first, second := <-ended, <-ended; first != nil || second != nil {
			t.Errorf("twins that waited: %v, %v", first, second)
		}
		if len(f.running) != 0 {
			t.Errorf("%d flights left", len(f.running))
		}
	})
}

// TestTurns checks that an episode has one turn, that giving up leaves the queue,
// and that nothing is kept of episodes that are not in use.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := episodes{turns: map[store.EpisodeID]*turn{}}
		leave, err := e.wait(t.Context(), "ep")
		if err != nil {
			t.Fatal(err)
		}
		if leaveOther, err := e.wait(t.Context(), "ep2"); err != nil {
			t.Errorf("another episode: %v", err)
		} else {
			leaveOther()
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 2)
		for _, ctx := range []context.Context{ctx, t.Context()} {
			go func() {
				leave, err := e.wait(ctx, "ep")
				got <- err
				if err == nil {
					leave()
				}
			}()
		}
		synctest.Wait()
		if len(got) != 0 {
			t.Error("a turn was given twice")
		}
		cancel()
		if err := <-got; !fault.Is(err, fault.Timeout) {
			t.Errorf("gave up: %v", err)
		}
		leave()
		if err := <-got; err != nil {
			t.Errorf("the next: %v", err)
		}
		synctest.Wait()
		if len(e.turns) != 0 {
			t.Errorf("%d turns are kept", len(e.turns))
		}
	})
}
