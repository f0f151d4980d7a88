package broker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"world/broker"
	"world/coordinator/coordtest"
	"world/session"
	"world/store"
	"world/store/record"
)

// TestHandlerEnds makes a handler end in every way it can, and some it may not.
func TestHandlerEnds(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(broker.Job) broker.Result
		status string
		detail string
	}{
		"succeeds":     {func(broker.Job) broker.Result { return coordtest.Succeed(`{}`) }, record.StatusOK, ""},
		"nothing":      {func(broker.Job) broker.Result { return broker.Result{Status: store.StatusSucceeded} }, record.StatusOK, ""},
		"fails":        {func(broker.Job) broker.Result { return coordtest.Fail("no room") }, record.StatusFailed, "no room"},
		"unwordy":      {func(broker.Job) broker.Result { return coordtest.Fail(" \n") }, record.StatusFailed, "the handler gave no reason"},
		"loses":        {func(broker.Job) broker.Result { return coordtest.Lose("killed") }, record.StatusIndeterminate, "killed"},
		"panics":       {func(broker.Job) broker.Result { panic("at /host/path") }, record.StatusIndeterminate, "the handler broke off"},
		"zero":         {func(broker.Job) broker.Result { return broker.Result{} }, record.StatusIndeterminate, "the handler gave no result"},
		"unknown":      {func(broker.Job) broker.Result { return broker.Result{Status: "fine"} }, record.StatusIndeterminate, "the handler gave no result"},
		"overflows":    {func(broker.Job) broker.Result { return coordtest.Succeed(strings.Repeat("x", 4<<20+1)) }, record.StatusIndeterminate, "the handler answered 4194305 bytes; the limit is 4194304"},
		"just fits":    {func(broker.Job) broker.Result { return coordtest.Succeed(strings.Repeat("x", 4<<20)) }, record.StatusOK, ""},
		"NUL and \xff": {func(broker.Job) broker.Result { return coordtest.Fail("a\x00b\xffc") }, record.StatusFailed, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, &coordtest.Hand{Answer: test.answer}, nil)
			ev, err := b.request(t, "task", declared[0])
			if err != nil || ev.Status != test.status || ev.Detail != test.detail {
				t.Fatalf("status %q, detail %q, %v", ev.Status, ev.Detail, err)
			}
			if want := map[string]store.Status{"ok": "succeeded", "failed": "failed", "indeterminate": "indeterminate"}[test.status]; ev.Outcome.Status != want {
				t.Errorf("outcome %+v", ev.Outcome)
			}
			if (ev.RecordRef == "") != (test.status == record.StatusIndeterminate) || (ev.Record == record.EffectRecord{}) != (ev.RecordRef == "") {
				t.Errorf("record %+v", ev.Record)
			}
			if test.detail != "" && (ev.Outcome.Detail != store.RefOf([]byte(test.detail)) || ev.Effect("e1").Detail != ev.Outcome.Detail || !refs(ev.Objects)[ev.Outcome.Detail]) {
				t.Errorf("detail of outcome %+v", ev.Outcome)
			}
			if ledger := b.ledger(t); ledger.Of(coordtest.Write, coordtest.Scope) != 1 {
				t.Errorf("spent %+v", ledger)
			}
		})
	}
}

// TestSecretsAreScrubbed checks that a stored failure holds no secret that is
// known, nor the credential of its session, wherever they stand in it.
func TestSecretsAreScrubbed(t *testing.T) {
	answer := ""
	b := newBench(t, &coordtest.Hand{Answer: func(broker.Job) broker.Result { return coordtest.Fail(answer) }},
		func(o *broker.Options) { o.Secrets = func() []string { return []string{"", "sesame"} } })
	minted, err := b.w.Office().Mint(t.Context(), session.Terms{
		Episode: "ep", TTL: 60, Grants: []record.SessionGrant{coordtest.Grant(coordtest.Write, coordtest.Scope, 99)},
	}, coordtest.Start)
	if err != nil {
		t.Fatal(err)
	}
	b.live.Record, b.live.Object = minted.Record, minted.Object
	token := minted.Token.Reveal()
	harmless := strings.Repeat("0123456789abcdef", 4)
	for i, test := range []struct{ text, want string }{
		{"open sesame, sesame!", "open [redacted], [redacted]!"},
		{"token " + token + " refused", "token [redacted] refused"},
		{token, "[redacted]"},
		{"ab" + token + "cd", "ab[redacted]cd"},
		{harmless + " is no secret", harmless + " is no secret"},
		{strings.Repeat("x", 4090) + "sesame", strings.Repeat("x", 4090) + "[redac"},
		{strings.Repeat("x", 4064) + token, strings.Repeat("x", 4064) + "[redacted]"},
		{strings.Repeat("x", 5000), strings.Repeat("x", 4096)},
	} {
		answer = test.text
		ev, err := b.request(t, fmt.Sprint("task", i), declared[0])
		if err != nil || ev.Detail != test.want {
			t.Errorf("%q became %q, %v", test.text, ev.Detail, err)
		}
	}
}

