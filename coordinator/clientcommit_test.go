package coordinator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/fsck"
	"world/store/record"
	"world/store/why"
)

// committer is a session that may commit a number of times.
func committer(w *coordtest.World, episode store.EpisodeID, budget int64) session.Live {
	w.T.Helper()
	return w.Mint(episode, coordtest.Grant(record.CommitEffect, record.CommitScope, budget))
}

// holds checks that the evidence of the whole world holds: fsck, its quick form,
// replay, and the walk from each entry.
func holds(t *testing.T, w *coordtest.World) {
	t.Helper()
	report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
	if err != nil || !report.Clean() {
		t.Errorf("fsck: %v, %v", report.Findings, err)
	}
	report, err = fsck.Recent(t.Context(), w.Store)
	if err != nil || !report.Clean() {
		t.Errorf("recent: %v, %v", report.Findings, err)
	}
	replays(t, w)
	for i := range head(t, w) + 1 {
		trail, err := why.Walk(t.Context(), w.Store, fmt.Sprint(i), why.DefaultScan)
		if err != nil || !trail.Holds {
			t.Errorf("why %d: %+v, %v", i, trail, err)
		}
	}
}

// left is what a refused commit must not change.
func left(t *testing.T, w *coordtest.World, m coordinator.ClientCommit) string {
	t.Helper()
	h, err := w.Store.Head(t.Context())
	ledger, ledgerErr := w.Store.Ledger(t.Context(), m.Record.Episode)
	kept := ""
	for _, o := range m.Objects {
		_, err := w.Store.Object(t.Context(), o.Ref())
		kept += fmt.Sprint(fault.Is(err, fault.NotFound))
	}
	return fmt.Sprint(h, ledger, " ", kept, errors.Join(err, ledgerErr))
}

func TestClientCommitLands(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := committer(w, "ep", 2)
	lease, err := w.Store.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	m := w.NextCommit(live, "first", "a note")
	reply, err := w.C.Commit(t.Context(), live, m)
	if err != nil || reply.Failed {
		t.Fatalf("%+v, %v", reply, err)
	}
	if after, err := w.Store.Lease(t.Context(), "ep"); err != nil || after != lease {
		t.Errorf("a commit that landed gave the lease up: %+v, %v", after, err)
	}
	if want := m.Record.Entry("rest:first"); reply.Entry != want || reply.Invocation != "rest:first" {
		t.Errorf("entry %+v, want %+v", reply.Entry, want)
	}
	if h, err := w.Store.Head(t.Context()); err != nil || h.World != m.Record.World {
		t.Errorf("head %+v, %v", h, err)
	}
	for i, o := range m.Objects {
		labels, err := w.Store.Labels(t.Context(), o.Ref())
		if err != nil || len(labels) != 1 || labels[0] != (store.Label{SemanticID: m.Record.Objects[i].SemanticID, Provenance: "rest:ep"}) {
			t.Errorf("labels %v, %v", labels, err)
		}
	}
	intent, err := w.Store.IntentOf(t.Context(), "rest:first")
	if err != nil || intent.Outcome.Status != store.StatusSucceeded || intent.Effect != "World.Commit" || intent.Scope != "world" || intent.Cost != 1 {
		t.Errorf("intent %+v, %v", intent, err)
	}
	// The same again is answered from the record; other bytes under the id are refused.
	again, err := w.C.Commit(t.Context(), live, m)
	if err != nil || !again.Replayed || again.Entry != reply.Entry || string(again.Output) != string(reply.Output) {
		t.Errorf("again: %+v, %v", again, err)
	}
	other := w.NextCommit(live, "first", "another note")
	if _, err := w.C.Commit(t.Context(), live, other); !fault.Is(err, fault.Conflict) {
		t.Errorf("other bytes: %v", err)
	}
	stranger := committer(w, "other", 1)
	if _, err := w.C.Commit(t.Context(), stranger, w.NextCommit(stranger, "first", "a note")); !fault.Is(err, fault.Conflict) {
		t.Errorf("another episode's id: %v", err)
	}
	// Commits and calls share the chain.
	w.Must(w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1)), coordtest.Act, "call", `{}`)
	reply, err = w.C.Commit(t.Context(), live, w.NextCommit(live, "", "drawn"))
	if err != nil || reply.Failed || len(reply.Invocation) != len("rest:")+32 {
		t.Errorf("a drawn id: %+v, %v", reply, err)
	}
	trail, err := why.Walk(t.Context(), w.Store, string(m.Objects[1].Ref()), why.DefaultScan)
	if err != nil || !trail.Holds || trail.Steps[0].Ref != reply.Entry.Hash {
		t.Errorf("why an object that was brought: %+v, %v", trail, err)
	}
	parts := ""
	for _, s := range trail.Steps {
		parts += s.Part + " "
	}
	if want := "entry commit source interpreter object object state request record intent result session grant mint "; parts != want {
		t.Errorf("the walk is %s, want %s", parts, want)
	}
	holds(t, w)
	if counts := replays(t, w); counts.Same != 3 {
		t.Errorf("replayed %+v", counts)
	}
}

