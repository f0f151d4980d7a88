package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/confine/confinetest"
	"world/store"
)

// desk is a handler with one episode.
type desk struct {
	t        testing.TB
	handler  *Handler
	base     string
	worktree string
}

const episode = store.EpisodeID("ep-1")

// newDesk makes a handler at a level; tool is a shell script, "" for world-tool.
func newDesk(t testing.TB, level confine.Level, tool string) desk {
	t.Helper()
	base := confinetest.Dir(t)
	d := desk{t: t, base: base, worktree: filepath.Join(base, "root", string(episode))}
	o := Options{
		Jail:     confinetest.Jail(t, level),
		StateDir: filepath.Join(base, "state"), WorkspaceRoot: filepath.Join(base, "root"),
	}
	if tool != "" {
		dir := filepath.Join(base, "bin")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		o.Tool = filepath.Join(dir, "tool")
		if err := os.WriteFile(o.Tool, []byte("#!/bin/sh\n"+tool), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { handler.Close() })
	d.handler = handler
	d.addEpisode(episode)
	return d
}

func (d desk) addEpisode(id store.EpisodeID) {
	d.t.Helper()
	path := filepath.Join(d.base, "root", string(id))
	if err := os.Mkdir(path, 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.own(id, path)
}

func (d desk) own(id store.EpisodeID, path string) {
	d.t.Helper()
	if err := confine.HandOver(path, confine.UserOf(string(id))); err != nil {
		d.t.Fatal(err)
	}
}

func (d desk) put(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.worktree, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	d.own(episode, path)
}

func (d desk) get(name string) string {
	b, err := os.ReadFile(filepath.Join(d.worktree, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

func (d desk) handle(effect law.Effect, payload string) broker.Result {
	d.t.Helper()
	r := d.handler.Handle(context.Background(), broker.Job{
		Episode: episode, Intent: "effect:ep-1:0", Effect: effect, Scope: Worktree, Cost: 1,
		Payload: []byte(payload), Deadline: 5 * time.Second,
	})
	if strings.Contains(string(r.Output)+r.Detail, d.base) {
		d.t.Errorf("%s: a host path in %s %s", payload, r.Output, r.Detail)
	}
	return r
}

// member returns a member of an output as JSON text.
func member(r broker.Result, name string) string {
	v, err := canon.Parse(r.Output, canon.Limits{Bytes: maxAnswer})
	if err != nil {
		return "error: " + err.Error()
	}
	m, ok := v.Get(name)
	if !ok {
		return ""
	}
	return string(m.Bytes())
}
