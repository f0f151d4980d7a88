package coordinator_test

import (
	"context"
	"testing"
	"time"

	"world/broker"
	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
)

// held is a world in which one call is held inside its handler.
type held struct {
	*coordtest.World
	hand *coordtest.Hand
	goOn chan struct{}
	done chan coordinator.Reply // of the held call
}

func hold(t *testing.T, ctx context.Context, live func(*coordtest.World) session.Live) *held {
	t.Helper()
	h := &held{hand: &coordtest.Hand{}, goOn: make(chan struct{}), done: make(chan coordinator.Reply, 1)}
	began := make(chan context.Context, 1)
	h.hand.Before = func(ctx context.Context, job broker.Job) {
		if job.Intent == "effect:ep:0" {
			began <- ctx
			<-h.goOn
			if ctx.Err() != nil {
				t.Errorf("the handler's context ended: %v", ctx.Err())
			}
		}
	}
	h.World = world(t, h.hand, nil)
	l := live(h.World)
	go func() {
		reply, err := h.Invoke(ctx, l, coordtest.Act, "held", `{"do":"held","after":1}`)
		if err != nil {
			t.Errorf("the held call: %v", err)
		}
		h.done <- reply
	}()
	<-began
	return h
}

// TestCallerDisconnects checks that a caller that goes away after the intent
// loses nothing: the call finishes, finish phase and all, and is found by its id.
func TestCallerDisconnects(t *testing.T) {
	ctx, disconnect := context.WithCancel(t.Context())
	var live session.Live
	h := hold(t, ctx, func(w *coordtest.World) session.Live { live = writer(w, 2); return live })
	disconnect()
	close(h.goOn)
	if reply := <-h.done; reply.Failed {
		t.Errorf("the call ended %+v", reply)
	}
	again := h.Must(live, coordtest.Act, "held", `{"do":"held","after":1}`)
	if !again.Replayed || again.Failed || len(h.hand.Jobs()) != 1 {
		t.Errorf("found by its id: %+v", again)
	}
	replays(t, h.World)
}

// TestCallerGivesUpWaiting checks that a caller that goes away before its turn
// leaves nothing behind, and that its id may be used.
func TestCallerGivesUpWaiting(t *testing.T) {
	var live session.Live
	h := hold(t, t.Context(), func(w *coordtest.World) session.Live { live = writer(w, 5); return live })
	snapshot, err := h.C.Snapshot(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	waiting, hangUp := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := h.C.Invoke(waiting, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: "waits", Args: []byte(`{}`)})
		failed <- err
	}()
	hangUp()
	if err := <-failed; !fault.Is(err, fault.Timeout) {
		t.Errorf("gave up waiting: %v", err)
	}
	close(h.goOn)
	<-h.done
	if _, err := h.Store.Claim(t.Context(), "mcp:ep:waits"); !fault.Is(err, fault.NotFound) {
		t.Errorf("its id: %v", err)
	}
	if reply := h.Must(live, coordtest.Act, "waits", `{}`); reply.Replayed || reply.Failed {
		t.Errorf("its id again: %+v", reply)
	}
}

// TestCallerGoneBeforeTheEffect checks R11: a caller that goes away while the
// plan is made gets no effect and leaves no entry.
func TestCallerGoneBeforeTheEffect(t *testing.T) {
	for _, late := range []bool{false, true} {
		hand := &coordtest.Hand{}
		ctx, disconnect := context.WithCancel(t.Context())
		w := world(t, hand, func(o *coordinator.Options) {
			o.Runner = runner(func(ctx context.Context, p capsule.Program, input []byte) ([]byte, error) {
				if !late {
					disconnect()
				}
				answer, err := coordtest.Runner{}.Run(ctx, p, input)
				disconnect()
				return answer, err
			})
		})
		live := writer(w, 1)
		before := head(t, w)
		if _, err := w.Invoke(ctx, live, coordtest.Act, "task", `{}`); !fault.Is(err, fault.Timeout) {
			t.Errorf("late %v: %v", late, err)
		}
		if head(t, w) != before || len(hand.Jobs()) != 0 {
			t.Errorf("late %v: something was done", late)
		}
	}
}

type runner func(context.Context, capsule.Program, []byte) ([]byte, error)

func (r runner) Run(ctx context.Context, p capsule.Program, input []byte) ([]byte, error) {
	return r(ctx, p, input)
}

