package mcp_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/store"
)

// held is a hand that waits for the test.
type held struct {
	coordtest.Hand
	entered, release chan struct{}
	once             sync.Once
}

func newHeld() *held {
	h := &held{entered: make(chan struct{}, 64), release: make(chan struct{})}
	h.Before = func(context.Context, broker.Job) { h.entered <- struct{}{}; <-h.release }
	return h
}

func (h *held) letGo() { h.once.Do(func() { close(h.release) }) }

// TestADisconnectedClientLosesNothing cuts two connections while the handler of
// one runs and the other waits for its turn: both calls finish and are found.
func TestADisconnectedClientLosesNothing(t *testing.T) {
	for _, revision := range revisions {
		hand := newHeld()
		h := open(t, &hand.Hand, nil)
		t.Cleanup(hand.letGo)
		token := h.writer(9)
		ctx, cut := context.WithCancel(t.Context())
		gone := make(chan error, 2)
		send := func(task string) {
			c := h.connect(token, revision)
			go func() {
				_, err := try(ctx, c, "act", task, map[string]any{"do": 1})
				gone <- err
			}()
		}
		send("running")
		<-hand.entered
		send("waiting")
		eventually(t, "the second call to arrive", func() bool { return strings.Count(h.log.String(), `"a call begins"`) == 2 })
		cut()
		for range cap(gone) {
			if err := <-gone; err == nil {
				t.Fatalf("%s: a client was answered before it went", revision)
			}
		}
		hand.letGo()
		for _, task := range []string{"running", "waiting"} {
			eventually(t, "the call to be recorded", func() bool {
				_, err := h.Store.EntryOf(t.Context(), store.NewInvocationID(store.SurfaceMCP, "ep", task))
				return err == nil
			})
			s := call(t, h.connect(token, revision), "act", task, map[string]any{"do": 1})
			if s.isError || !s.replayed || s.output.World.Effects[0].Status != "ok" {
				t.Errorf("%s: %+v", revision, s)
			}
		}
		if len(hand.Jobs()) != 2 {
			t.Errorf("%s: %d jobs for two calls", revision, len(hand.Jobs()))
		}
	}
}

// TestTwinsOfARunningCallGetItsAnswer sends one id eight times at once.
func TestTwinsOfARunningCallGetItsAnswer(t *testing.T) {
	hand := newHeld()
	h := open(t, &hand.Hand, nil)
	t.Cleanup(hand.letGo)
	c := h.connect(h.writer(9), revisions[0])
	answers := make(chan said, 8)
	for range cap(answers) {
		go func() {
			s, err := try(t.Context(), c, "act", "twin", map[string]any{"do": 1})
			if err != nil {
				s.text = err.Error()
			}
			answers <- s
		}()
	}
	<-hand.entered
	hand.letGo()
	ran := 0
	for range cap(answers) {
		s := <-answers
		if s.isError || s.entry == 0 {
			t.Errorf("%+v", s)
		}
		if !s.replayed {
			ran++
		}
	}
	if ran != 1 || len(hand.Jobs()) != 1 {
		t.Errorf("%d answers are first ones, %d jobs ran; want one each", ran, len(hand.Jobs()))
	}
}

// TestReport_pydanticai2978 starts eight calls at once on a budget of six.
// Report 8 of reference/reports.md: calls made at once all start before the limit is looked at.
func TestReport_pydanticai2978(t *testing.T) {
	hand := &coordtest.Hand{}
	h := open(t, hand, nil)
	token := h.writer(6)
	var wait sync.WaitGroup
	answers := make([]said, 8)
	for i := range answers {
		c := h.connect(token, revisions[i%2])
		wait.Go(func() {
			var err error
			if answers[i], err = try(t.Context(), c, "act", "", nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	denied := 0
	for _, s := range answers {
		if s.isError {
			denied++
			if s.output.World.Effects[0].Denial != "denied:budget" {
				t.Errorf("%+v", s)
			}
		}
	}
	ledger, err := h.Store.Ledger(t.Context(), "ep")
	if err != nil || denied != 2 || ledger.Next != 6 || ledger.Of(coordtest.Write, coordtest.Scope) != 6 || len(hand.Jobs()) != 6 {
		t.Errorf("%d denied, ledger %+v, %d jobs, %v", denied, ledger, len(hand.Jobs()), err)
	}
}

// TestABrokenInvariantEndsItsCallAlone makes the part that scrubs secrets panic.
func TestABrokenInvariantEndsItsCallAlone(t *testing.T) {
	hand := &coordtest.Hand{Answer: func(job broker.Job) broker.Result {
		if strings.Contains(string(job.Payload), "fail") {
			return coordtest.Fail("no")
		}
		return coordtest.Succeed("{}")
	}}
	h := open(t, hand, func(o *coordinator.Options) { o.Secrets = func() []string { panic("invariant at /home/operator") } })
	c := h.connect(h.writer(9), revisions[0])
	if s := call(t, c, "act", "broken", map[string]any{"do": "fail"}); !s.isError || s.output.Error.Kind != "internal" || strings.Contains(s.text, "operator") {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(h.log.String(), "a call broke an invariant") {
		t.Error("the log says nothing of it")
	}
	if s := call(t, c, "act", "broken", map[string]any{"do": "fail"}); !s.isError || s.output.Error.Kind != "indeterminate" {
		t.Errorf("resent: %+v", s)
	}
	if s := call(t, c, "act", "", nil); s.isError {
		t.Errorf("the daemon does not go on: %+v", s)
	}
}

// TestCausesStayInTheLog closes the store under a running daemon.
func TestCausesStayInTheLog(t *testing.T) {
	hand := newHeld()
	h := open(t, &hand.Hand, func(o *coordinator.Options) { o.Deadlines.Commit = 50 * time.Millisecond })
	t.Cleanup(hand.letGo)
	token := h.writer(9)
	c := h.connect(token, revisions[1])
	answered := make(chan said, 1)
	go func() {
		s, err := try(t.Context(), c, "act", "torn", nil)
		if err != nil {
			s.text = err.Error()
		}
		answered <- s
	}()
	<-hand.entered
	if err := h.Store.Close(); err != nil {
		t.Fatal(err)
	}
	hand.letGo()
	s := <-answered
	if !s.isError || strings.Contains(s.text, "sql") || strings.Contains(s.text, h.Path) || s.output.Error.Kind == "" {
		t.Errorf("%+v", s)
	}
	status, _, answer := h.send(h.request(t.Context(), token, revisions[1], `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if status != 503 || strings.TrimSpace(answer) != "the session could not be checked" {
		t.Errorf("status %d, %s", status, answer)
	}
	if !strings.Contains(h.log.String(), "a request could not be checked") {
		t.Error("the log says nothing of it")
	}
}