// TestDeadline holds a handler to its deadline, and one that does not even hear
// it to the grace after it: then the effect is indeterminate, and what the handler
// says later is kept as an object and never as a second outcome.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := false
		hand := &coordtest.Hand{Before: func(ctx context.Context, _ broker.Job) {
			if deaf {
				<-release
			} else {
				<-ctx.Done()
			}
		}, Answer: func(broker.Job) broker.Result {
			if deaf {
				return coordtest.Succeed(`{"too":"late"}`)
			}
			return coordtest.Lose("the deadline passed")
		}}
		b := newBench(t, hand, func(o *broker.Options) { o.Deadline = 5 * time.Second })
		start := time.Now()
		ev, err := b.request(t, "hears", declared[0])
		if err != nil || ev.Detail != "the deadline passed" || time.Since(start) != 5*time.Second {
			t.Errorf("%+v, %v after %s", ev, err, time.Since(start))
		}
		deaf = true
		start = time.Now()
		ev, err = b.request(t, "deaf", declared[0])
		if err != nil || ev.Status != record.StatusIndeterminate || ev.Detail != "the handler did not answer within 5s" || time.Since(start) != 6*time.Second {
			t.Errorf("%+v, %v after %s", ev, err, time.Since(start))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Wait(ended); err == nil {
			t.Error("waited for nobody while a handler runs")
		}
		close(release)
		if err := b.Wait(t.Context()); err != nil {
			t.Errorf("wait: %v", err)
		}
		late, err := b.store.Object(t.Context(), store.RefOf([]byte(`{"too":"late"}`)))
		if err != nil || late.Label().Provenance != "host/broker:late:effect:ep:1" {
			t.Errorf("the late result: %+v, %v", late.Label(), err)
		}
		b.w.Store.Close()
	})
}

// TestDetached checks that a handler does not see its caller's end.
func TestDetached(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hand := &coordtest.Hand{Before: func(ctx context.Context, _ broker.Job) {
		cancel()
		if ctx.Err() != nil {
			t.Errorf("the handler's context: %v", ctx.Err())
		}
	}}
	b := newBench(t, hand, nil)
	invoker, err := b.Bind(b.call("task"), declared)
	if err != nil {
		t.Fatal(err)
	}
	if ev, err := invoker.Request(ctx, declared[0], []byte(`{}`), b.input, b.planned); err != nil || ev.Status != record.StatusOK {
		t.Errorf("%+v, %v", ev, err)
	}
}

// hangUp is a store whose caller goes away while transaction 1 is on its way.
type hangUp struct {
	store.Store
	cancel context.CancelFunc
}

func (h *hangUp) Intend(ctx context.Context, in store.Intention) (store.Intent, error) {
	h.cancel()
	return h.Store.Intend(ctx, in)
}

// TestDetachedFromTheIntentOn checks that transaction 1, once begun, does not
// depend on its caller: half a wish would be worse than either.
func TestDetachedFromTheIntentOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &hangUp{cancel: cancel}
	b := newBench(t, &coordtest.Hand{}, func(o *broker.Options) { s.Store, o.Store = o.Store, s })
	invoker, err := b.Bind(b.call("task"), declared)
	if err != nil {
		t.Fatal(err)
	}
	if ev, err := invoker.Request(ctx, declared[0], []byte(`{}`), b.input, b.planned); err != nil || ev.Status != record.StatusOK {
		t.Errorf("%+v, %v", ev, err)
	}
}