// TestPhaseBudgets checks that a phase that passes its own budget is a recorded
// failure: of the whole call in the plan phase, of the answer in the finish phase.
func TestPhaseBudgets(t *testing.T) {
	slow := ""
	hand := &coordtest.Hand{}
	w := world(t, hand, func(o *coordinator.Options) {
		o.Deadlines = coordinator.Deadlines{Plan: time.Millisecond, Finish: time.Millisecond}
		o.Runner = runner(func(ctx context.Context, p capsule.Program, input []byte) ([]byte, error) {
			if slow != "" && string(input[len(input)-len(slow):]) == slow || slow == "all" {
				<-ctx.Done()
				return nil, fault.Wrap("test", fault.Timeout, ctx.Err(), "too slow")
			}
			return coordtest.Runner{}.Run(context.WithoutCancel(ctx), p, input)
		})
	})
	live := writer(w, 5)
	for _, test := range []struct {
		slow, message, status string
	}{
		{`"phase":"plan"}`, "the plan phase passed its 1ms", ""},
		{`"status":"ok"}]}`, "finish phase: the finish phase passed its 1ms; effect e1 of this call ended ok and is recorded", "ok"},
	} {
		slow = test.slow
		reply := w.Must(live, coordtest.Act, "", `{"after":1}`)
		if reply.Kind != fault.Timeout || reply.Message != test.message || status(recorded(t, w, reply.Entry)) != test.status {
			t.Errorf("%s: %+v", test.slow, reply)
		}
	}
	slow = ""
	if counts := replays(t, w); counts.Unreplayable["machine"] != 2 {
		t.Errorf("replay counts %+v", counts)
	}
}

// TestExpiresWhileWaiting checks D4: a call that waits behind another is decided
// by the time at which it is decided, and its denial is recorded.
func TestExpiresWhileWaiting(t *testing.T) {
	var short session.Live
	h := hold(t, t.Context(), func(w *coordtest.World) session.Live {
		short = w.MintFor(10, "ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 9))
		return writer(w, 5)
	})
	snapshot, err := h.C.Snapshot(t.Context(), short)
	if err != nil {
		t.Fatal(err)
	}
	h.Pass(10)
	close(h.goOn)
	<-h.done
	reply, err := h.C.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: "late", Args: []byte(`{}`)})
	if err != nil || reply.Denial != "denied:expired" || status(recorded(t, h.World, reply.Entry)) != "denied" {
		t.Errorf("a call that waited past its session's end: %+v, %v", reply, err)
	}
	// A pure call has no effect to deny: it is refused.
	_, err = h.C.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Echo, Args: []byte(`{}`)})
	if !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a pure call past its session's end: %v", err)
	}
	replays(t, h.World)
}

// TestExpiryBoundary checks both sides of now < expiresAt.
func TestExpiryBoundary(t *testing.T) {
	for passed, denial := range map[int64]string{9: "", 10: "denied:expired"} {
		w := world(t, &coordtest.Hand{}, nil)
		snapshot, err := w.C.Snapshot(t.Context(), w.MintFor(10, "ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 9)))
		if err != nil {
			t.Fatal(err)
		}
		w.Pass(passed)
		reply, err := w.C.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Args: []byte(`{}`)})
		if err != nil || reply.Denial != denial {
			t.Errorf("after %d s: %+v, %v", passed, reply, err)
		}
	}
}

// TestRevokedMeanwhile checks that a session revoked between snapshot and turn
// runs nothing.
func TestRevokedMeanwhile(t *testing.T) {
	for i, id := range []store.TransitionID{coordtest.Act, coordtest.Act, coordtest.Echo} {
		hand := &coordtest.Hand{}
		w := world(t, hand, func(o *coordinator.Options) { o.Deadlines.Fresh = time.Hour * time.Duration(1-2*i) })
		live := writer(w, 5)
		snapshot, err := w.C.Snapshot(t.Context(), live)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Office().Revoke(t.Context(), live.Credential, w.Now()); err != nil {
			t.Fatal(err)
		}
		before := head(t, w)
		_, err = w.C.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: id, Args: []byte(`{}`)})
		if !fault.Is(err, fault.Unauthenticated) || len(hand.Jobs()) != 0 || head(t, w) != before {
			t.Errorf("%s: %v, %d jobs", id, err, len(hand.Jobs()))
		}
	}
}

// TestClockSetBack checks D4: what expired stays expired, whether a call looks
// again or begins on its snapshot.
func TestClockSetBack(t *testing.T) {
	for _, fresh := range []time.Duration{-1, time.Hour} {
		clockSetBack(t, fresh)
	}
}

func clockSetBack(t *testing.T, fresh time.Duration) {
	w := world(t, &coordtest.Hand{}, func(o *coordinator.Options) { o.Deadlines.Fresh = fresh })
	short := w.MintFor(10, "ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 9))
	long := writer(w, 9)
	snapshot, err := w.C.Snapshot(t.Context(), short)
	if err != nil {
		t.Fatal(err)
	}
	w.Pass(20)
	w.Must(long, coordtest.Act, "", `{}`)
	w.Pass(-20)
	reply, err := w.C.Invoke(t.Context(), snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Args: []byte(`{}`)})
	if err != nil || reply.Denial != "denied:expired" {
		t.Errorf("a clock set back revived a session: %+v, %v", reply, err)
	}
	if now := recorded(t, w, reply.Entry).Record.Now; now != coordtest.Start+20 {
		t.Errorf("decided at %d", now)
	}
}
