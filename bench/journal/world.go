package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/broker/law"
	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/registry"
	"world/session"
	"world/store"
	"world/store/postgres"
	"world/store/record"
	"world/store/sqlite"
)

const (
	worldName = "World"
	fileName  = "World, SQLite"

	effect law.Effect = "Workspace.Read"
	scope  law.Scope  = "worktree"
	tool              = store.TransitionID("read")

	// content is what the effect answers.
	content = "hello, world\n"
)

// constant stands for the interpreter: its plan is always the same read.
type constant struct{}

func (constant) Run(context.Context, capsule.Program, []byte) ([]byte, error) {
	return fmt.Appendf(nil, `{"effects":[{"cost":1,"effect":%q,"id":"e1","payload":{"op":"read","path":"src/file.txt"},"scope":%q}],`+
		`"finish":false,"plan":%q,"result":null}`, effect, scope, record.Plan), nil
}

// reader is a handler that has nothing to do.
type reader struct{}

func (reader) Handle(context.Context, broker.Job) broker.Result {
	return broker.Result{Status: store.StatusSucceeded, Output: fmt.Appendf(nil, `{"content":%q,"ok":true}`, content)}
}

func openWorld(ctx context.Context, db database, callers int) (system, error) {
	s, err := postgres.Open(ctx, db.url, postgres.Options{})
	if err != nil {
		return system{}, err
	}
	return newWorld(ctx, worldName, s, callers, func() {})
}

func openFile(ctx context.Context, callers int) (system, error) {
	dir, err := os.MkdirTemp("", "world-journal-")
	if err != nil {
		return system{}, err
	}
	remove := func() { os.RemoveAll(dir) }
	s, err := sqlite.Open(ctx, filepath.Join(dir, "world.db"), sqlite.Options{})
	if err != nil {
		remove()
		return system{}, err
	}
	return newWorld(ctx, fileName, s, callers, remove)
}

// newWorld begins a world in which each caller is an agent of an episode of its own.
func newWorld(ctx context.Context, name string, s store.Store, callers int, remove func()) (system, error) {
	done := func() { s.Close(); remove() }
	read := record.Triple{Effect: effect, Scope: scope, Cost: 1}
	_, err := registry.Bootstrap(ctx, s, []registry.Builtin{{
		ID: tool, Title: "read", Description: "reads a file", Source: []byte("the source"), Access: record.Triple{Effect: effect, Scope: scope},
		InputSchema: []byte(`{"type":"object"}`), OutputSchema: []byte(`{"type":"object"}`), Declared: []record.Triple{read},
	}}, []byte("the interpreter"), time.Now().Unix())
	office := session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
	agents := make([]session.Live, callers)
	for i := range agents {
		m, mintErr := office.Mint(ctx, session.Terms{
			Episode: store.EpisodeID(fmt.Sprintf("ep-%d", i)), TTL: session.DefaultTTL,
			Grants: []record.SessionGrant{{Effect: effect, Scope: scope, Budget: 1 << 40}},
		}, time.Now().Unix())
		err = errors.Join(err, mintErr)
		agents[i] = session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential}
	}
	if err != nil {
		done()
		return system{}, err
	}
	c := coordinator.New(coordinator.Options{
		Store: s, Runner: constant{}, Handlers: map[law.Effect]broker.Handler{effect: reader{}}, Log: zerolog.Nop(),
	})
	var next atomic.Int64
	return system{name: name, close: done, call: func(ctx context.Context, caller int) error {
		snapshot, err := c.Snapshot(ctx, agents[caller])
		if err != nil {
			return err
		}
		reply, err := c.Invoke(ctx, snapshot, coordinator.Call{
			Surface: store.SurfaceMCP, Transition: tool, Args: fmt.Appendf(nil, `{"path":"src/file-%d.txt"}`, next.Add(1)),
		})
		if err == nil && reply.Failed {
			err = errors.New(reply.Message)
		}
		return err
	}}, nil
}