// TestClientCommitDenied checks each denial: recorded, nothing spent, nothing of
// the client's stored, whatever head it named.
func TestClientCommitDenied(t *testing.T) {
	grant := coordtest.Grant
	for label, c := range map[string]struct {
		grants []record.SessionGrant
		pass   int64
	}{
		"denied:effect-name": {grants: []record.SessionGrant{grant(coordtest.Write, record.CommitScope, 5)}},
		"denied:scope":       {grants: []record.SessionGrant{grant(record.CommitEffect, "elsewhere", 5)}},
		"denied:budget":      {grants: []record.SessionGrant{grant(record.CommitEffect, record.CommitScope, 0)}},
		"denied:expired":     {grants: []record.SessionGrant{grant(record.CommitEffect, record.CommitScope, 5)}, pass: 3600},
	} {
		t.Run(label, func(t *testing.T) {
			w := world(t, &coordtest.Hand{}, nil)
			live := w.Mint("ep", c.grants...)
			m := w.NextCommit(live, "no", "a note")
			m.Record.Observed = "" // denied all the same
			w.Pass(c.pass)
			before, ledger := head(t, w), left(t, w, m)
			reply, err := w.C.Commit(t.Context(), live, m)
			if err != nil || !reply.Failed || reply.Kind != fault.Denied || reply.Denial != label || !strings.HasPrefix(reply.Message, label) {
				t.Fatalf("%+v, %v", reply, err)
			}
			if reply.Entry.WrittenBy != "coordinator:rest" || head(t, w) != before+1 {
				t.Errorf("entry %+v", reply.Entry)
			}
			if after := left(t, w, m); after[strings.Index(after, "} {ep"):] != ledger[strings.Index(ledger, "} {ep"):] {
				t.Errorf("left %s, before %s", after, ledger)
			}
			if _, err := w.Store.IntentOf(t.Context(), "rest:no"); !fault.Is(err, fault.NotFound) {
				t.Errorf("an intent of a denied commit: %v", err)
			}
			again, err := w.C.Commit(t.Context(), live, m)
			if err != nil || !again.Replayed || again.Denial != label || head(t, w) != before+1 {
				t.Errorf("again: %+v, %v", again, err)
			}
			holds(t, w)
		})
	}
}

