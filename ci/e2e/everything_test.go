package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/fault"
	"world/store"
	"world/store/record"
	"world/tools"
)

// everything makes a small world with every kind of row, act and ending that this
// build can leave, and returns its file. The coding tools are the real ones, with
// a handler that answers as they do; what they run in stands for itself.
func everything(t *testing.T) string {
	t.Helper()
	hand := &coordtest.Hand{Answer: answer}
	var last *forgetful
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, func(o *coordinator.Options) {
		last = &forgetful{Store: o.Store}
		o.Store = last
	})
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Pass(10)
	_, _, err := registry.Upgrade(ctx, w.Store, tools.Builtins(), []byte("the interpreter of another build"), w.Now())
	must(err)
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 12), coordtest.Grant(coordtest.Read, coordtest.Scope, 3),
		coordtest.Grant(record.CommitEffect, record.CommitScope, 2))
	shared := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 12))
	for i, c := range []struct {
		id   store.TransitionID
		args string
	}{
		{"ailang-read", `{"path":"a.txt"}`}, {"ailang-write", `{"path":"ü/b.txt","content":"a \"quoted\"\nline \u0000 é"}`},
		{"ailang-edit", `{"path":"a.txt","old_text":"x","new_text":""}`}, {"ailang-edit", `{"path":"refuse","old_text":"x","new_text":"y"}`},
		{"ailang-write", `{"path":"../out","content":""}`}, {"ailang-write", `{"path":"fail","content":""}`},
		{"ailang-read", `{"path":"a.txt","more":1}`}, {"ailang-write", `{"path":"lose","content":""}`},
		{coordtest.Echo, `{"n":1.5,"list":[null,true,"x"]}`}, {coordtest.Echo, `{"broken":1}`}, {coordtest.Mainless, `{}`},
		{coordtest.Act, `{"do":"after","after":1}`}, {coordtest.Act, `{"finish":{"ok":true}}`}, {coordtest.Act, `{"broken":1}`},
		{coordtest.Act, `{"raw":"no plan"}`}, {coordtest.Act, `{"plan":{"plan":"world/effect-plan/v1","result":{"pure":1},"effects":[],"finish":false}}`},
		{coordtest.Act, `{"effect":"Workspace.Read"}`}, {coordtest.Peek, `{"effect":"Workspace.Read"}`},
		{coordtest.Far, `{"scope":"elsewhere"}`}, {coordtest.Far, `{"effect":"Net.Send","scope":"worktree"}`}, {coordtest.Act, `{"cost":3}`},
		{coordtest.Act, `{"cost":3}`}, {coordtest.Act, `{"cost":3}`},
	} {
		w.Pass(1)
		if _, err := w.Invoke(ctx, live, c.id, fmt.Sprint("task-", i), c.args); err != nil && fault.KindOf(err) != fault.Unsupported && fault.KindOf(err) != fault.Indeterminate {
			t.Fatalf("%s %s: %v", c.id, c.args, err)
		}
	}
	w.Must(live, coordtest.Act, "task-11", `{"do":"after","after":1}`) // answered from the store
	for i := range 3 {                                                 // the last is beyond the budget
		reply, err := w.C.Commit(ctx, live, w.NextCommit(live, fmt.Sprint("note-", i), "a note"))
		if err != nil && i < 2 {
			t.Fatalf("%+v, %v", reply, err)
		}
	}

	// A session that ends while its call waits, one that is revoked, effects whose
	// end nobody heard of, and an operator's word on one of them.
	short := w.MintFor(5, "ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 20))
	snapshot, err := w.C.Snapshot(ctx, short)
	must(err)
	w.Pass(5)
	reply, err := w.C.Invoke(ctx, snapshot, coordinator.Call{Surface: store.SurfaceMCP, Transition: coordtest.Act, Task: "late", Args: []byte(`{}`)})
	if err != nil || reply.Denial != "denied:expired" {
		t.Fatalf("%+v, %v", reply, err)
	}
	_, err = w.Office().Revoke(ctx, shared.Credential, w.Now())
	must(err)
	other := w.Mint("other", coordtest.Grant(coordtest.Write, coordtest.Scope, 20))
	for i := range 3 {
		last.lose = true
		if _, err := w.Invoke(ctx, other, coordtest.Act, fmt.Sprint("cut-", i), `{}`); err == nil {
			t.Fatal("a lost outcome was answered")
		}
	}
	last.lose = false
	lease, err := w.Store.Lease(ctx, "other")
	must(err)
	must(w.Store.GiveUp(ctx, lease))
	reconcile(t, w, "other", 1)
	w.Must(other, coordtest.Act, "on", `{}`)
	must(w.Store.Keep(ctx, []store.Object{store.NewObject("world/test/v1", "one", []byte("same")), store.NewObject("world/test/v1", "two", []byte("same"))}))
	must(w.Store.Close())
	return w.Path
}

// answer ends an effect as its path says, and otherwise as the tools do.
func answer(job broker.Job) broker.Result {
	for word, result := range map[string]broker.Result{
		"fail": coordtest.Fail("the tool could not form a response"), "lose": coordtest.Lose("the tool was ended: deadline"),
		"refuse": coordtest.Succeed(`{"ok":false,"refused":"old_text occurs twice"}`),
	} {
		if strings.Contains(string(job.Payload), `"path":"`+word+`"`) {
			return result
		}
	}
	if job.Effect == coordtest.Read {
		return coordtest.Succeed(`{"content":"what is in it: é\n","ok":true}`)
	}
	return coordtest.Succeed(`{"ok":true}`)
}

// forgetful is a store that loses outcomes on demand, as a kill would.
type forgetful struct {
	store.Store
	lose bool
}

// Commit implements store.Store.
func (f *forgetful) Commit(ctx context.Context, fin store.Finish) (store.Entry, error) {
	if f.lose && fin.Intent != nil {
		return store.Entry{}, fault.Wrap("e2e: commit", fault.LeaseLost, errors.New("told to"), "this outcome is lost")
	}
	return f.Store.Commit(ctx, fin)
}

// reconcile closes an intent by an operator's word.
func reconcile(t *testing.T, w *coordtest.World, episode store.EpisodeID, ordinal int64) {
	t.Helper()
	lease, err := w.Store.Lease(t.Context(), episode)
	if err != nil {
		t.Fatal(err)
	}
	word := store.NewObject(record.Reconciliation, "host:reconcile", record.ReconciliationRecord{
		Intent: store.Intent{Episode: episode, Ordinal: ordinal}.Name(), Verdict: "abandoned", Note: "nobody knows", By: "test", At: w.Now()}.Bytes())
	draft, err := registry.HostDraft(t.Context(), w.Store, "reconcile", word.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Act(t.Context(), store.Act{Objects: []store.Object{word}, Draft: draft, At: w.Now(), Changes: []store.Change{
		store.ReconcileIntent{Episode: episode, Ordinal: ordinal, Reconciliation: word.Ref(), Lease: lease}}}); err != nil {
		t.Fatal(err)
	}
}
