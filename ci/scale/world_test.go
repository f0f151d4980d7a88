package scale

import (
	"context"
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/session"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

// world is a store of so many entries, and what makes calls on it.
type world struct {
	path     string
	entries  int64
	sessions []session.Live
}

// found is a world that an earlier run built.
func found(t *testing.T, path string) *world {
	t.Helper()
	ctx := t.Context()
	s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true})
	ok(t, err)
	defer s.Close()
	head, err := s.Head(ctx)
	ok(t, err)
	w := &world{path: path, entries: head.Index + 1}
	a, err := s.Audit(ctx)
	ok(t, err)
	defer a.Close()
	ok(t, a.Sessions(ctx, func(r store.Row[store.Session]) error {
		o, err := s.Object(ctx, r.Value.Object)
		if err != nil {
			return err
		}
		minted, err := record.DecodeSession(o.Bytes())
		w.sessions = append(w.sessions, session.Live{Object: o.Ref(), Record: minted, Credential: minted.Credential})
		return err
	}))
	return w
}

// calls is a coordinator on a store, with a handler that has nothing to do.
func (w *world) calls(s store.Store) *coordinator.Coordinator {
	hand := idle{}
	return coordinator.New(coordinator.Options{Store: s, Runner: coordtest.Runner{}, Log: zerolog.Nop(),
		Handlers: coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}})
}

type idle struct{}

func (idle) Handle(context.Context, broker.Job) broker.Result {
	return coordtest.Succeed(`{"ok":true}`)
}

// call makes one call of an episode.
func (w *world) call(ctx context.Context, c *coordinator.Coordinator, episode int, id store.TransitionID, task string) error {
	snapshot, err := c.Snapshot(ctx, w.sessions[episode])
	if err != nil {
		return err
	}
	reply, err := c.Invoke(ctx, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: id, Task: task, Args: fmt.Appendf(nil, `{"do":%q}`, task)})
	if err == nil && reply.Failed {
		err = fmt.Errorf("%s: %s", task, reply.Message)
	}
	return err
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}