// TestClientCommitForm spoils each part of a commit: nothing is recorded of it.
func TestClientCommitForm(t *testing.T) {
	w := world(t, &coordtest.Hand{}, nil)
	live := committer(w, "ep", 5)
	genesis := w.NextCommit(live, "", "")
	w.Must(w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1)), coordtest.Act, "call", `{}`)
	nowhere := store.RefOf([]byte("nowhere"))
	rehash := coordtest.Rehash
	for name, c := range map[string]struct {
		spoil func(m *coordinator.ClientCommit)
		kind  fault.Kind
		says  string
	}{
		"task":           {func(m *coordinator.ClientCommit) { m.Task = "a:b" }, fault.Invalid, "task id"},
		"episode":        {func(m *coordinator.ClientCommit) { m.Record.Episode = "other" }, fault.Invalid, "another episode"},
		"author":         {func(m *coordinator.ClientCommit) { m.Record.WrittenBy = "host:session"; rehash(&m.Record) }, fault.Invalid, "writtenBy"},
		"another's name": {func(m *coordinator.ClientCommit) { m.Record.WrittenBy = "rest:other"; rehash(&m.Record) }, fault.Invalid, "writtenBy"},
		"entry hash":     {func(m *coordinator.ClientCommit) { m.Record.EntryHash = nowhere }, fault.Invalid, "entryHash"},
		"world":          {func(m *coordinator.ClientCommit) { m.Record.World = nowhere }, fault.Invalid, "nextWorld.ref"},
		"header changed": {func(m *coordinator.ClientCommit) { m.Record.SemanticsEpoch = 1 }, fault.Invalid, "entryHash"},
		"negative epoch": {func(m *coordinator.ClientCommit) { m.Record.SemanticsEpoch = -1; rehash(&m.Record) }, fault.Invalid, "negative"},
		"no ref":         {func(m *coordinator.ClientCommit) { m.Record.TransitionRef = "" }, fault.Invalid, "transitionRef"},
		"index":          {func(m *coordinator.ClientCommit) { m.Record.EntryIndex++; rehash(&m.Record) }, fault.Invalid, "entryIndex"},
		"gap":            {func(m *coordinator.ClientCommit) { m.Record.EntryIndex = 0; rehash(&m.Record) }, fault.Invalid, "entryIndex"},
		"prev":           {func(m *coordinator.ClientCommit) { m.Record.PrevEntryHash = nowhere; rehash(&m.Record) }, fault.Invalid, "prevEntryHash"},
		"old head":       {func(m *coordinator.ClientCommit) { m.Record.Observed = genesis.Record.Observed }, fault.HeadMoved, "observedHead"},
		"no head":        {func(m *coordinator.ClientCommit) { m.Record.Observed = "" }, fault.HeadMoved, "observedHead"},
		"absent state":   {func(m *coordinator.ClientCommit) { m.Record.StateRoot = nowhere; rehash(&m.Record) }, fault.Invalid, "stateRoot"},
		"absent source":  {func(m *coordinator.ClientCommit) { m.Record.TransitionFn = nowhere; rehash(&m.Record) }, fault.Invalid, "transitionFn"},
		"absent interp":  {func(m *coordinator.ClientCommit) { m.Record.Interpreter = nowhere; rehash(&m.Record) }, fault.Invalid, "interpreter"},
		"no interpreter": {func(m *coordinator.ClientCommit) { m.Record.Interpreter = live.Object; rehash(&m.Record) }, fault.Invalid, "archive"},
		"reserved id":    {func(m *coordinator.ClientCommit) { relabel(m, "world/effect-record/v1", "rest:ep") }, fault.Invalid, "world/"},
		"no semantic id": {func(m *coordinator.ClientCommit) { relabel(m, "", "rest:ep") }, fault.Invalid, "semanticId"},
		"control in id":  {func(m *coordinator.ClientCommit) { relabel(m, "a\nb", "rest:ep") }, fault.Invalid, "semanticId"},
		"provenance":     {func(m *coordinator.ClientCommit) { relabel(m, "notes/note/v1", "host/broker") }, fault.Invalid, "labelled"},
		"payload":        {func(m *coordinator.ClientCommit) { m.Record.Objects[0].Hash = nowhere }, fault.Invalid, "objects[0]"},
		"object missing": {func(m *coordinator.ClientCommit) { m.Objects = m.Objects[1:] }, fault.Invalid, "objects"},
		"object twice": {func(m *coordinator.ClientCommit) {
			m.Objects[1], m.Record.Objects[1] = m.Objects[0], m.Record.Objects[0]
		}, fault.Invalid, "twice"},
		"too many objects": {func(m *coordinator.ClientCommit) { m.Record.Objects = make([]record.CommitObject, 1025) }, fault.Invalid, "1024"},
	} {
		m := w.NextCommit(live, "task", "a note")
		before := left(t, w, m)
		c.spoil(&m)
		_, err := w.C.Commit(t.Context(), live, m)
		if !fault.Is(err, c.kind) || !strings.Contains(fault.Detail(err), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		m = w.NextCommit(live, "task", "a note")
		if after := left(t, w, m); after != before {
			t.Errorf("%s left %s, before %s", name, after, before)
		}
		if _, err := w.Store.Claim(t.Context(), "rest:task"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s left a claim: %v", name, err)
		}
	}
	if reply, err := w.C.Commit(t.Context(), live, w.NextCommit(live, "task", "a note")); err != nil || reply.Failed {
		t.Errorf("the sample: %+v, %v", reply, err)
	}
	// A later commit may name what an earlier one brought.
	m := w.NextCommit(live, "bare", "a note")
	m.Objects, m.Record.Objects = nil, nil
	if reply, err := w.C.Commit(t.Context(), live, m); err != nil || reply.Failed {
		t.Errorf("without objects: %+v, %v", reply, err)
	}
	holds(t, w)
}

// relabel gives the first object another label.
func relabel(m *coordinator.ClientCommit, semanticID, provenance string) {
	m.Objects[0] = store.NewObject(semanticID, provenance, m.Objects[0].Bytes())
	m.Record.Objects[0].SemanticID = semanticID
}
