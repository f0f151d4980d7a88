package coordinator_test

import (
	"context"
	"strings"
	"testing"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// mute is a store that does not answer a commit, whether it lands or not, until
// something is to be kept, if it comes back at all.
type mute struct {
	store.Store
	lands, comesBack bool
	silent           bool
}

var errMute = fault.New("test", fault.Uncertain, "no answer")

func (m *mute) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	if f.Intent == nil {
		return m.Store.Commit(ctx, f)
	}
	m.silent = true
	if m.lands {
		m.Store.Commit(ctx, f)
	}
	return store.Entry{}, errMute
}

func (m *mute) Keep(ctx context.Context, objects []store.Object) error {
	if m.silent = m.silent && !m.comesBack; m.silent {
		return errMute
	}
	return m.Store.Keep(ctx, objects)
}

func (m *mute) EntryOf(ctx context.Context, id store.InvocationID) (store.Entry, error) {
	if m.silent {
		return store.Entry{}, errMute
	}
	return m.Store.EntryOf(ctx, id)
}

// TestLateAnswer: a commit that landed without an answer is found before its caller
// is told that nothing is known, and what is told says no more than is known.
func TestLateAnswer(t *testing.T) {
	for _, tt := range []struct {
		name             string
		lands, comesBack bool
		says             string // in the error, "" for the call's own answer
	}{
		{"landed and found", true, true, ""},
		{"landed and not found", true, false, "it is not known whether how it ended was recorded"},
		{"not landed", false, true, "how it ended could not be recorded"},
		{"not landed and not known", false, false, "it is not known whether how it ended was recorded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hand := &coordtest.Hand{}
			w := world(t, hand, nil)
			live := writer(w, 2)
			options := w.Options
			options.Store = &mute{Store: w.Store, lands: tt.lands, comesBack: tt.comesBack}
			w.C = coordinator.New(options)
			reply, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`)
			if len(hand.Jobs()) != 1 {
				t.Fatalf("the effect ran %d times", len(hand.Jobs()))
			}
			if tt.says == "" && (err != nil || reply.Failed) || tt.says != "" && (!fault.Is(err, fault.Indeterminate) || !strings.Contains(fault.Public(err), tt.says)) {
				t.Fatalf("%+v, %v", reply, err)
			}
			w.Restart()
			again, err := w.Invoke(t.Context(), live, coordtest.Act, "task", `{}`)
			if landed := err == nil && again.Replayed; landed != tt.lands || !landed && !fault.Is(err, fault.Indeterminate) {
				t.Errorf("sent again: %+v, %v", again, err)
			}
			if tt.says == "" && string(again.Output) != string(reply.Output) {
				t.Errorf("answered %s, and stored is %s", reply.Output, again.Output)
			}
			if len(hand.Jobs()) != 1 {
				t.Errorf("sent again, the effect ran %d times", len(hand.Jobs()))
			}
		})
	}
}
