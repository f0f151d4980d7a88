package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"world/confine/confinetest"
	"world/session"
	"world/store"
	"world/store/engine"
	"world/store/record"
)

// loseEffect leaves an effect behind of which nobody knows whether it happened,
// and returns the name of its intent.
func loseEffect(ctx context.Context, s store.Store, task string) (string, error) {
	genesis, err := s.Entry(ctx, 0)
	if err != nil {
		return "", err
	}
	now := time.Now().Unix()
	minted, err := officeOf(s).Mint(ctx, session.Terms{
		Episode: "lost", Grants: []record.SessionGrant{{Effect: "Workspace.Write", Scope: "worktree", Budget: 9}}, TTL: 60,
	}, now)
	if err != nil {
		return "", err
	}
	lease, err := s.Lease(ctx, "lost")
	if err != nil {
		return "", err
	}
	q := record.EffectRequest{Effect: "Workspace.Write", Scope: "worktree", Cost: 1, Now: now, Payload: []byte("{}")}
	request := store.NewObject(record.Request, "test", q.Bytes())
	intent, err := s.Intend(ctx, store.Intention{
		Claim: store.Claim{
			Invocation: store.NewInvocationID(store.SurfaceMCP, "lost", task), Episode: "lost", Transition: "test",
			TransitionFn: genesis.TransitionFn, Input: request.Ref(), Session: minted.Object, At: q.Now,
		},
		Objects: []store.Object{request}, Effect: q.Effect, Scope: q.Scope, Cost: 1, Budget: 9, Request: request.Ref(), Lease: lease,
	})
	return intent.Name(), errors.Join(err, s.GiveUp(ctx, lease))
}

// lose DB TASK leaves such an effect in a store that no daemon holds.
func lose(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lose db task")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := opened(ctx, ts, args[0], engine.Options{})
	_, err := loseEffect(ctx, s, args[1])
	ts.Check(errors.Join(err, s.Close()))
}

// TestOperatorAlone runs the verbs that close and upgrade on stores that no daemon
// holds, with the world-tool of this build beside the program.
func TestOperatorAlone(t *testing.T) {
	testscript.Run(t, params("testdata/operator", func(env *testscript.Env) error {
		env.Setenv("WORKSPACES", confinetest.Dir(t))
		return withTool(env)
	}))
}

// withTool puts the world-tool of this build beside the scripts' program.
func withTool(env *testscript.Env) error {
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			continue
		}
		if err := os.Link(worldTool, filepath.Join(dir, "world-tool")); err != nil && !os.IsExist(err) {
			return exec.Command("cp", worldTool, dir).Run()
		}
		return nil
	}
	return errors.New("the program is not in the scripts' PATH")
}

// TestOperatorBesideADaemon lets the daemon ask at the operator's terminal.
func TestOperatorBesideADaemon(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	withStore(t, f, func(s store.Store) {
		for _, task := range []string{"one", "two"} {
			if _, err := loseEffect(t.Context(), s, task); err != nil {
				t.Fatal(err)
			}
		}
	})
	d := start(t, f)
	if said := d.stdout.String(); !strings.Contains(said, "indeterminate effects: 2") || strings.Contains(said, "registry:") {
		t.Errorf("serve says %s", said)
	}
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, params("testdata/beside", func(env *testscript.Env) error {
			l, err := newLayout(f.db, f.state, f.workspaces)
			env.Setenv("DB", l.db.String())
			env.Setenv("STATE", l.state)
			return err
		}))
	})
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if said := start(t, f).stdout.String(); strings.Contains(said, "indeterminate") {
		t.Errorf("serve still says %s", said)
	}
}

// TestServeSaysWhatTheRegistryLacks serves a store whose registry is another
// binary's: it changes nothing, and says so.
func TestServeSaysWhatTheRegistryLacks(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	f.tool = ""
	d := start(t, f)
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	before := worldTool
	t.Cleanup(func() { worldTool = before })
	worldTool = otherTool(t)
	d = start(t, f)
	if said := d.stdout.String(); !strings.Contains(said, "registry: ") || !strings.Contains(said, "see registry upgrade") {
		t.Errorf("serve says %s", said)
	}
	if !strings.Contains(d.log.String(), `"differs":["interpreter"]`) {
		t.Errorf("the log does not name what differs: %s", d.log)
	}
	if _, head := d.get("/v1/log/1"); !strings.Contains(head, "NotFound") {
		t.Errorf("serve changed the log: %s", head)
	}
}
